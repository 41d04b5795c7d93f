"""Scripted replies to the steps of DeLLMa and its baselines.

The analyst works for any scenario. The worth of an action is the last number in the first row that
names the action. The actions with the largest worth have one factor each. This factor, the outlook,
says whether the true worth of the action is lower or higher.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from dqa.deciders.prompting import on_one_line
from dqa.models.scripted import ScriptedReplies
from dqa.models.scripted.figures import figures_of

_SAME = 1e-9
"""The relative difference below which two figures count as equal."""
_OUTLOOK = "outlook of "
_CHANGES: Mapping[str, tuple[float, str]] = {
    "worse than it looks": (0.75, "somewhat unlikely"),
    "as it looks": (1.0, "likely"),
    "better than it looks": (1.25, "somewhat unlikely"),
}
"""For each value of an outlook: the multiplier of the worth, and the likelihood."""

Asked: TypeAlias = Mapping[str, Any]
"""The values of a prompt."""


def _enumerate(request: Asked) -> object:
    actions, figures, width = _actions(request), _figures(request), request["values"]
    values = list(_CHANGES)[:width] if width > 2 else [next(iter(_CHANGES)), list(_CHANGES)[-1]]
    weightiest = sorted(actions, key=lambda action: -figures[action])[: request["factors"]]
    return {
        "factors": [
            {"name": f"{_OUTLOOK}{one}", "actions": [actions.index(one) + 1], "values": values}
            for one in weightiest
        ]
    }


def _forecast(request: Asked) -> object:
    usual = (1.0, "somewhat likely")
    beliefs = {
        name: {value: _CHANGES.get(value, usual)[1] for value in values}
        for name, values in request["factors"].items()
    }
    return {"beliefs": beliefs}


def _rank(request: Asked) -> object:
    figures = _figures(request)
    worth = {}
    for rank, item in enumerate(request["items"], start=1):
        action = on_one_line(item["action"])
        outlook = item["state"].get(f"{_OUTLOOK}{action}", "")
        worth[rank] = figures[action] * _CHANGES.get(outlook, (1.0, ""))[0]
    return {"working": "", "rank": rank_by(worth, ties=request["ties"])}


def rank_by(worth: Mapping[int, float], *, ties: bool) -> list[object]:
    """Return the keys in descending order of worth.

    If `ties` is true, keys with equal worth form a list within the result.
    """
    groups: list[list[int]] = []
    for index in sorted(worth, key=lambda index: (-worth[index], index)):
        same = groups and math.isclose(worth[groups[-1][0]], worth[index], rel_tol=_SAME)
        if not (same and ties):
            groups.append([])
        groups[-1].append(index)
    return [one if len(one) > 1 else one[0] for one in groups]


def _decide(request: Asked) -> object:
    actions, figures = _actions(request), _figures(request)
    best = max(actions, key=figures.__getitem__)
    named = f"Action {actions.index(best) + 1}. {best}"
    return {"decision": named, "explanation": "It has the best figure."}


def _think(_: Asked) -> object:
    return "Each action may turn out worse or better than the figures say, and neither is likely."


RESPONDER = ScriptedReplies(
    "dqa_dellma",
    {
        "enumeration": _enumerate,
        "forecasting": _forecast,
        "elicitation": _rank,
        "zero_shot": _decide,
        "thought_factors": _think,
        "thought_chances": _think,
        "thought_decision": _decide,
    },
)
"""Answers every prompt of the package."""


def _actions(request: Asked) -> list[str]:
    return [on_one_line(action) for action in request["problem"].actions]


def _figures(request: Asked) -> Mapping[str, float]:
    return figures_of(_actions(request), request["problem"].context, number=-1)
