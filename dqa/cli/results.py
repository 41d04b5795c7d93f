"""``dqa results``: what a run came to, from what was kept of it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from dqa.cli import options
from dqa.cli.help import OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json, echo_report
from dqa.core.errors import UsageError
from dqa.evaluation.results import Outcome
from dqa.report.hints import command, resume_command, trace_command

if TYPE_CHECKING:
    from dqa.api.runs import Run
    from dqa.evaluation.results import Result


def results(  # noqa: PLR0913  (one parameter per option)
    *,
    run: options.Run,
    wrong: Annotated[bool, option("--wrong", OUTPUT)] = False,
    failed: Annotated[bool, option("--failed", OUTPUT)] = False,
    outcome: Annotated[list[Outcome] | None, option("--outcome NAME", OUTPUT)] = None,
    question: Annotated[str | None, option("--question SCENARIO/ID", QUESTIONS)] = None,
    scenario: options.OfScenario = None,
    database: options.OnDatabase = None,
    decider: options.ByDecider = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the table of a stored run again, or list its decisions.

    Everything comes from the stored run: no release, database or model is needed. With an option
    that selects decisions, they are listed instead of the table, each with the choice, the right
    answer, and the command that shows its trace.

    Parameters
    ----------
    wrong
        List judged decisions that are not right: wrong, or none.
    failed
        List what a failing server, a spent budget or a bug ended.
    outcome
        List decisions with this outcome: correct, wrong, no_candidate, ambiguous, step_limit,
        unparsable, infrastructure, budget, stopped, crashed, no_decision or played; may be given
        several times.
    question
        List the decisions of this question.
    """
    from dqa.api.reading import read_run

    found = read_run(run)
    if found.place is None:
        raise UsageError(
            f"{run} holds one decision, which nobody judged: '{command('trace', str(run))}' shows "
            "it."
        )
    if not found.results:
        raise UsageError(
            f"{run} holds no finished decision yet: '{resume_command(found.place)}' goes on."
        )
    listed = bool(wrong or failed or outcome or question or scenario or database or decider)
    if not listed:
        if as_json:
            echo_json(found.figures().to_json())
        else:
            echo_report(found)
        return
    wanted = found.find(
        question,
        database,
        decider,
        scenario=scenario,
        outcomes=outcome or (),
        wrong=wrong,
        failed=failed,
    )
    if as_json:
        echo_json([result.to_json() for result in wanted])
    else:
        _list(found, wanted)


def _list(run: Run, wanted: tuple[Result, ...]) -> None:
    repeated = run.is_repeated
    for result in wanted:
        where = f"{result.question} on {result.database} by {result.decider}"
        where += f", epoch {result.epoch}" if repeated else ""
        echo(f"{where}: {result.outcome}. {_told(result)}")
        if run.place is not None:
            echo(f"    {trace_command(run.place, result.key, repeated=repeated)}")
    echo(f"{len(wanted)} of {len(run.results)} decisions.")


def _told(result: Result) -> str:
    """Return what was chosen and what is right; of what nobody chose, why not."""
    if result.match is not None:
        return _told_of_statement(result)
    chose = "Chose nothing" if result.choice is None else f"Chose {result.choice}"
    best = " or ".join(map(str, result.ties[:_TIES])) + (" ..." if len(result.ties) > _TIES else "")
    told = f"; right is {best}" if best else ""
    if result.official is not None and result.ties != (result.official,):
        told += f"; the official answer is {result.official}"
    error = "" if result.error is None else f" {result.error}"
    return f"{chose}{told}.{error}"


def _told_of_statement(result: Result) -> str:
    """Return which statement was written, and the gold one where that is another."""
    lines = ["Wrote nothing." if result.choice is None else f"Wrote {result.choice}"]
    gold = result.ties[0] if result.ties else None
    if gold is not None and gold != result.choice:
        lines.append(f"gold is {gold}")
    return "; ".join(lines) + ("" if result.error is None else f". {result.error}")


_TIES = 5
