"""``dqa trace``: one run as a person reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, echo_table
from dqa.core.text import counted

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.evaluation.results import Result
    from dqa.evaluation.traces import Trace


def trace(  # noqa: PLR0913  (one parameter per option)
    *,
    run: options.RunOrTrace,
    question: options.RunQuestion = None,
    database: options.OnDatabase = None,
    decider: options.ByDecider = None,
    epoch: Annotated[int | None, option("--epoch N", QUESTIONS, least=1)] = None,
    full: Annotated[bool, option("--full", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a decider did, step by step, and what its decision is worth.

    Without QUESTION, the questions are listed with their outcomes. If several deciders or databases
    were asked, their decisions are listed; select one with --decider and --database. With --json
    all of them are printed; without QUESTION, a run's results.

    Parameters
    ----------
    epoch
        Only this repeat.
    full
        Shorten nothing, and show the whole prompt.
    """
    from dqa.api.reading import read_run

    found = read_run(run)
    if question is None and found.place is not None:
        decided = found.find(database=database, decider=decider)
        if len({result.question for result in decided}) > 1:
            _list_questions(found, decided, as_json=as_json)
            return
    wanted = found.select(question, database, decider, epoch=epoch)
    if as_json:
        echo_json([_as_json(found, one) for one in wanted])
    elif len(wanted) == 1:
        from dqa.report.trace_text import echo_passages

        echo_passages(found.passages(wanted[0]), full=full)
    else:
        _list(found, wanted)


def _as_json(run: Run, trace: Trace) -> dict[str, object]:
    return {
        "question": trace.question,
        "database": trace.database,
        "decider": trace.decider,
        "epoch": trace.epoch,
        "model": trace.model,
        "passages": [passage.to_json() for passage in run.passages(trace)],
    }


def _list_questions(run: Run, decided: Sequence[Result], *, as_json: bool) -> None:
    """Print a row a question and database: what became of it by decider."""
    if as_json:
        echo_json([result.to_json() for result in decided])
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from dqa.core.distribution import shell_command
    from dqa.core.text import visible

    deciders = list(dict.fromkeys(result.decider for result in decided))
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("Question", "Database"):
        table.add_column(title, no_wrap=True)
    for title in deciders:
        # To the right, as columns that may stand in a block below the others are (`fitted`).
        table.add_column(Text(visible(title)), justify="right", no_wrap=True)
    rows: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for result in decided:
        row = rows.setdefault((result.question, result.database), {})
        row.setdefault(result.decider, Counter())[result.outcome.value] += 1
    # A question's databases stand together; a run may have asked one database after the other.
    order = list(dict.fromkeys(result.question for result in decided))
    for (question, database), row in sorted(rows.items(), key=lambda one: order.index(one[0][0])):
        cells = (question, database, *(_shown(row.get(decider)) for decider in deciders))
        table.add_row(*(Text(visible(cell)) for cell in cells))
    echo_table(table)
    how = shell_command("trace", str(run.place), "QUESTION")
    echo(f"Name one: {how} --database NAME --decider NAME")


def _shown(outcomes: Counter[str] | None) -> str:
    """Return what became of a question, over its repeats."""
    if not outcomes:
        return "-"
    if outcomes.total() == 1:
        return next(iter(outcomes))
    return ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())


def _list(run: Run, wanted: Sequence[Trace]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from dqa.core.text import visible

    are_repeated = any(found.epoch > 1 for found in wanted)
    titles = ["Database", "Decider", *(["Epoch"] if are_repeated else [])]
    table = Table(box=box.SIMPLE_HEAD)
    for title in (*titles, "Outcome", "Replies", "Answer"):
        table.add_column(title, justify="right" if title in {"Epoch", "Replies"} else "left")
    for found in wanted:
        result = run.by_key.get(found.key)
        outcome = f"not judged ({found.ending})" if result is None else result.outcome.value
        answer = found.choice if result is None else result.choice
        named = "" if answer is None else str(answer)
        who = [found.database, found.decider, *([str(found.epoch)] if are_repeated else [])]
        cells = (*who, outcome, str(found.steps), named)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    echo(f"{wanted[0].question} was decided {counted(len(wanted), 'time')}:")
    echo_table(table)
    echo(f"Name one with --database{', --epoch' if are_repeated else ''} and --decider.")
