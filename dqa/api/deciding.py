"""Decisions that others ask for: who makes them is settled before, what is decided comes later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from dqa import plugins
from dqa.api.asking import AskedQuestion, ask, connect_decider
from dqa.api.evaluating import Named, default_deciders
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Ending
from dqa.core.errors import (
    BudgetSpentError,
    CrashError,
    InfrastructureError,
    UnknownNameError,
    UsageError,
)
from dqa.core.events import ReviewAction, ReviewEvent, ReviewKind
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.review import Reviewer, reviews_in
from dqa.core.secrets import redact
from dqa.core.text import counted
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.traces import Trace
from dqa.scenarios import scenario_name

_MOST_STATEMENTS = 50
_LONGEST = 4_000
"""Characters of a text of a decision: a plan, a statement, an answer."""


class DecidedStatement(Record):
    """A statement that a decision rests on, and what became of it."""

    statement: str
    row_count: int
    error: str | None = None


class DecidedReview(Record):
    """What a person was asked to approve, and what was said; see `dqa.core.events.ReviewEvent`."""

    about: ReviewKind
    text: str
    action: ReviewAction
    correction: str | None = None
    reason: str = ""
    by: str = ""

    @classmethod
    def of(cls, event: ReviewEvent) -> Self:
        """Return what is told of a review."""
        corrected = event.correction
        return cls(
            about=event.about,
            text=_bounded(event.text),
            action=event.action,
            correction=None if corrected is None else _bounded(corrected),
            reason=_bounded(event.reason),
            by=event.by,
        )


class Decided(Record):
    """A decision, as whoever asked for it is told.

    Attributes
    ----------
    choice
        What was chosen of the candidates; None where nothing was.
    answer
        The decider's own words.
    ending
        How it ended: ``answered``, or why there is no answer.
    error
        What went wrong, where there is no answer.
    decider, model
        Who decided.
    plan
        The last plan; empty where there was none.
    statements
        What was asked of the database, in order, the first 50.
    reviews
        What people were asked to approve, and said, in order.
    warnings
        What the decision does not take into account.
    input_tokens, output_tokens, cost
        What it took; `cost` where prices are known.
    """

    choice: Candidate | None
    answer: str
    ending: Ending
    error: str | None = None
    decider: str
    model: str
    plan: str = ""
    statements: tuple[DecidedStatement, ...] = ()
    reviews: tuple[DecidedReview, ...] = ()
    warnings: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Return what is told of a decision.

        Raises
        ------
        InfrastructureError, BudgetSpentError, CrashError
            That is what ended it: it says nothing about the question.
        """
        if trace.ending is Ending.INFRASTRUCTURE:
            raise InfrastructureError(trace.error or "A server or a provider failed.")
        if trace.ending is Ending.BUDGET:
            raise BudgetSpentError(trace.error or "The budget is spent.")
        if trace.ending is Ending.CRASHED:
            raise CrashError(f"{trace.decider} crashed, which is a bug: {trace.error}")
        return cls(
            choice=trace.choice,
            answer=_bounded(trace.answer),
            ending=trace.ending,
            error=None if trace.error is None else _bounded(trace.error),
            decider=trace.decider,
            model=trace.model,
            plan=_bounded(trace.plans[-1]) if trace.plans else "",
            statements=tuple(
                DecidedStatement(
                    statement=_bounded(asked.statement),
                    row_count=asked.row_count,
                    error=asked.error,
                )
                for asked in trace.evidence[:_MOST_STATEMENTS]
            ),
            reviews=tuple(DecidedReview.of(event) for event in reviews_in(trace.events)),
            warnings=tuple(map(_bounded, trace.warnings)),
            input_tokens=trace.usage.input_tokens,
            output_tokens=trace.usage.output_tokens,
            cost=trace.cost,
        )

    def to_text(self) -> str:
        """Return the decision as a model reads it."""
        lines = [
            "No decision." if self.choice is None else f"Choice: {self.choice}",
            f"Answer: {self.answer or '(none)'}",
            f"Ended: {self.ending}." + (f" {self.error}" if self.error else ""),
        ]
        if self.plan:
            lines.append(f"Plan:\n{self.plan}")
        lines.append(f"Evidence: {counted(len(self.statements), 'statement')}")
        lines += [asked.statement for asked in self.statements]
        lines += [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


def _bounded(text: str) -> str:
    told = redact(text)
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}..."


class Decisions:
    """Has questions decided, all by the same decider and model.

    Parameters
    ----------
    decider
        Who decides, by name, or itself; by default the one that a package names for it.
    calls
        How models are called; a budget is one question's.
    scenarios
        Scenarios whose question may be asked, by name or folder.
    **deciding
        The fields of a `Deciding`: model, planner, protocol, settings, ...

    Raises
    ------
    UsageError
        Something cannot be as it is asked for, or the decider needs a model and none is given.
    """

    def __init__(
        self,
        decider: Named | None = None,
        *,
        calls: CallOptions = DEFAULT_CALLS,
        scenarios: Sequence[str] = (),
        **deciding: Any,  # noqa: ANN401  (fields of the spec)
    ) -> None:
        if calls.record is not None:
            raise UsageError(
                "record (--record) keeps the replies to one question, and here several may be "
                "asked: leave it out."
            )
        self._scenarios: Mapping[str, str] = {scenario_name(given): given for given in scenarios}
        self._decider = default_deciders("ask")[0] if decider is None else decider
        self._calls, self._deciding = calls, deciding
        self._check()

    def _check(self) -> None:
        """Make the decider once, so that a wrong name, key or setting is told at the start."""
        decider = self._decider
        name = decider if isinstance(decider, str) else decider.name
        made = plugins.decider(decider) if isinstance(decider, str) else decider
        if not isinstance(made, Decider) and made.needs_model and "model" not in self._deciding:
            raise UsageError(f"The decider '{name}' asks a chat model: name one (--model).")
        asking, _, connected = connect_decider(decider, self._calls, self._deciding)
        connected.deciders(asking.rule_set)

    def ask(  # noqa: PLR0913  (each is a question of its own to the caller)
        self,
        database: Database,
        question: str | None = None,
        *,
        rules: str | None = None,
        candidates: Sequence[Candidate] | None = None,
        candidates_statement: str | None = None,
        scenario: str | None = None,
        target: Mapping[str, str] | None = None,
        reviewer: Reviewer | None = None,
        review: Sequence[ReviewKind] = (),
    ) -> Decided:
        """Have one question decided; as `dqa.ask`, of which it takes what another agent may say.

        `reviewer` and `review` are the caller's own, and no argument of the tool.

        Raises
        ------
        UsageError
            These make no question.
        QueryError, DataError
            The question cannot be made of what the database holds.
        InfrastructureError, BudgetSpentError, CrashError
            No decision came of it, which says nothing about the question.
        """
        if scenario is None and question is None:
            also = f", or a scenario ({', '.join(self._scenarios)})" if self._scenarios else ""
            raise UsageError(f"Say what is to be decided: give a question{also}.")
        if scenario is not None and scenario not in self._scenarios:
            raise UnknownNameError("scenario", scenario, self._scenarios)
        if candidates is not None and candidates_statement is not None:
            raise UsageError(
                "candidates and candidates_statement both say what can be chosen: give one."
            )
        asked = AskedQuestion(
            question=question,
            scenario=None if scenario is None else self._scenarios[scenario],
            target=target or {},
            rules=rules,
            candidates=candidates_statement if candidates is None else tuple(candidates),
        )
        return Decided.of(
            ask(
                database,
                asked,
                decider=self._decider,
                calls=self._calls,
                reviewer=reviewer,
                review=review,
                **self._deciding,
            )
        )
