"""What a run leaves behind: ``run.json``, ``results.jsonl`` and ``traces.jsonl`` in one folder.

Beside them, ``shortcuts.jsonl`` has what the scenarios' heuristics answer to the same questions.

Every decision is appended, and flushed, as soon as it is made: first its trace, then its result,
which is what says that it is done. A crash can cost the last, half-written line, never more. A
finished run's results are written once more in the order of its plan, so the same command leaves
the same file; times are in the traces only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from dqa.core.errors import UsageError
from dqa.evaluation.folders import (
    RESULTS,
    RUN,
    SHORTCUTS,
    TRACES,
    RunRecord,
    began_in_an_older_form,
    cut_half_line,
    read_record,
    read_results,
)
from dqa.evaluation.plan import Task
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
        or a spent budget, is asked again.

    Raises
    ------
    UsageError
        The folder holds something and `resume` is not set, or it holds another run.
    ParseError
        A line that is not the last one is damaged.
    """

    def __init__(
        self, folder: Path | None = None, record: RunRecord | None = None, resume: bool = False
    ) -> None:
        self.folder = folder
        self._results: dict[tuple[str, str, str], Result] = {}
        self._crashed: dict[tuple[str, str, str], Trace] = {}
        self._files: tuple[TextIO, TextIO] | None = None
        self._fresh = folder is not None and not _is_used(folder)
        if folder is None:
            return
        if record is None:
            raise AssertionError("a run in a folder says what it is")
        if self._fresh:
            _make(folder)
            (folder / RUN).write_text(json.dumps(record.to_json(), indent=2) + "\n", "utf-8")
        else:
            self._go_on(folder, record, resume)
        self._files = (_appending(folder / TRACES), _appending(folder / RESULTS))

    def _go_on(self, folder: Path, record: RunRecord, resume: bool) -> None:
        """Read what a folder holds of the same run."""
        if not resume:
            raise UsageError(
                f"{folder} is not empty: name another folder, or go on with resume (--resume)."
            )
        _compare(folder, record)
        cut_half_line(folder / RESULTS)
        for result in read_results(folder):
            if not result.outcome.repeated:
                self._results[result.key] = result
        cut_half_line(folder / TRACES)

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
            lines = "".join(_line(found.to_json()) for found in choices)
            (self.folder / SHORTCUTS).write_text(lines, "utf-8", newline="\n")

    def add(self, result: Result, trace: Trace) -> None:
        """Keep one decision."""
        self._results[result.key] = result
        if result.outcome is Outcome.CRASHED:
            self._crashed[result.key] = trace
        if self._files is not None:
            for file, line in zip(self._files, (trace, result), strict=True):
                file.write(_line(line.to_json()))
                file.flush()

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Write the results in the order of the plan and return them."""
        ordered = tuple(self._results[t.key] for t in tasks if t.key in self._results)
        self.close()
        if self.folder is not None:
            target = self.folder / RESULTS
            fresh = target.with_suffix(".jsonl.new")
            with fresh.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(_line(result.to_json()) for result in ordered)
            fresh.replace(target)
        return ordered

    def discard(self) -> None:
        """Empty a new folder in which nothing was decided, so that the command can be repeated."""
        self.close()
        if self.folder is not None and self._fresh and not self._results:
            for name in (RUN, TRACES, RESULTS, SHORTCUTS):
                (self.folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files; what was added stays."""
        if self._files is not None:
            for file in self._files:
                file.close()
            self._files = None


def _compare(folder: Path, record: RunRecord) -> None:
    earlier = read_record(folder)
    # What was decided then had other prompts, ties and rule sets, some of them of today's names.
    if earlier.spec is None or began_in_an_older_form(folder):
        raise UsageError(
            f"{folder} was begun by dqa {earlier.written_by} in an older form, which can be "
            "read but not resumed, as agents and rule sets have changed since: name another folder."
        )
    if record.spec is None:
        raise AssertionError("a run that goes on has a spec")
    differing = differences(earlier.spec, record.spec)
    if not differing and earlier.content_hash != record.content_hash:
        differing = ["the questions are others"]
    if differing:
        raise UsageError(
            f"{folder} holds a run with other settings: {'; '.join(differing)}. "
            "Use the same, or name another folder."
        )


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _is_used(folder: Path) -> bool:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: name a folder.")
    return folder.is_dir() and any(folder.iterdir())


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}.") from error


def _appending(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8", newline="\n")
