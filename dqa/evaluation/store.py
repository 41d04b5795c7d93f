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
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

from dqa.core.decision import Usage
from dqa.core.errors import UsageError
from dqa.core.files import add_line, make_private_folder, open_to_add
from dqa.core.paths import problem_of_path
from dqa.evaluation.folders import (
    ABANDONED,
    RESULTS,
    RUN,
    SHORTCUTS,
    TRACES,
    RunRecord,
    lost_line,
    read_results,
    read_resumable,
)
from dqa.evaluation.plan import Task
from dqa.evaluation.recovery import settle, unfinished_name, write_whole
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.shortcuts import ShortcutChoices
from dqa.evaluation.spec import differences
from dqa.evaluation.traces import Trace


class RunStore:
    """The folder of one run, or, without a folder, its results in memory.

    Parameters
    ----------
    folder
        Where to write; made where it is missing. None keeps results in memory only.
    record
        What is run; see `RunRecord`. None where there is no folder.
    resume
        Whether to go on with what the folder holds. What crashed, or was ended by a failing server
        or a spent budget, is asked again, and what is left of it is taken out at once.

    Attributes
    ----------
    lost
        What was used on the way to the decisions of this process and led to none of them.

    Raises
    ------
    UsageError
        The folder holds something and `resume` is not set, it holds another run, or another
        process writes it.
    ParseError
        A line that is not the last one is damaged.
    """

    def __init__(
        self, folder: Path | None = None, record: RunRecord | None = None, resume: bool = False
    ) -> None:
        self.folder = folder
        self.lost = Usage()
        self._results: dict[tuple[str, str, str], Result] = {}
        self._crashed: dict[tuple[str, str, str], Trace] = {}
        self._files: tuple[FileIO, FileIO] | None = None
        self._lock: int | None = None
        self._fresh = folder is not None and not _is_used(folder)
        if folder is None:
            return
        if record is None:
            raise AssertionError("a run in a folder says what it is")
        if self._fresh:
            _make(folder)
        elif not resume:
            raise UsageError(
                f"{folder} is not empty: name another folder, or go on with the run that it holds "
                f"by resume (dqa eval --resume {folder})."
            )
        else:
            record = _compared(folder, record)
        self._lock = _lock(folder)
        try:
            if not self._fresh:
                self._go_on(folder)
            write_whole(folder / RUN, (json.dumps(record.to_json(), indent=2) + "\n").encode())
            self._files = (open_to_add(folder / TRACES), open_to_add(folder / RESULTS))
        except BaseException:
            self.close()  # or nobody could go on, once what is wrong is mended
            raise

    def _go_on(self, folder: Path) -> None:
        """Read what a folder holds of the same run."""
        results = read_results(folder)
        settle(folder)
        self._results = {result.key: result for result in results if not result.outcome.repeated}

    @property
    def results(self) -> Mapping[tuple[str, str, str], Result]:
        """What has been decided, by question, database and decider."""
        return self._results

    @property
    def crashed(self) -> tuple[Trace, ...]:
        """The traces of the decisions that crashed, with their tracebacks."""
        return tuple(self._crashed.values())

    def keep_shortcuts(self, choices: Sequence[ShortcutChoices]) -> None:
        """Keep what the heuristics answer to the run's questions."""
        if self.folder is not None:
            lines = "".join(f"{_line(found.to_json())}\n" for found in choices)
            write_whole(self.folder / SHORTCUTS, lines.encode())

    def add(self, result: Result, trace: Trace, lost: Usage = Usage()) -> None:  # noqa: B008  (frozen)
        """Keep one decision, and what was `lost` on the way to it."""
        self._results[result.key] = result
        if result.outcome is Outcome.CRASHED:
            self._crashed[result.key] = trace
        self.lost += lost
        if self.folder is not None and lost != Usage():
            with open_to_add(self.folder / ABANDONED) as file:
                add_line(file, _line(lost_line(result.key, lost)))
        if self._files is not None:
            for file, line in zip(self._files, (trace, result), strict=True):
                add_line(file, _line(line.to_json()))

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Write the results in the order of the plan and return them."""
        ordered = tuple(self._results[t.key] for t in tasks if t.key in self._results)
        self.close()
        if self.folder is not None:
            lines = "".join(f"{_line(result.to_json())}\n" for result in ordered)
            write_whole(self.folder / RESULTS, lines.encode())
        return ordered

    def discard(self) -> None:
        """Empty a new folder in which nothing was decided, so that the command can be repeated."""
        self.close()
        if self.folder is not None and self._fresh and not self._results:
            for name in (RUN, TRACES, RESULTS, SHORTCUTS, ABANDONED):
                (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files; what was added stays."""
        if self._files is not None:
            for file in self._files:
                file.close()
            self._files = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _compared(folder: Path, record: RunRecord) -> RunRecord:
    """Return the record of a run that goes on, which began when, and with what, it did."""
    earlier, spec = read_resumable(folder)
    if record.spec is None:
        raise AssertionError("a run that goes on has a spec")
    differing = differences(spec, record.spec)
    if differing:
        raise UsageError(
            f"{folder} holds a run with other settings: {'; '.join(differing)}. "
            "Leave them out to go on as it began, or name another folder."
        )
    if earlier.content_hash != record.content_hash:
        raise UsageError(
            f"The questions of {folder} are others than those it began with "
            f"({record.spec.questions.told}): they, their databases or what lists their "
            "candidates were changed. Put back what was there, or name another folder."
        )
    return record.changed(began=earlier.began, versions=earlier.versions)


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


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_used(folder: Path) -> bool:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder.")
    # All that a process leaves behind which was killed before the run began.
    nothing = {unfinished_name(RUN)}
    return folder.is_dir() and any(path.name not in nothing for path in folder.iterdir())


def _make(folder: Path) -> None:
    try:
        make_private_folder(folder)
    except OSError as error:
        raise UsageError(f"{problem_of_path(folder, error)}.") from error
