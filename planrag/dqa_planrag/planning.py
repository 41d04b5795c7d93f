"""The plan of an agent: which of its replies brings one, and what becomes of it before a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from langchain_core.messages import BaseMessage, HumanMessage

from dqa.core.events import PlanEvent
from dqa.core.plans import steps_of
from dqa.deciders.reviewing import settle_plan, told_corrected_plan, told_refused_plan
from dqa_planrag.protocols import TalkProtocol
from dqa_planrag.reply import Reply
from dqa_planrag.state import Role, Run

_NOT_RUN = "Not run, because a person did not take the plan that it follows."
_JUDGE_BY_IT = "Judge by it whatever is found."


def settle(run: Run, reply: Reply, role: Role, talk: TalkProtocol, *, replans: bool) -> Reply:
    """Record the plan that a reply brings, and return what is left of the reply to carry out."""
    plans = run.recorder.plans
    text = _new_plan(reply, plans, replans=replans)
    if text is None:
        if role == "agent" and not reply.acts:
            run.messages["agent"] += talk.noted()
        return reply
    first, settled = not plans, settle_plan(text)
    if settled.text is None:
        told = told_refused_plan(settled, is_first=first)
        if role == "agent":
            return _set_aside(run, reply, talk, told)
        # The replies of a model that only plans are no steps; those that lead nowhere have to end.
        run.recorder.steps += 1
        run.problem = told
        run.messages["planner"].append(HumanMessage(told))
        return reply
    plans.append(settled.text)
    kind: Literal["plan", "replan"] = "plan" if first else "replan"
    run.recorder.note(PlanEvent(kind=kind, step=run.step(role), text=settled.text))
    if role == "agent":
        if settled.corrected:
            return _set_aside(run, reply, talk, told_corrected_plan(settled))
        if not reply.acts:
            run.messages["agent"] += talk.noted()
        return reply
    later = HumanMessage(f"New plan:\n{settled.text}")
    run.messages["agent"].append(run.task(settled.text) if first else later)
    if first:
        run.note_prompt("agent")
    if settled.corrected:
        told = told_corrected_plan(settled, onward=_JUDGE_BY_IT)
        run.messages["planner"].append(HumanMessage(told))
    return reply


def _set_aside(run: Run, reply: Reply, talk: TalkProtocol, told: str) -> Reply:
    """Leave undone what stands beside a plan that does not hold, and say why."""
    messages: list[BaseMessage] = [HumanMessage(told)]
    if reply.requests:
        messages = talk.observed([(request, _NOT_RUN) for request in reply.requests], told)
    elif reply.answer is not None:
        messages = talk.objected(reply, told)
    run.messages["agent"] += messages
    return replace(reply, requests=(), answer=None, answer_id="", only_thinks=False)


def plan_in(reply: Reply) -> str | None:
    """Return the plan that a reply brings, under whichever name."""
    return reply.replan or reply.plan


def _new_plan(reply: Reply, plans: list[str], *, replans: bool) -> str | None:
    """Return the plan that `reply` brings, or None where it brings none that counts."""
    if not plans:
        return reply.plan or reply.replan
    if reply.keeps:
        return None
    # A model that repeats "Plan:" with other steps has re-planned under the wrong label.
    text = plan_in(reply)
    return text if replans and text is not None and _steps(text) != _steps(plans[-1]) else None


def _steps(plan: str) -> list[str]:
    """Return what a plan's steps say, without numbers, capitals and punctuation."""
    return [step.bare for step in steps_of(plan)]
