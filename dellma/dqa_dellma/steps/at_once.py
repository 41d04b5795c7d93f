"""The decision of a run that its budget ends: asked for once, by the rows that were read."""

from __future__ import annotations

from dataclasses import replace

from dqa.core.decision import Decision, Ending
from dqa.core.endings import EXPECTED_FAILURES
from dqa.core.errors import UnparsableReplyError
from dqa.core.events import BudgetEvent, ReplyEvent
from dqa.core.recorder import Recorder
from dqa.deciders.replies import read_action, read_decision, read_object
from dqa.models.conversation import Conversation
from dqa_dellma.context.briefing import Briefing
from dqa_dellma.context.problem import Problem
from dqa_dellma.steps.choosing import Chosen
from dqa_dellma.steps.direct import ZeroShot


def decide_at_once(briefing: Briefing | None, conversation: Conversation, most: int) -> Decision:
    """Return the decision that the model makes in one reply, or else the last that it stated.

    Parameters
    ----------
    briefing
        What was read; None where that is nothing.
    conversation
        What is asked in; its recorder knows which budget is spent.
    most
        Most characters of the problem.
    """
    recorder = conversation.recorder
    problem = None if briefing is None else briefing.cut_problem(max(most, briefing.least))
    if problem is not None and _may_ask(recorder):
        try:
            chosen = ZeroShot().choose(problem, "", replace(conversation, max_failures=1))
            return recorder.answered(chosen.answer, chosen.action)
        except UnparsableReplyError:
            pass  # the recorder has why
        except EXPECTED_FAILURES as failure:
            return recorder.failed(failure)
    stated = None if problem is None else _last_stated(recorder, problem)
    if stated is not None:
        return recorder.answered(stated.answer, stated.action)
    return recorder.ended(
        Ending.NO_DECISION,
        f"The budget of {recorder.spent} was spent before a decision was stated.",
    )


def _may_ask(recorder: Recorder) -> bool:
    return any(isinstance(event, BudgetEvent) and event.asked for event in recorder.events)


def _last_stated(recorder: Recorder, problem: Problem) -> Chosen | None:
    """Return what a reply decided, such as a vote; the last one."""
    for event in reversed(recorder.events):
        if isinstance(event, ReplyEvent):
            try:
                said = read_decision(read_object(event.text, "decision"))
                if said is not None:
                    return Chosen(said, read_action(said, problem.actions, problem.noun))
            except UnparsableReplyError:
                continue
    return None
