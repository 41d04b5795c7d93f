"""What a run leaves behind: ``run.json``, ``results.jsonl`` and ``traces.jsonl`` in one folder.

Beside them, ``shortcuts.jsonl`` has what the scenarios' heuristics answer to the same questions.

Every decision is appended as soon as it is made: first its trace, then its result,
from which on it counts. A killed process can cost the last decision, never more; what it left of
that is taken out before the run goes on (`dqa.evaluation.recovery`), so one decision has one trace.
A finished run's results are written once more in the order of its plan, so the same command leaves
the same file; times are in the traces, and in ``run.json``, only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from dqa.core.decision import Usage
from dqa.core.distribution import shell_command
from dqa.core.errors import UsageError
from dqa.core.files import add_line, make_private_folder, open_to_add, problem_of_path
from dqa.core.records import dump_line
from dqa.evaluation.folder_lines import lost_line, read_results
from dqa.evaluation.folders import (
    ABANDONED,
    PROMPTS,
    RESULTS,
    RUN,
    SHORTCUTS,
    TRACES,
    RunRecord,
    compare_records,
    read_resumable,
)
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.plan import Task
from dqa.evaluation.prompts import Prompts, prompts_to_json
from dqa.evaluation.recovery import settle, unfinished_name, write_whole
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.stores.places import FolderPlace, RunPlace
from dqa.evaluation.traces import Trace


class RunStore:
    """The results of a run, in memory; its subclasses keep them, too.

    Attributes
    ----------
    place
        Where the run is kept; None for nowhere.
    record
        What is run, as the place has it; None where it is kept nowhere.
    lost
        What was used on the way to the decisions of this process and led to none of them.
    added
        How many decisions this process has added.
    on_elsewhere
        Called with how many decisions other processes have made since this one began, whenever that
        was looked up and there are any; by any thread.
    """

    def __init__(self) -> None:
        self.place: RunPlace | None = None
        self.record: RunRecord | None = None
        self.lost = Usage()
        self.added = 0
        self.on_elsewhere: Callable[[int], object] = id
        self._results: dict[DecisionKey, Result] = {}
        self._crashed: dict[DecisionKey, Trace] = {}
        self._unclaimed: list[Task] = []

    @property
    def results(self) -> Mapping[DecisionKey, Result]:
        """What has been decided, by who decided what."""
        return self._results

    @property
    def crashed(self) -> tuple[Trace, ...]:
        """The traces of the decisions that crashed, with their tracebacks."""
        return tuple(self._crashed.values())

    @property
    def used_elsewhere(self) -> Usage:
        """What the run has used outside of this process, where several may write it."""
        return Usage()

    def keep_shortcuts(self, choices: Sequence[ShortcutChoices]) -> None:
        """Keep what the heuristics answer to the run's questions."""

    def keep_prompts(self, prompts: Prompts) -> None:
        """Keep in which words the deciders ask."""

    def begin(self, tasks: Sequence[Task]) -> int:
        """Take down the plan, before the first claim, and return how much of it is left."""
        self._unclaimed = [task for task in tasks if task.key not in self._results]
        return len(self._unclaimed)

    def claim(self, most: int) -> Sequence[Task]:
        """Return decisions that the caller is to make and add, and nobody else will.

        Parameters
        ----------
        most
            How many, where other processes could make the others.
        """
        del most
        claimed, self._unclaimed = self._unclaimed, []
        return claimed

    def is_finished(self) -> bool:
        """Whether nothing can be claimed any more, not even what other processes still make."""
        return not self._unclaimed

    def add(self, result: Result, trace: Trace, lost: Usage = Usage()) -> None:  # noqa: B008  (frozen)
        """Keep one decision, and what was `lost` on the way to it."""
        self._results[result.key] = result
        if result.outcome is Outcome.CRASHED:
            self._crashed[result.key] = trace
        self.lost += lost
        self.added += 1

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Return the results in the order of the plan."""
        self.close()
        return tuple(self._results[t.key] for t in tasks if t.key in self._results)

    def discard(self) -> None:
        """Leave nothing of a new run in which nothing was decided; the command can be repeated."""
        self.close()

    def close(self) -> None:
        """Close what is open; what was added stays."""


class FolderStore(RunStore):
    """The folder of one run, which one process at a time writes.

    Parameters
    ----------
    folder
        Where to write; made where it is missing.
    record
        What is run.
    resume
        Whether to go on with what the folder holds. What crashed, or was ended by a failing server
        or a spent budget, is asked again, and what is left of it is taken out at once.

    Raises
    ------
    UsageError
        The folder holds something and `resume` is not set, it holds another run, or another
        process writes it.
    ParseError
        A line that is not the last one is damaged.
    """

    def __init__(self, folder: Path, record: RunRecord, resume: bool = False) -> None:
        super().__init__()
        self.folder = folder
        self.place = FolderPlace(folder)
        self._files: tuple[FileIO, FileIO] | None = None
        self._lock: int | None = None
        self._is_closed = False
        self._fresh = not is_used(folder)
        self._made: tuple[Path, ...] = ()
        if self._fresh:
            self._made = _make(folder)
        elif not resume:
            raise UsageError(_not_empty(folder))
        else:
            earlier, spec = read_resumable(folder)
            record = compare_records(earlier, spec, record, str(folder))
        self.record = record
        self._lock = _lock(folder)
        if self._fresh and is_used(folder):  # by a process that had the lock until now
            self.close()
            raise UsageError(_not_empty(folder))
        try:
            if not self._fresh:
                self._go_on(folder)
            write_whole(folder / RUN, (json.dumps(record.to_json(), indent=2) + "\n").encode())
            self._files = (open_to_add(folder / TRACES), open_to_add(folder / RESULTS))
        except BaseException:
            self.discard()  # or nobody could go on, once what is wrong is mended
            raise

    def _go_on(self, folder: Path) -> None:
        """Read what a folder holds of the same run."""
        results = read_results(folder)
        settle(folder)
        self._results = {result.key: result for result in results if not result.outcome.repeated}

    def keep_shortcuts(self, choices: Sequence[ShortcutChoices]) -> None:
        """Keep what the heuristics answer to the run's questions."""
        lines = "".join(f"{found.to_line()}\n" for found in choices)
        write_whole(self.folder / SHORTCUTS, lines.encode())

    def keep_prompts(self, prompts: Prompts) -> None:
        """Keep in which words the deciders ask."""
        if prompts:
            written = json.dumps(prompts_to_json(prompts), indent=2, ensure_ascii=False)
            write_whole(self.folder / PROMPTS, f"{written}\n".encode())

    def add(self, result: Result, trace: Trace, lost: Usage = Usage()) -> None:  # noqa: B008  (frozen)
        """Keep one decision, and what was `lost` on the way to it."""
        super().add(result, trace, lost)
        if lost != Usage():
            with open_to_add(self.folder / ABANDONED) as file:
                add_line(file, dump_line(lost_line(result.key, lost)))
        if self._files is not None:
            for file, line in zip(self._files, (trace, result), strict=True):
                add_line(file, line.to_line())

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Write the results in the order of the plan and return them."""
        ordered = super().finish(tasks)
        lines = "".join(f"{result.to_line()}\n" for result in ordered)
        write_whole(self.folder / RESULTS, lines.encode())
        return ordered

    def discard(self) -> None:
        """Leave nothing of a new run in which nothing was decided, nor of folders made for it."""
        self._close_files()
        if self._fresh and not self._results and self._is_own():
            for name in (RUN, TRACES, RESULTS, SHORTCUTS, PROMPTS, ABANDONED):
                (self.folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # something else lies in one by now
                for made in self._made:
                    made.rmdir()
        self.close()

    def _is_own(self) -> bool:
        """Whether no other process has gone on with the run, where it was closed before."""
        if not self._is_closed:
            return True
        try:
            self._lock = _lock(self.folder)
            return not any((self.folder / name).stat().st_size for name in (TRACES, RESULTS))
        except (OSError, UsageError):  # it is gone, or somebody has it
            return False

    def _close_files(self) -> None:
        if self._files is not None:
            for file in self._files:
                file.close()
            self._files = None

    def close(self) -> None:
        """Close the files; what was added stays."""
        self._close_files()
        self._is_closed = True
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(folder: Path) -> int | None:
    """Keep other processes from writing the folder, until it is closed or this process ends.

    None where the system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UsageError(
            f"Another process is writing {folder}: wait for its end, or name another folder."
        ) from error
    except OSError:  # a file system without locks
        os.close(descriptor)
        return None
    return descriptor


def require_resumable_or_new(folder: Path) -> None:
    """Raise `UsageError` where a folder holds something, and that is no run."""
    if is_used(folder) and not (folder / RUN).exists():
        raise UsageError(_not_empty(folder))


def _not_empty(folder: Path) -> str:
    return f"{folder} is not empty: {_instead(folder)}"


def _instead(folder: Path) -> str:
    if not (folder / RUN).exists():
        return f"name a new folder, such as one within it ({folder / 'NAME'})."
    how = shell_command("eval", "--resume", str(folder))
    return f"name another folder, or go on with the run that it holds by resume ({how})."


def is_used(folder: Path) -> bool:
    """Whether something is in a folder, which no new run may be written into.

    Raises
    ------
    UsageError
        It is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder.")
    # All that a process leaves behind which was killed before the run began.
    nothing = {unfinished_name(RUN)}
    return folder.is_dir() and any(path.name not in nothing for path in folder.iterdir())


def _make(folder: Path) -> tuple[Path, ...]:
    """Make a folder, and return it with those above it that were made, the innermost first."""
    missing = tuple(path for path in (folder, *folder.parents) if not path.exists())
    try:
        make_private_folder(folder)
    except OSError as error:
        raise UsageError(f"{problem_of_path(folder, error)}.") from error
    return missing
