"""Record the plan in a reply, after a person has approved it if necessary."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.messages import BaseMessage, HumanMessage

from dqa.core.events import PlanEvent
from dqa.core.plans import steps_of
from dqa.deciders.reviewing import describe_plan, settle_plan
from dqa_planrag.protocols import TalkProtocol
from dqa_planrag.reply import Reply
from dqa_planrag.run import Run

_NOT_RUN = "Not run, because a person refused or changed the plan."


def settle(run: Run, reply: Reply, talk: TalkProtocol, *, replans: bool) -> Reply:
    """Record the plan in a reply. Return the reply, without its actions if the plan was refused."""
    plans = run.recorder.plans
    text = _new_plan(reply, plans, replans=replans)
    settled = None if text is None else settle_plan(text)
    is_first = not plans
    if settled is not None and settled.text is not None:
        plans.append(settled.text)
        event = PlanEvent(step=run.recorder.steps, text=settled.text)
        run.recorder.note(event if is_first else event.changed(kind="replan"))
    if settled is not None and (settled.text is None or settled.corrected):
        return _set_aside(run, reply, talk, describe_plan(settled, is_first=is_first))
    if not reply.acts:
        run.say(talk.after_plan)
    return reply


def _set_aside(run: Run, reply: Reply, talk: TalkProtocol, message: str) -> Reply:
    """Cancel the actions of a reply whose plan was refused or corrected, and explain why."""
    messages: list[BaseMessage] = [HumanMessage(message)]
    if reply.requests:
        messages = talk.observed([(request, _NOT_RUN) for request in reply.requests], message)
    elif reply.answer is not None:
        messages = talk.objected(reply, message)
    run.messages += messages
    return replace(reply, requests=(), answer=None, answer_id="", only_thinks=False)


def _new_plan(reply: Reply, plans: list[str], *, replans: bool) -> str | None:
    """Return the new plan in a reply; None if there is none."""
    if not plans:
        return reply.plan or reply.replan
    if reply.keeps or not replans:
        return None
    # A model that writes different steps after "Plan:" has re-planned under the wrong label.
    text = reply.replan or reply.plan
    return text if text is not None and _steps(text) != _steps(plans[-1]) else None


def _steps(plan: str) -> list[str]:
    """Return the steps of a plan without numbers, capitals and punctuation."""
    return [step.bare for step in steps_of(plan)]
