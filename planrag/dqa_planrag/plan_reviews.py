"""Let a person review plans. `dqa.deciders.reviewing` reviews statements and decisions."""

from __future__ import annotations

from dataclasses import replace

from dqa.core.plans import list_in
from dqa.core.review import Review, Settled, current_reviewing
from dqa.deciders.reviewing import describe_refusal

_ONWARD = "Continue with its first step that is not finished."


def settle_plan(plan: str) -> Settled:
    """Let a person review a model's plan before it is used."""
    reviewing = current_reviewing()
    if reviewing is None or "plan" not in reviewing.kinds:
        return Settled(plan)
    settled = reviewing.settle(Review(kind="plan", text=plan))
    return replace(settled, text=_listed(settled.text or "")) if settled.corrected else settled


def describe_plan(settled: Settled, *, is_first: bool) -> str:
    """Return the message to the model about a plan that a person refused or corrected."""
    if settled.text is None:
        return describe_refusal(settled, "plan" if is_first else "new plan")
    why = f" Reason: {settled.reason}." if settled.reason else ""
    corrected = f"A person corrected your plan.{why} This is the plan from now on:"
    return f"{corrected}\n{settled.text}\n{_ONWARD}"


def _listed(plan: str) -> str:
    """Return a plan as a numbered list. If the plan has no numbers, each line gets a number."""
    if list_in(plan) is not None:
        return plan
    lines = filter(None, map(str.strip, plan.splitlines()))
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
