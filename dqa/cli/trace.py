"""``dqa trace``: one run as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options, runs
from dqa.cli.output import echo_json, echo_table

if TYPE_CHECKING:
    from dqa.evaluation.score import Result
    from dqa.evaluation.traces import Trace
    from dqa.report.passages import Passage

__all__ = ["trace"]


def trace(  # noqa: PLR0913  (one parameter an option)
    *,
    run: runs.Run,
    question: runs.RunQuestion = None,
    database: runs.OnDatabase = None,
    decider: runs.ByDecider = None,
    full: Annotated[
        bool, typer.Option("--full", help="Shorten nothing, and show the whole prompt.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a decider did, step by step, and what its decision is worth.

    Where a question was asked of several deciders or on several databases, the runs are listed;
    name one with --decider and --database. With --json all of them are printed.
    """
    traces, results = runs.read_runs(run, question)
    wanted = runs.select_runs(traces, question, database, decider)
    if as_json:
        echo_json([_as_json(found, results.get(found.key)) for found in wanted])
    elif len(wanted) == 1:
        from dqa.report.trace_text import echo_passages

        echo_passages(_passages(wanted[0], results.get(wanted[0].key)), full=full)
    else:
        _list(wanted, results)


def _passages(found: Trace, result: Result | None) -> list[Passage]:
    from dqa import plugins
    from dqa.report.reading import read

    scenario = found.question.partition("/")[0]
    known = scenario in plugins.names("scenario")
    return read(found, result, plugins.scenario(scenario).unit if known else "value")


def _as_json(found: Trace, result: Result | None) -> dict[str, object]:
    from dqa.report.passages import passage_to_json

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

    from dqa.report.untrusted import visible

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
