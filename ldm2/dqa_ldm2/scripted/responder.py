"""Scripted replies to LDM2's steps, to try the method without a model.

The script imitates. It prefers the legal action that is most similar to the goal and to the actions
of the remembered tuples and examples, and that was not taken before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dqa.core.question import fits_form
from dqa.deciders.method import ScriptedReplies
from dqa_ldm2.likeness import likeness
from dqa_ldm2.steps import PACKAGE, first_difference

Values = Mapping[str, Any]
_DONE_AGAIN = 0.25
"""An action's worth is multiplied by this factor for each time that the action was taken."""


def _rank(values: Values) -> list[str]:
    """Return the possible actions, best first."""
    if "shown" in values:
        examples = [
            (process.goal, step.observation, step.action)
            for process in values["shown"].processes
            for step in process.steps
        ]
    else:
        examples = [(one.goal, one.observation, one.action) for one in values["remembered"]]
    done = [step.action for step in values["steps"]]

    def worth(action: str) -> float:
        fits = (
            likeness(did, action)
            * (0.2 + likeness(seen, values["observation"]))
            * (0.2 + likeness(goal, values["goal"]))
            for goal, seen, did in examples
        )
        worth = max(fits, default=0.0) + 0.2 * likeness(action, values["goal"])
        return worth * _DONE_AGAIN ** done.count(action)

    form = values["free_form"]
    written = [action for *_, action in examples if form and fits_form(action, form)]
    if not written and not values["legal"]:
        written = [form.rpartition(" or ")[2].replace("...", " ".join(values["goal"].split()))]
    return sorted(dict.fromkeys([*values["legal"], *written]), key=lambda one: -worth(one))


def _act(values: Values) -> object:
    return {"reasoning": "It is what was done there.", "action": _rank(values)[0]}


def _explore(values: Values) -> object:
    best = _rank(values)[: values["most"]]
    total = sum(0.5**place for place in range(len(best)))
    shares = ((one, round(0.5**place / total, 4)) for place, one in enumerate(best))
    return {"actions": [{"action": one, "confidence": share} for one, share in shares]}


def _summarise(values: Values) -> object:
    done = "; ".join(step.action for step in values["steps"])
    return {"summary": f"{values['before'] or 'Did:'} {done};"}


def _cluster(values: Values) -> object:
    """Sort texts by their first words."""
    types: dict[str, list[int]] = {}
    for number, text in enumerate(values["texts"], 1):
        types.setdefault(" ".join(text.split()[:2]), []).append(number)
    return {"types": types}


def _index(values: Values) -> object:
    scores = [
        max(likeness(values["text"], text) for text in (one.name, *one.examples))
        for one in values["types"]
    ]
    return {"type": scores.index(max(scores)) + 1}


def _compare(values: Values) -> object:
    best, ground = (one.steps for one in values["processes"])
    return {"step": min(first_difference(best, ground), len(best))}


def _think(values: Values) -> object:
    return {"thoughts": [["It leads to the goal."] * len(one.steps) for one in values["processes"]]}


RESPONDER = ScriptedReplies(
    PACKAGE,
    {
        "action": _act,
        "whole": _act,
        "exploration": _explore,
        "evaluation": lambda values: {"subgoals": [{"goal": values["goal"], "complete": False}]},
        "summary": _summarise,
        "cluster": _cluster,
        "index": _index,
        "comparison": _compare,
        "thoughts": _think,
        "choice": lambda _: {"best": 1},
        "reflection": lambda _: {"reflection": "Try what was not tried."},
    },
)
"""Answers every prompt of the package."""
