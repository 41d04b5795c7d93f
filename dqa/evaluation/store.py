"""What a run leaves behind: ``run.json``, ``results.jsonl`` and ``traces.jsonl`` in one folder.

Every decision is appended, and flushed, as soon as it is made: first its trace, then its result,
which is what says that it is done. A crash can cost the last, half-written line, never more. A
finished run's results are written once more in the order of its plan, so the same command leaves
the same file; times are in the traces only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from dqa.core.decision import Decision, Usage
from dqa.core.errors import ParseError, UsageError
from dqa.core.secrets import redacted
from dqa.evaluation.plan import Task
from dqa.evaluation.score import Result

__all__ = [
    "TRACES",
    "RunStore",
    "decision_to_json",
    "read_results",
    "redacted",
    "to_trace",
    "usage_so_far",
    "whole_lines",
]

_RUN, _RESULTS, TRACES = "run.json", "results.jsonl", "traces.jsonl"


class RunStore:
    """The folder of one run, or, without a folder, its results in memory.

    Parameters
    ----------
    folder
        Where to write; made where it is missing. None keeps results in memory only.
    settings
        What the run was asked to do: all that its results depend on, without secrets.
    record
        What else to write down, such as versions and paths; not compared when a run goes on.
    resume
        Whether to go on with what the folder holds. What a failing server or a
        spent budget ended is asked again.

    Raises
    ------
    UsageError
        The folder holds something and `resume` is not set, or it holds another run.
    ParseError
        A line that is not the last one is damaged.
    """

    def __init__(
        self,
        folder: Path | None,
        settings: Mapping[str, Any],
        record: Mapping[str, Any],
        resume: bool = False,
    ) -> None:
        self.folder = folder
        self._results: dict[tuple[str, str, str], Result] = {}
        self._files: tuple[TextIO, TextIO] | None = None
        self._fresh = folder is not None and not _is_used(folder)
        if folder is None:
            return
        run = {"settings": redacted(settings), **redacted(record)}
        if self._fresh:
            _make(folder)
            (folder / _RUN).write_text(json.dumps(run, indent=2) + "\n", "utf-8")
        else:
            self._go_on(folder, run["settings"], resume)
        self._files = (_appending(folder / TRACES), _appending(folder / _RESULTS))

    def _go_on(self, folder: Path, settings: Mapping[str, Any], resume: bool) -> None:
        """Read what a folder holds of the same run."""
        if not resume:
            raise UsageError(f"{folder} is not empty: name another --out, or go on with --resume.")
        _compare(folder, json.loads(json.dumps(settings)))
        for result in read_results(folder, mend=True):
            if result.outcome.judged:
                self._results[result.key] = result
        _drop_half_line(folder / TRACES)

    @property
    def results(self) -> Mapping[tuple[str, str, str], Result]:
        """What has been decided, by question, database and decider."""
        return self._results

    def add(self, result: Result, trace: Mapping[str, Any]) -> None:
        """Keep one decision."""
        self._results[result.key] = result
        if self._files is not None:
            for file, line in zip(self._files, (trace, _kept(result)), strict=True):
                file.write(_line(line))
                file.flush()

    def finish(self, tasks: Sequence[Task]) -> tuple[Result, ...]:
        """Write the results in the order of the plan and return them."""
        ordered = tuple(self._results[t.key] for t in tasks if t.key in self._results)
        self.close()
        if self.folder is not None:
            target = self.folder / _RESULTS
            fresh = target.with_suffix(".jsonl.new")
            with fresh.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(_line(_kept(result)) for result in ordered)
            fresh.replace(target)
        return ordered

    def discard(self) -> None:
        """Empty a new folder in which nothing was decided, so that the command can be repeated."""
        self.close()
        if self.folder is not None and self._fresh and not self._results:
            for name in (_RUN, TRACES, _RESULTS):
                (self.folder / name).unlink()

    def close(self) -> None:
        """Close the files; what was added stays."""
        if self._files is not None:
            for file in self._files:
                file.close()
            self._files = None


def read_results(folder: Path, *, mend: bool = False) -> list[Result]:
    """Read a run's results; of a decision made twice the later counts.

    Parameters
    ----------
    folder
        The run's ``--out``.
    mend
        Cut a half-written last line off the file; otherwise it is only skipped.

    Raises
    ------
    ParseError
        A whole line is no result.
    """
    path = folder / _RESULTS
    if not path.exists():
        return []
    whole = _drop_half_line(path) if mend else whole_lines(path)
    found = {}
    # Not splitlines(): other line separators may stand inside a JSON string.
    for number, line in enumerate(whole.split("\n")[:-1], start=1):
        try:
            result = Result.from_json(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            raise ParseError(path, number, f"no result of this version: {error!r}") from error
        found[result.key] = result
    return list(found.values())


def usage_so_far(folder: Path) -> Usage:
    """Return what all decisions of a run have used, those that were made again included.

    Raises
    ------
    ParseError
        A whole line of the traces is damaged.
    """
    path, used = folder / TRACES, Usage()
    if not path.exists():
        return used
    for number, line in enumerate(whole_lines(path).split("\n")[:-1], start=1):
        try:
            used += Usage(**json.loads(line)["usage"])
        except (KeyError, TypeError, ValueError) as error:
            raise ParseError(path, number, f"no trace of this version: {error!r}") from error
    return used


def to_trace(task: Task, kind: str, model: str, decision: Decision) -> dict[str, Any]:
    """Return everything about one decision, as a line of ``traces.jsonl`` holds it."""
    return {
        "question": task.question.key,
        "database": task.database,
        "kind": kind,
        "decider": task.decider,
        "model": model,
        **decision_to_json(decision),
    }


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain JSON values, without secrets in what was said.

    The choice stays as it is: a candidate that looks like a secret is still that candidate.
    """
    said = {
        "answer": decision.answer,
        "error": decision.error,
        "plans": list(decision.plans),
        "evidence": [_fields(evidence) for evidence in decision.evidence],
        "trace": [event.to_json() for event in decision.trace],
    }
    return {
        "ending": decision.ending.value,
        "choice": decision.choice,
        "steps": decision.steps,
        "seconds": decision.seconds,
        "usage": _fields(decision.usage),
        "outage": decision.outage,
        **redacted(said),
    }


def _fields(record: Any) -> dict[str, Any]:  # noqa: ANN401  (any of the frozen records)
    return {name: getattr(record, name) for name in record.__slots__}


def _kept(result: Result) -> dict[str, Any]:
    """Return a result's line without secrets in what a model or a server said."""
    said: dict[str, Any] = redacted({"answer": result.answer, "error": result.error})
    return result.to_json() | said


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str) + "\n"


def _is_used(folder: Path) -> bool:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: --out names a folder.")
    return folder.is_dir() and any(folder.iterdir())


def _compare(folder: Path, settings: dict[str, Any]) -> None:
    try:
        earlier: dict[str, Any] = dict(json.loads((folder / _RUN).read_text("utf-8"))["settings"])
        names = sorted({*earlier, *settings})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder} holds no run that could go on ({_RUN}: {error}): name another --out."
        ) from error
    differing = [
        f"{name} was {_shown(earlier.get(name))} and is now {_shown(settings.get(name))}"
        for name in names
        if earlier.get(name) != settings.get(name)
    ]
    if differing:
        raise UsageError(
            f"{folder} holds a run with other settings: {'; '.join(differing)}. "
            "Use the same, or name another --out."
        )


def _shown(value: Any) -> str:  # noqa: ANN401  (any JSON value)
    return json.dumps(value, ensure_ascii=False)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}.") from error


def _appending(path: Path) -> TextIO:
    return path.open("a", encoding="utf-8", newline="\n")


def whole_lines(path: Path) -> str:
    """Return a file's text up to its last line end; `ParseError` where it is no text."""
    content = path.read_bytes()
    try:
        return content[: content.rfind(b"\n") + 1].decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParseError(path, line, "this is no UTF-8 text, so no result of a run") from error


def _drop_half_line(path: Path) -> str:
    if not path.exists():
        return ""
    whole = whole_lines(path)
    os.truncate(path, len(whole.encode("utf-8")))
    return whole
