"""``dqa ask``: one question on any database that a backend opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqa.cli import options
from dqa.cli.bundles import with_options
from dqa.cli.completion import by_name, by_target
from dqa.cli.help import DATABASES, MODELS, OUTPUT, QUESTIONS
from dqa.cli.output import echo, echo_json
from dqa.cli.reviewing import ReviewOptions
from dqa.cli.shared_bundles import DecidingOptions
from dqa.cli.steps import Steps
from dqa.core.distribution import own_command
from dqa.core.errors import BudgetSpentError, CrashError, InfrastructureError, UsageError
from dqa.core.files import open_to_add, problem_of_path, require_new_file, write_private
from dqa.core.text import counted
from dqa.evaluation.options import CallOptions

if TYPE_CHECKING:
    from dqa.api.asking import AskedQuestion
    from dqa.evaluation.traces import Trace


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """What is asked, as options."""

    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            metavar="TEXT",
            help="What is to be decided, where no scenario says it.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            "--scenario",
            metavar="NAME",
            help="Scenario that the database holds: its question is asked, by its rules, and its "
            "simulator can be.",
            autocompletion=by_name("scenario"),
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="KEY=VALUE",
            help="What the scenario's question is about; may be given several times.",
            autocompletion=by_target,
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules",
            metavar="FILE",
            help="Text file with the business rules; - reads standard input.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    rules_text: Annotated[
        str | None,
        typer.Option(
            "--rules-text",
            metavar="TEXT",
            help="The business rules themselves, where they are short.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    candidate: Annotated[
        list[str] | None,
        typer.Option(
            "--candidate",
            metavar="NAME",
            help="What can be chosen; given once for each. Names may hold commas.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    candidates_from: Annotated[
        Path | None,
        typer.Option(
            "--candidates-from",
            metavar="FILE",
            help="File of what can be chosen: one a line, a .csv or .tsv file's column, or a .json "
            "list.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    candidates_column: Annotated[
        str | None,
        typer.Option(
            "--candidates-column",
            metavar="NAME",
            help="Column of that file, or field of its objects; by default the first column.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    candidates: Annotated[
        str | None,
        typer.Option(
            "--candidates",
            metavar="STATEMENT",
            help="SQL or Cypher whose first column lists what can be chosen.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            metavar="STATEMENT",
            help="SQL or Cypher whose rows a decider reads that writes none itself; may be given "
            "several times.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None

    def asked(self) -> AskedQuestion:
        """Return the question; `UsageError` where these make none."""
        from dqa.api.asking import AskedQuestion

        return AskedQuestion(
            question=self.question,
            scenario=self.scenario,
            target=options.pairs_in("--target", self.target or ()),
            rules=self._rules(),
            candidates=self._candidates(),
            context=tuple(self.context or ()),
        )

    def _rules(self) -> str | None:
        if self.rules is None:
            return self.rules_text
        if self.rules_text is not None:
            raise UsageError("--rules FILE and --rules-text TEXT both give the rules: give one.")
        return options.text_in("--rules", self.rules)

    def _candidates(self) -> str | tuple[str | int, ...] | None:
        from dqa.loaders.candidate_files import read_candidates

        given = {
            "--candidate": self.candidate or None,
            "--candidates": self.candidates,
            "--candidates-from": self.candidates_from,
        }
        named = [option for option, value in given.items() if value is not None]
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} both say what can be chosen: give one.")
        if self.candidates_from is not None:
            return read_candidates(self.candidates_from, self.candidates_column)
        if self.candidates_column is not None:
            raise UsageError("--candidates-column is of a file: name it (--candidates-from).")
        return tuple(self.candidate) if self.candidate else self.candidates


@with_options(
    asked=AskedOptions, asking=DecidingOptions, reviewing=ReviewOptions, calling=CallOptions
)
def ask(  # noqa: PLR0913  (one parameter an option)
    *,
    database: Annotated[
        str,
        typer.Option(
            "--database",
            metavar="URL|PATH",
            help="Database to decide on: a URL, a file, or CSV and Parquet files.",
            rich_help_panel=DATABASES,
        ),
    ],
    asked: AskedOptions,
    rule_set: Annotated[
        str | None,
        typer.Option(
            "--rule-set",
            metavar="NAME",
            help="What the scenario's simulator counts by, e.g. 'released' or 'paper'; by default "
            "the first that it has.",
            rich_help_panel=QUESTIONS,
        ),
    ] = None,
    decider: Annotated[
        str | None,
        typer.Option(
            "--decider",
            metavar="NAME",
            help="Who decides; by default the one that a package names for it.",
            autocompletion=by_name("decider"),
            rich_help_panel=MODELS,
        ),
    ] = None,
    asking: DecidingOptions,
    reviewing: ReviewOptions,
    calling: CallOptions,
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            "--trace", metavar="FILE", help="New file for the full trace.", rich_help_panel=OUTPUT
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="New file for the record as a page: question, decision, alternatives with their "
            "outcomes, plan, statements and rows, model, cost.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", help="Let a bug end the command with its traceback.", rich_help_panel=OUTPUT
        ),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask one question about any database; exit code 1 where it ends without an answer."""
    from dqa.api.asking import ask as ask_one
    from dqa.api.asking import write_decision_page

    reviewer = reviewing.reviewer()
    question = asked.asked()
    prices = calling.prices
    if page is not None:
        require_new_file(page)
    with _new_file(trace):
        with Steps(prices) as steps:
            if reviewer is not None:
                reviewer.steps = steps
            decided = ask_one(
                database,
                question,
                decider=decider,
                calls=calling,
                policy=policy,
                audit=audit,
                tables=options.tables_in(tables),
                watcher=steps,
                reviewer=reviewer,
                review=reviewing.kinds,
                debug=debug,
                **asking.fields(rule_set),
            )
        written = decided.to_json()
        interrupted = reviewer is not None and reviewer.was_interrupted
        if not interrupted:  # whoever interrupts wants to read nothing; what happened is kept
            _tell(decided, written if as_json else None)
        if trace is not None:  # after the answer, which was paid for, has been told
            _write_trace(trace, written)
        if page is not None:
            write_decision_page(decided, page)
    if interrupted:
        raise KeyboardInterrupt
    _fail(decided, trace)


def _tell(decided: Trace, written: object | None) -> None:
    """Print a decision, as JSON where it is given so, and what it does not take into account."""
    if written is None:
        echo(*_as_text(decided).split("\n"))
    else:
        echo_json(written)
    for warning in decided.warnings:
        echo(f"warning: {warning}", err=True)
    problem = None if decided.asked is None else decided.asked.problem
    if problem is not None:
        echo(f"warning: The record has no outcomes of the alternatives: {problem}", err=True)


def _fail(decided: Trace, trace: Path | None) -> None:
    """Raise what ended the decision, where that was no answer."""
    from dqa.core.decision import Ending

    if decided.ending is Ending.INFRASTRUCTURE:
        raise InfrastructureError(decided.error or "A server, the network or a provider failed.")
    if decided.ending is Ending.BUDGET:
        raise BudgetSpentError(decided.error or "The budget is spent.")
    if decided.ending is Ending.CRASHED:
        kept = "--trace FILE keeps its traceback, and --debug shows it"
        where = kept if trace is None else f"its traceback is in {trace}"
        raise CrashError(
            f"{decided.decider} crashed, which is a bug: {decided.error}; {where}. Report it to "
            f"whoever maintains {decided.decider}."
        )
    if decided.ending is not Ending.ANSWERED:
        if trace is None:
            echo(
                "To see what was replied, ask again with --trace FILE; "
                f"'{own_command()} trace FILE' shows it.",
                err=True,
            )
        raise typer.Exit(1)


@contextmanager
def _new_file(path: Path | None) -> Iterator[None]:
    """Make the trace's file before anything is asked, so a wrong name costs no answer."""
    if path is None:
        yield
        return
    require_new_file(path)
    open_to_add(path, new=True).close()
    try:
        yield
    except BaseException:
        # Nothing was decided, or not kept; an empty file would only be in the way of the next try.
        path.unlink()
        raise


def _write_trace(path: Path, written: object) -> None:
    try:
        write_private(path, json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error, writing=True)}.") from error


def _as_text(decided: Trace) -> str:
    from dqa.report.reviews import reviews_line
    from dqa.report.spending import Spending
    from dqa.report.tables import model_line

    lines = [f"Answer: {decided.answer or '(none)'}"]
    if decided.choice is not None:
        lines.append(f"Choice: {decided.choice}")
    ending = f"Ended: {decided.ending} after {counted(decided.steps, 'reply', 'replies')}"
    if decided.ended_by is not None:
        ending += f", by its {decided.ended_by}"
        ending += "" if decided.choice is None else ": the best by what it had seen"
    lines.append(f"{ending}. {decided.error}" if decided.error else ending)
    for number, plan in enumerate(decided.plans, start=1):
        lines += [f"Plan {number}:" if len(decided.plans) > 1 else "Plan:"]
        lines += [f"  {line}" for line in plan.strip().splitlines()]
    lines.append(f"Evidence: {counted(len(decided.evidence), 'statement')}")
    for evidence in decided.evidence:
        lines += [f"  {line}" for line in evidence.statement.strip().splitlines()]
        if evidence.error:
            lines.append(f"    -> {evidence.error}")
        else:
            cut = f", cut by the limit on {evidence.cut}" if evidence.cut else ""
            lines.append(f"    -> {counted(evidence.row_count, 'row')}{cut}")
    reviewed = reviews_line(decided.events)
    lines += [] if reviewed is None else [reviewed]
    lines.append(model_line(decided.model))
    lines.append(str(Spending.of(decided.usage, decided.cost)))
    return "\n".join(lines)
