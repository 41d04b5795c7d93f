"""The reviews of one decision: begun for a question, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import StoppedError
from dqa.core.events import EndingEvent
from dqa.core.question import Candidate, Question
from dqa.core.review import Reviewing, Settled, current_reviewing, reviewed_by
from dqa.deciders.answers import choice_of
from dqa.deciders.choices import choices_of
from dqa.deciders.reviewing import settle_decision
from dqa.deciders.statements import read_statement
from dqa.evaluation.crashes import ended_by


@contextmanager
def reviewing_of(reviewing: Reviewing | None, question: Question) -> Iterator[None]:
    """Let a question be decided under somebody's eyes; under nobody's for None."""
    if reviewing is not None:
        reviewing.question = question.text
    with reviewed_by(reviewing):
        yield


def stopped_by(error: StoppedError, reviewing: Reviewing | None) -> Decision:
    """Return the decision that a person ended, with what happened until then."""
    recorder = None if reviewing is None else reviewing.recorder
    return ended_by(error) if recorder is None else recorder.failed(error)


def review_decision(decision: Decision, question: Question, database: Database) -> Decision:
    """Return a decision as a person lets it stand.

    A decider that goes on after a refusal has asked before; the decision of any other one is none
    where it is refused.

    Raises
    ------
    UsageError, InfrastructureError
        The candidates cannot be listed.
    """
    reviewing = current_reviewing()
    if reviewing is None or decision.ending is not Ending.ANSWERED or reviewing.has_decided:
        return decision
    before = len(reviewing.events)

    def choose(answer: str) -> Candidate | None:
        if question.answer_form == "statement":
            return read_statement(answer, database)
        return choice_of(answer, question, choices_of(question, database))

    try:
        settled, choice = settle_decision(decision.answer, decision.choice, choose)
        problem = _refused(settled)
    except StoppedError as error:
        settled, choice, problem = Settled(None), None, str(error)
    trace = (*decision.trace, *reviewing.events[before:])
    if settled.text is not None:
        return replace(decision, answer=settled.text, choice=choice, trace=trace)
    ended = EndingEvent.of(Ending.STOPPED, decision.steps, problem)
    return replace(
        decision,
        ending=Ending.STOPPED,
        answer="",
        choice=None,
        error=problem,
        trace=(*trace, ended),
    )


def _refused(settled: Settled) -> str:
    who = f" ({settled.by})" if settled.by else ""
    why = f": {settled.reason}" if settled.reason else ""
    return f"A person{who} refused the decision{why}. Its decider cannot go on from there."
