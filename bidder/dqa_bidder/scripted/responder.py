"""Scripted replies to BIDDER and its baselines.

They know no game: an action is worth the first figure that rows give next to it, and a random
number if no row has any. ``greedy`` looks at no return; ``random`` draws.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dqa.deciders.method import ScriptedReplies
from dqa_bidder.task import Task

_MOST_WORDS = 80
"""Most characters of a question that are used where free words are expected."""


def _infer(asked: Mapping[str, Any], script: str, seed: int) -> object:
    del script, seed
    found: dict[str, dict[str, str]] = {}
    for one in asked["variables"]:
        found.setdefault(one.player, {})[one.name] = one.states[len(one.states) // 2]
    return {"reasoning": "", "hidden": found}


def _expect(asked: Mapping[str, Any], script: str, seed: int) -> object:
    del script
    return {"reasoning": "", "action": _ranked(_drawn(asked, seed))[0]}


def _estimate(asked: Mapping[str, Any], script: str, seed: int) -> object:
    worth = _worth(asked, script, seed)
    best = _ranked(worth)[: asked["most"]]
    return {"reasoning": "", "payoffs": {one: worth[one] for one in best}}


def _propose(asked: Mapping[str, Any], script: str, seed: int) -> object:
    worth = _worth(asked, script, seed)
    best = _ranked(worth)[: asked["count"]]
    return {
        "thoughts": [
            {"thought": f"{one} is worth {worth[one]:.3g}.", "action": one} for one in best
        ]
    }


def _vote(asked: Mapping[str, Any], script: str, seed: int) -> object:
    worth = _worth(asked, script, seed)
    values = [worth.get(str(thought.action), 0.0) for thought in asked["thoughts"]]
    decide = any(thought.action is not None for thought in asked["thoughts"])
    return {"reasoning": "", "best": 1 + values.index(max(values)) if decide else 1}


def _decide(asked: Mapping[str, Any], script: str, seed: int) -> object:
    returns = {str(o.action): o.value for o in asked.get("returns", ()) if o.value is not None}
    if script != "analyst" or not returns:
        returns = dict(_worth(asked, script, seed))
    return {"reasoning": "", "action": max(returns, key=lambda action: returns[action])}


def _worth(asked: Mapping[str, Any], script: str, seed: int) -> Mapping[str, float]:
    """Return what each legal action is worth, from 0 to 1, in legal order."""
    task: Task = asked["task"]
    if not asked["legal"] and asked["form"]:
        words = " ".join(task.goal.split())[:_MOST_WORDS] or "anything"
        return {asked["form"].replace("...", words): 1.0}
    figures = _by_rows(asked["legal"], task.rows)
    has_figures = len({*figures.values()}) > 1
    return figures if script != "random" and has_figures else _drawn(asked, seed)


def _by_rows(actions: list[str], rows: str) -> Mapping[str, float]:
    """Return the first figure that rows give next to each action, scaled from 0 to 1."""
    figures = dict.fromkeys(actions, 0.0)
    seen: set[str] = set()
    for line in rows.split("\n"):
        try:
            row = json.loads(line) if line.startswith("[") else []
        except ValueError:
            continue  # the end of a row that was cut
        cells = [str(cell) for cell in row]
        for action in {cell for cell in cells if cell in figures} - seen:
            after = row[cells.index(action) + 1 :]
            numbers = [cell for cell in after if isinstance(cell, int | float)]
            if numbers:
                figures[action] = float(numbers[0])
                seen.add(action)
    low, high = min(figures.values(), default=0.0), max(figures.values(), default=0.0)
    width = high - low
    return {one: (figure - low) / width if width else 0.5 for one, figure in figures.items()}


def _drawn(asked: Mapping[str, Any], seed: int) -> Mapping[str, float]:
    """Draw a number for each action, others for each prompt."""
    drawn = {}
    for action in asked["legal"]:
        digest = hashlib.sha256(f"{seed}\n{action}\n{asked['prompt']}".encode()).digest()
        drawn[action] = int.from_bytes(digest[:6], "big") / 2**48
    return drawn


def _ranked(worth: Mapping[str, float]) -> list[str]:
    return sorted(worth, key=lambda action: -worth[action])


RESPONDER = ScriptedReplies(
    "dqa_bidder",
    {
        "inference": _infer,
        "modeling": _expect,
        "rewards": _estimate,
        "thoughts": _propose,
        "vote": _vote,
        **dict.fromkeys(("decision", "direct", "cot", "reflection"), _decide),
    },
)
"""Answers every prompt of the package."""
