"""Runs that were written down: which one a command is about, and reading it back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.core.errors import ParseError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from dqa.evaluation.score import Result
    from dqa.evaluation.traces import Trace

__all__ = ["ByDecider", "OnDatabase", "Run", "RunQuestion", "read_runs", "select_runs"]

Run = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="Folder of 'dqa eval --out', or file of 'dqa ask --trace'."),
]
RunQuestion = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="SCENARIO/ID, e.g. locating/1; a file needs none."),
]
OnDatabase = Annotated[
    str | None,
    typer.Option("--database", metavar="NAME", help="Only the runs on this database."),
]
ByDecider = Annotated[
    str | None, typer.Option("--decider", metavar="NAME", help="Only this decider's runs.")
]


def read_runs(
    run: Path, question: str | None
) -> tuple[list[Trace], dict[tuple[str, str, str], Result]]:
    """Return the runs of a folder or a file, and the results of those that were judged."""
    from dqa.evaluation.store import TRACES, read_results
    from dqa.evaluation.traces import read_traces

    if run.name == TRACES and run.is_file():
        raise UsageError(f"{run} is a part of a run: name its folder, {run.parent}.")
    if run.is_file():
        if question is not None:
            raise UsageError(f"{run} is a file of 'dqa ask --trace': it needs no QUESTION.")
        return [_asked(run)], {}
    if not run.exists():
        raise UsageError(
            f"{run} does not exist: name the folder of 'dqa eval --out', or the file of "
            "'dqa ask --trace'."
        )
    traces = read_traces(run)
    if not traces:
        raise UsageError(f"{run} holds no finished decision yet.")
    results = {result.key: result for result in read_results(run)}
    # Traces stand in the order of their ends, which no run repeats; results in that of the plan.
    places = {key: place for place, key in enumerate(results)}
    traces.sort(key=lambda found: (places.get(found.key, len(places)), found.key))
    return traces, results


def _asked(file: Path) -> Trace:
    """Read what ``dqa ask --trace`` wrote."""
    from dqa.evaluation.traces import Trace

    try:
        # What it does not tell is not shown either.
        written = {"question": "custom/1", "kind": "relational"} | json.loads(
            file.read_text("utf-8")
        )
        return Trace.from_json(written)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        problem = f"not written by 'dqa ask --trace' of this version: {error!r}"
        raise ParseError(file, None, problem) from error


def select_runs(
    traces: list[Trace],
    question: str | None,
    database: str | None,
    decider: str | None,
    *,
    several: bool = False,
) -> list[Trace]:
    """Return the runs that are asked for, at least one; of one question unless `several` may be."""
    named = {"question": question, "database": database, "decider": decider}
    wanted = traces
    for kind, name in named.items():
        known = {getattr(found, kind) for found in wanted}
        if name is not None and name not in known:
            of = "" if kind == "question" or question is None else f" that decided {question}:"
            raise UnknownNameError(f"{kind}{of}", name, known)
        wanted = [found for found in wanted if name in {None, getattr(found, kind)}]
    if not several and question is None and len({found.question for found in wanted}) > 1:
        there_are = sorted({found.question for found in wanted})
        raise UsageError(
            f"Name one of the {len(there_are)} questions of this run, e.g. {there_are[0]}."
        )
    return wanted
