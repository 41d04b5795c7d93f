"""Scripted replies to the prompts of BIDDER and its baselines.

The scripted replies do not depend on the game. The worth of an action is the first figure after its
name in the rows, or a random number if no row has a figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dqa.models.scripted import ScriptedReplies
from dqa.models.scripted.figures import draw_figures, figures_of
from dqa_bidder.task import Task

_LONGEST = 80
"""A free-form action contains at most this number of characters of the question."""


def _infer(request: Mapping[str, Any]) -> object:
    found: dict[str, dict[str, str]] = {}
    for one in request["variables"]:
        found.setdefault(one.player, {})[one.name] = one.states[len(one.states) // 2]
    return {"reasoning": "", "hidden": found}


def _expect(request: Mapping[str, Any]) -> object:
    drawn = draw_figures(request, request["legal"])
    best = _ranked(drawn)
    if not request["several"]:
        return {"reasoning": "", "action": best[0]}
    return {"reasoning": "", "probabilities": {one: drawn[one] for one in best[: request["most"]]}}


def _end(request: Mapping[str, Any]) -> object:
    low, high = request["range"]
    (share,) = draw_figures(request, ["end"]).values()
    return {"reasoning": "", "payoff": low + share * (high - low)}


def _estimate(request: Mapping[str, Any]) -> object:
    worth = _worth(request)
    best = _ranked(worth)[: request["most"]]
    low, high = request["range"]
    return {"reasoning": "", "payoffs": {one: low + worth[one] * (high - low) for one in best}}


def _propose(request: Mapping[str, Any]) -> object:
    worth = _worth(request)
    best = _ranked(worth)[: request["count"]]
    thoughts = ({"thought": f"{one} is worth {worth[one]:.3g}.", "action": one} for one in best)
    return {"thoughts": list(thoughts)}


def _vote(request: Mapping[str, Any]) -> object:
    worth = _worth(request)
    values = [worth.get(str(thought.action), 0.0) for thought in request["thoughts"]]
    decide = any(thought.action is not None for thought in request["thoughts"])
    return {"reasoning": "", "best": 1 + values.index(max(values)) if decide else 1}


def _decide(request: Mapping[str, Any]) -> object:
    returns = {str(o.action): o.value for o in request.get("returns", ()) if o.value is not None}
    returns = returns or dict(_worth(request))
    return {"reasoning": "", "action": max(returns, key=lambda action: returns[action])}


def _worth(request: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the worth of each legal action, from 0 to 1, in legal order."""
    task: Task = request["task"]
    if not request["legal"] and request["form"]:
        words = " ".join(task.goal.split())[:_LONGEST] or "anything"
        return {request["form"].replace("...", words): 1.0}
    figures = figures_of(request["legal"], task.rows)
    return figures if len({*figures.values()}) > 1 else draw_figures(request, request["legal"])


def _ranked(worth: Mapping[str, float]) -> list[str]:
    return sorted(worth, key=lambda action: -worth[action])


RESPONDER = ScriptedReplies(
    "dqa_bidder",
    {
        "inference": _infer,
        "modeling": _expect,
        "rewards": _estimate,
        "end": _end,
        "thoughts": _propose,
        "vote": _vote,
        **dict.fromkeys(("decision", "direct", "cot", "reflection"), _decide),
    },
)
"""Answers every prompt of the package."""
