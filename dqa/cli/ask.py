"""``dqa ask``: one question on any database that a backend opens."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqa.cli import options
from dqa.cli.completion import by_name, by_target
from dqa.cli.fields import DECIDING, RuleSet, with_options
from dqa.cli.help import MODELS, OUTPUT, QUESTIONS
from dqa.cli.options import option
from dqa.cli.output import echo, echo_json
from dqa.cli.reviewing import ReviewOptions
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
    """What is asked.

    Attributes
    ----------
    question
        What to decide, without a scenario.
    scenario
        Scenario of the database: its question is asked, by its rules, and its simulator is
        available.
    target
        What the scenario's question is about; may be given several times.
    rules
        Text file of the business rules; - reads standard input.
    rules_text
        The business rules themselves.
    candidate
        A candidate; given once for each. May contain commas.
    candidates_from
        File of the candidates: one per line, a .csv or .tsv file's column, or a .json list.
    candidates_column
        Column of that file, or field of its objects; by default the first column.
    candidates
        SQL or Cypher whose first column lists the candidates.
    context
        SQL or Cypher whose rows are shown to deciders that write no statements; may be given
        several times.
    """

    question: Annotated[str | None, option("--question TEXT", QUESTIONS)] = None
    scenario: Annotated[
        str | None, option("--scenario NAME|DIR", QUESTIONS, complete=by_name("scenario"))
    ] = None
    target: Annotated[
        list[str] | None, option("--target KEY=VALUE", QUESTIONS, complete=by_target)
    ] = None
    rules: Annotated[Path | None, option("--rules FILE", QUESTIONS)] = None
    rules_text: Annotated[str | None, option("--rules-text TEXT", QUESTIONS)] = None
    candidate: Annotated[list[str] | None, option("--candidate NAME", QUESTIONS)] = None
    candidates_from: Annotated[Path | None, option("--candidates-from FILE", QUESTIONS)] = None
    candidates_column: Annotated[str | None, option("--candidates-column NAME", QUESTIONS)] = None
    candidates: Annotated[str | None, option("--candidates STATEMENT", QUESTIONS)] = None
    context: Annotated[list[str] | None, option("--context STATEMENT", QUESTIONS)] = None

    def asked(self) -> AskedQuestion:
        """Return the question; `UsageError` if the options do not make one."""
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
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise UsageError(f"{' and '.join(named)} both say what can be chosen: give one.")
        if self.candidates_from is not None:
            return read_candidates(self.candidates_from, self.candidates_column)
        if self.candidates_column is not None:
            raise UsageError("--candidates-column is of a file: name it (--candidates-from).")
        return tuple(self.candidate) if self.candidate else self.candidates


@with_options(asked=AskedOptions, deciding=DECIDING, reviewing=ReviewOptions, calling=CallOptions)
def ask(  # noqa: PLR0913  (one parameter per option)
    *,
    database: options.DatabaseLocation,
    asked: AskedOptions,
    rule_set: RuleSet = None,
    decider: Annotated[
        str | None, option("--decider NAME", MODELS, complete=by_name("decider"))
    ] = None,
    deciding: dict[str, Any],
    reviewing: ReviewOptions,
    calling: CallOptions,
    tables: options.Tables = None,
    policy: options.Policy = None,
    audit: options.AuditFile = None,
    allow_no_evidence: Annotated[bool, option("--allow-no-evidence", QUESTIONS)] = False,
    trace: Annotated[Path | None, option("--trace FILE", OUTPUT)] = None,
    no_record: Annotated[bool, option("--no-record", OUTPUT)] = False,
    page: Annotated[Path | None, option("--html FILE", OUTPUT)] = None,
    debug: Annotated[bool, option("--debug", OUTPUT)] = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask one question about any database; exit code 1 if it ends without an answer.

    Parameters
    ----------
    decider
        Who decides; by default the one that a package names for it.
    allow_no_evidence
        Accept an answer although no statement succeeded.
    trace
        New file for the record, instead of one in the user's data folder (DQA_DECISIONS).
    no_record
        Do not store the record.
    page
        New file for the record as a page: question, decision, alternatives with their outcomes,
        plan, statements and rows, model, cost.
    debug
        Let a bug end the command with its traceback.
    """
    from dqa.api.asking import ask as ask_one
    from dqa.api.asking import record_file, write_decision_page

    reviewer = reviewing.reviewer()
    question = asked.asked()
    if page is not None:
        require_new_file(page)
    with _new_file(trace):
        with Steps(calling.prices) as steps:
            if reviewer is not None:
                reviewer.steps = steps
            decided = ask_one(
                database,
                question,
                decider=decider,
                calls=calling,
                policy=policy,
                audit=audit,
                tables=options.names_in("--tables", tables),
                watcher=steps,
                reviewer=reviewer,
                review=reviewing.kinds,
                debug=debug,
                allow_no_evidence=allow_no_evidence,
                record=trace is None and not no_record,
                rule_set=rule_set,
                **deciding,
            )
        written = decided.to_json()
        interrupted = reviewer is not None and reviewer.was_interrupted
        if not interrupted:  # the record is stored anyway
            _print(decided, written if as_json else None)
        if trace is not None:  # after the answer, which was paid for, is printed
            _write_trace(trace, written)
        if page is not None:
            write_decision_page(decided, page)
    if interrupted:
        raise KeyboardInterrupt
    _fail(decided, trace or (None if no_record else record_file(decided)))


def _print(decided: Trace, written: object | None) -> None:
    """Print a decision, or its JSON, and its warnings."""
    if written is None:
        echo(*_as_text(decided).split("\n"))
    else:
        echo_json(written)
    for warning in decided.warnings:
        echo(f"warning: {warning}", err=True)
    problem = None if decided.asked is None else decided.asked.problem
    if problem is not None:
        echo(f"warning: The record has no outcomes of the alternatives: {problem}", err=True)


def _fail(decided: Trace, record: Path | None) -> None:
    """Name the record, and raise the error that ended the decision, if it has no answer."""
    from dqa.core.decision import Ending

    problem = decided.error or "A server, the network or a provider failed."
    if decided.ending is Ending.INFRASTRUCTURE:
        raise InfrastructureError(problem)
    if decided.ending is Ending.BUDGET:
        raise BudgetSpentError(problem)
    if decided.ending is Ending.CRASHED:
        where = "--debug shows its traceback" if record is None else f"its traceback is in {record}"
        raise CrashError(
            f"{decided.decider} crashed, which is a bug: {problem}; {where}. Report it to "
            f"whoever maintains {decided.decider}."
        )
    is_answered = decided.ending is Ending.ANSWERED
    if record is not None and (sys.stderr.isatty() or not is_answered):
        echo(f"The record is {record}; '{own_command()} trace {record}' shows it.", err=True)
    if not is_answered:
        raise typer.Exit(1)


@contextmanager
def _new_file(path: Path | None) -> Iterator[None]:
    """Create the trace's file before anything is asked; remove it if nothing was decided."""
    if path is None:
        yield
        return
    require_new_file(path)
    open_to_add(path, new=True).close()
    try:
        yield
    except BaseException:
        path.unlink()
        raise


def _write_trace(path: Path, written: object) -> None:
    try:
        write_private(path, json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise UsageError(f"{problem_of_path(path, error, writing=True)}.") from error


_RAISED = ("infrastructure", "budget", "crashed")
"""Endings whose error is printed by the command's end, on standard error."""


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
    shown = decided.error is not None and decided.ending not in _RAISED
    lines.append(f"{ending}. {decided.error}" if shown else ending)
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
