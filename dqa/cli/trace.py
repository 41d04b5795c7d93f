"""``dqa trace``: one run as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.output import echo_json, echo_table
from dqa.errors import ParseError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from dqa.evaluation.passages import Passage
    from dqa.evaluation.score import Result
    from dqa.evaluation.traces import Trace

__all__ = ["read_runs", "select_runs", "trace"]


def trace(  # noqa: PLR0913  (one parameter an option)
    *,
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of 'dqa eval --out', or file of 'dqa ask --trace'."
        ),
    ],
    question: Annotated[
        str | None,
        typer.Argument(metavar="QUESTION", help="SCENARIO/ID, e.g. locating/1; a file needs none."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="NAME", help="Only the runs on this database."),
    ] = None,
    decider: Annotated[
        str | None, typer.Option("--decider", metavar="NAME", help="Only this decider's runs.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Shorten nothing, and show the whole prompt.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a decider did, step by step, and what its decision is worth.

    Where a question was asked of several deciders or on several databases, the runs are listed;
    name one with --decider and --database. With --json all of them are printed.
    """
    traces, results = read_runs(run, question)
    wanted = select_runs(traces, question, database, decider)
    if as_json:
        echo_json([_as_json(found, results.get(found.key)) for found in wanted])
    elif len(wanted) == 1:
        from dqa.cli.trace_text import echo_passages

        echo_passages(_passages(wanted[0], results.get(wanted[0].key)), full=full)
    else:
        _list(wanted, results)


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


def _passages(found: Trace, result: Result | None) -> list[Passage]:
    from dqa import plugins
    from dqa.evaluation.reading import read

    scenario = found.question.partition("/")[0]
    known = scenario in plugins.names("scenario")
    return read(found, result, plugins.scenario(scenario).unit if known else "value")


def _as_json(found: Trace, result: Result | None) -> dict[str, object]:
    from dqa.evaluation.passages import passage_to_json

    return {
        "question": found.question,
        "database": found.database,
        "decider": found.decider,
        "model": found.model,
        "passages": [passage_to_json(passage) for passage in _passages(found, result)],
    }


def _list(wanted: list[Trace], results: dict[tuple[str, str, str], Result]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from dqa.cli.untrusted import visible

    table = Table(box=box.SIMPLE_HEAD)
    for title in ("Database", "Decider", "Outcome", "Replies", "Answer"):
        table.add_column(title, justify="right" if title == "Replies" else "left")
    for found in wanted:
        result = results.get(found.key)
        outcome = f"not judged ({found.ending})" if result is None else result.outcome.value
        answer = found.choice if result is None else result.choice
        named = "" if answer is None else str(answer)
        cells = (found.database, found.decider, outcome, str(found.steps), named)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    typer.echo(f"{visible(wanted[0].question)} was decided {len(wanted)} times:")
    echo_table(table)
    typer.echo("Name one with --database and --decider.")
