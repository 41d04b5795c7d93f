"""The plan of an agent: which of its replies brings one, and what becomes of it before a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from dqa.core.events import PlanEvent
from dqa.core.plans import steps_of
from dqa.deciders.reviewing import settle_plan, told_corrected_plan, told_refused_plan
from dqa_planrag.protocols import protocol
from dqa_planrag.recipes import Recipe
from dqa_planrag.reply import Reply
from dqa_planrag.state import Role, Run, State, Update, note_prompt, reply_in

_NOT_RUN = "Not run, because a person did not take the plan that it follows."
_JUDGE_BY_IT = "Judge by it whatever is found."


class Planning:
    """Takes the plans that replies bring.

    Parameters
    ----------
    recipe
        The agent.
    talk
        Name of the protocol in which its model is spoken to.
    """

    def __init__(self, recipe: Recipe, talk: str) -> None:
        self._replans = recipe.replans
        self._protocol = protocol(talk)

    def settle(self, state: State, runtime: Runtime[Run]) -> Update:
        """Record the plan, or the one that replaces it."""
        run, reply, role = runtime.context, reply_in(state), state["role"]
        plans = run.recorder.plans
        text = _new_plan(reply, plans, replans=self._replans)
        only_plan = role == "agent" and not reply.acts
        onward: Update = {"messages": self._protocol.noted()} if only_plan else {}
        if text is None:
            return onward
        first, settled = not plans, settle_plan(text)
        if settled.text is None:
            return self._refused(reply, run, role, told_refused_plan(settled, is_first=first))
        text = settled.text
        plans.append(text)
        kind: Literal["plan", "replan"] = "plan" if first else "replan"
        run.recorder.note(PlanEvent(kind=kind, step=run.step(role), text=text))
        if role == "agent":
            if settled.corrected:
                return self._set_aside(reply, told_corrected_plan(settled))
            return onward
        told = HumanMessage(run.task(text) if first else f"New plan:\n{text}")
        if first:
            note_prompt(run.recorder, "agent", [*state["messages"], told])
        if settled.corrected:
            onward = {"planning": [HumanMessage(told_corrected_plan(settled, onward=_JUDGE_BY_IT))]}
        return {"messages": [told]} | onward

    def _set_aside(self, reply: Reply, told: str) -> Update:
        """Leave undone what stands beside a plan that does not hold, and say why."""
        if reply.requests:
            asked = [(request, _NOT_RUN) for request in reply.requests]
            messages = self._protocol.observed(asked, told)
        elif reply.answer is not None:
            messages = self._protocol.objected(reply, told)
        else:
            messages = [HumanMessage(told)]
        only_plan = replace(reply, requests=(), answer=None, answer_id="", only_thinks=False)
        return {"messages": messages, "reply": only_plan}

    def _refused(self, reply: Reply, run: Run, role: Role, told: str) -> Update:
        if role == "agent":
            return self._set_aside(reply, told)
        # The replies of a model that only plans are no steps; those that lead nowhere have to end.
        run.recorder.steps += 1
        return {"planning": [HumanMessage(told)], "problem": told}


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
