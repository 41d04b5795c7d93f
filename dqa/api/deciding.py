"""Decisions for other programs: one decider and model, many questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator

from dqa import plugins
from dqa.api.asking import AskedQuestion, ask, connect_decider
from dqa.api.evaluating import default_deciders
from dqa.api.running import Named, name_deciders
from dqa.core.database import Database
from dqa.core.decision import Ending
from dqa.core.errors import (
    BudgetSpentError,
    CrashError,
    InfrastructureError,
    UnknownNameError,
    UsageError,
)
from dqa.core.events import ReviewAction, ReviewKind
from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.core.review import Reviewer, reviews_in
from dqa.core.secrets import redact
from dqa.core.text import counted
from dqa.deciders.base import DeciderFactory
from dqa.evaluation.options import DEFAULT_CALLS, CallOptions
from dqa.evaluation.traces import Trace
from dqa.scenarios import scenario_name

_MOST_STATEMENTS = 50
_LONGEST = 4_000
"""Characters of a text of a decision: a plan, a statement, an answer."""


def bounded(text: str) -> str:
    """Return a text for another program: without secrets, and of bounded length."""
    shown = redact(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


_Text: TypeAlias = Annotated[str, AfterValidator(bounded)]


class DecidedStatement(Record):
    """A statement that a decision rests on, and its result."""

    statement: _Text
    row_count: int
    error: str | None = None


class DecidedReview(Record):
    """What a person was asked to approve, and the answer; see `dqa.core.events.ReviewEvent`."""

    about: ReviewKind
    text: _Text
    action: ReviewAction
    correction: _Text | None = None
    reason: _Text = ""
    by: str = ""


class Decided(Record):
    """A decision as another program receives it.

    Attributes
    ----------
    choice
        The chosen candidate; None for none.
    answer
        The decider's own words.
    ending
        How it ended: ``answered``, or why there is no answer.
    error
        What went wrong, if there is no answer.
    decider, model
        Who decided.
    plan
        The last plan; empty without one.
    statements
        The statements that ran, in order, the first 50.
    reviews
        What people were asked to approve, and their answers, in order.
    warnings
        What the decision does not take into account.
    input_tokens, output_tokens, cost
        What it used; `cost` if prices are known.
    """

    choice: Candidate | None
    answer: _Text
    ending: Ending
    error: _Text | None = None
    decider: str
    model: str
    plan: _Text = ""
    statements: tuple[DecidedStatement, ...] = ()
    reviews: tuple[DecidedReview, ...] = ()
    warnings: tuple[_Text, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Return the decision of a trace.

        Raises
        ------
        InfrastructureError, BudgetSpentError, CrashError
            It ended so, which says nothing about the question.
        """
        if trace.ending is Ending.INFRASTRUCTURE:
            raise InfrastructureError(trace.error or "A server or a provider failed.")
        if trace.ending is Ending.BUDGET:
            raise BudgetSpentError(trace.error or "The budget is spent.")
        if trace.ending is Ending.CRASHED:
            raise CrashError(f"{trace.decider} crashed, which is a bug: {trace.error}")
        same = ("choice", "answer", "ending", "error", "decider", "model", "warnings", "cost")
        found = {
            **{name: getattr(trace, name) for name in same},
            "plan": trace.plans[-1] if trace.plans else "",
            "statements": trace.evidence[:_MOST_STATEMENTS],
            "reviews": reviews_in(trace.events),
            "input_tokens": trace.usage.input_tokens,
            "output_tokens": trace.usage.output_tokens,
        }
        return cls.model_validate(found, from_attributes=True)

    def to_text(self) -> str:
        """Return the decision as a model reads it."""
        lines = [
            "No decision." if self.choice is None else f"Choice: {self.choice}",
            f"Answer: {self.answer or '(none)'}",
            f"Ended: {self.ending}." + (f" {self.error}" if self.error else ""),
            *([f"Plan:\n{self.plan}"] if self.plan else []),
            f"Evidence: {counted(len(self.statements), 'statement')}",
            *(asked.statement for asked in self.statements),
            *(f"Warning: {warning}" for warning in self.warnings),
        ]
        return "\n".join(lines)


class Decisions:
    """Decides questions, all by the same decider and model.

    Parameters
    ----------
    decider
        Who decides, as a name or an object; by default the one that a package names for it.
    calls
        How models are called; a budget is for one question.
    scenarios
        Scenarios whose question may be asked, by name or folder.
    **deciding
        The fields of a `Deciding`: model, planner, protocol, settings, ...

    Raises
    ------
    UsageError
        An argument is wrong, or the decider needs a model and none is given.
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
                "record (--record) records the replies to one question, and here several may be "
                "asked: leave it out."
            )
        self._scenarios: Mapping[str, str] = {scenario_name(given): given for given in scenarios}
        self._decider = default_deciders("ask")[0] if decider is None else decider
        self._calls, self._deciding = calls, deciding
        # A wrong name, key or setting is an error at once.
        (name,), given = name_deciders(self._decider)
        maker = given.get(name) or plugins.decider(name)
        if isinstance(maker, DeciderFactory) and maker.needs_model and "model" not in deciding:
            raise UsageError(f"The decider '{name}' asks a chat model: name one (--model).")
        asking, _, connected = connect_decider(self._decider, calls, deciding)
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
        """Decide one question, as `dqa.ask` does.

        `reviewer` and `review` are the caller's own; another agent cannot set them.

        Raises
        ------
        UsageError
            The arguments do not make a question.
        QueryError, DataError
            The question cannot be made of the database's contents.
        InfrastructureError, BudgetSpentError, CrashError
            No decision was made, which says nothing about the question.
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
        how = {"decider": self._decider, "calls": self._calls, **self._deciding}
        return Decided.of(ask(database, asked, reviewer=reviewer, review=review, **how))
