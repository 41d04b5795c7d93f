"""Scripted replies to LDM2 and its baselines, from the conversation alone.

``analyst`` imitates what a prompt remembers (`dqa_ldm2.scripted.imitating`), ``greedy`` the first
example alone, ``random`` draws. Every other operation is done by rule.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from dqa_ldm2.likeness import likeness, words_of
from dqa_ldm2.operations.judging import first_difference
from dqa_ldm2.queries.scripted import asks_for_statements, propose
from dqa_ldm2.scripted.imitating import DONE, confidences, rank_actions
from dqa_ldm2.scripted.reading import Asked, Example, asks, read_prompt

_TYPES = 12
"""Most types that are made at a time."""
_KEPT = 12
"""Most actions that a summary lists."""
_OPENING = 3
"""Words by which observations are told apart."""


class Ldm2Responder:
    """Answers every prompt of the package, as the entry point ``dqa.scripted`` names it."""

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation begins with one of the prompts."""
        return bool(messages) and asks(messages[0].text)

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[Any], script: str, seed: int
    ) -> AIMessage:
        """Return what a script says."""
        del tools
        told = reply_to(read_prompt(messages[0].text), script, seed)
        return AIMessage(json.dumps(told, ensure_ascii=False))


RESPONDER = Ldm2Responder()


def reply_to(asked: Asked, script: str, seed: int) -> dict[str, Any]:
    """Return the object that a script replies to a prompt with.

    Parameters
    ----------
    asked
        The prompt.
    script
        ``analyst``, ``greedy`` or ``random``; others reply as the analyst does.
    seed
        Of what is drawn.
    """
    if asks_for_statements(asked):
        return propose(asked, script, seed)
    by_rule = _RULES.get(asked.task.partition(" ")[0])
    if by_rule is not None:
        name, rule = by_rule
        return {name: rule(asked)}
    worth = rank_actions(asked, script, seed)
    if asked.task == "explore":
        shares = confidences(worth, asked.most)
        return {"actions": [{"action": one, "confidence": shares[one]} for one in shares]}
    return {"reasoning": "It does what was done there.", "action": next(iter(worth))}


def evaluate(asked: Asked) -> list[dict[str, Any]]:
    """Judge the parts of a goal: one is complete where what was done names all that it names."""
    parts = asked.subgoals or tuple(
        part.strip() for part in re.split(r"[.;,]| and ", asked.goal) if words_of(part)
    )
    done = set(words_of(" ".join(step.action for step in asked.steps)))
    found = []
    for part in parts or (asked.goal,):
        wanted = [word for word in words_of(part) if len(word) > 2]
        named = sum(word in done for word in wanted)
        found.append({"goal": part, "complete": bool(wanted) and named >= 0.6 * len(wanted)})
    return found


def summarise(asked: Asked) -> str:
    """List what was done, the last few actions by name; the same however it was asked."""
    _, _, told = asked.before.partition(DONE)
    before = [one.strip() for one in told.split(";") if one.strip()]
    done = [*before, *(step.action for step in asked.steps)]
    return DONE + "; ".join(done[-_KEPT:])


def cluster(asked: Asked) -> dict[str, list[int]]:
    """Sort texts: goals by the words that several have, observations by how they begin."""
    signature = _goal_signature(asked.texts) if "goal" in asked.task else _opening
    types: dict[str, list[int]] = {name: [] for name in asked.known}
    for number, text in enumerate(asked.texts, 1):
        name = signature(text) or "other"
        if name not in types and len(types) >= _TYPES:
            name = max(types, key=lambda one: likeness(words_of(one), words_of(name)))
        types.setdefault(name, []).append(number)
    return {name: numbers for name, numbers in types.items() if numbers}


def index(asked: Asked) -> int:
    """Return the type one of whose examples shares most words with the text."""
    words = words_of(asked.text)
    scores = [
        max(likeness(words, words_of(one)) for one in (*examples, "\n".join(examples), name))
        for name, examples in asked.types
    ]
    return scores.index(max(scores)) + 1


def choose(asked: Asked) -> int:
    """Return the process that looks most complete: nothing done twice, and few steps."""

    def looks(one: Example) -> tuple[float, int]:
        goal = set(words_of(asked.goal))
        named = goal & set(words_of(" ".join(step.action for step in one.steps[-2:]) + one.end))
        repeated = sum(times - 1 for times in Counter(one.steps).values())
        return repeated - len(named) / max(len(goal), 1), len(one.steps)

    places = range(len(asked.processes))
    return min(places, key=lambda place: looks(asked.processes[place])) + 1


def compare(asked: Asked) -> int:
    """Return the first step that differs."""
    best, ground = (one.steps for one in asked.processes)
    return min(first_difference(best, ground), len(best))


def reflect(asked: Asked) -> str:
    """Tell what was done again and again, or else what was tried."""
    last = asked.processes[-1].steps if asked.processes else ()
    often = [action for action, times in Counter(s.action for s in last).items() if times > 1]
    if often:
        return f"Repeating {', '.join(often[:_OPENING])} led nowhere: try what was not tried."
    tried = ", ".join(step.action for step in last[-_OPENING:])
    return f"That ended with {tried}, which did not reach the goal: try what was not tried."


def _goal_signature(goals: Sequence[str]) -> Callable[[str], str]:
    counted = Counter(word for goal in goals for word in set(words_of(goal)))
    common = {word for word, times in counted.items() if times > max(1, len(goals) // 5)}

    def of(goal: str) -> str:
        words = [word for word in words_of(goal) if word in common and not word.isdigit()]
        return " ".join(words[:6])

    return of


def _opening(text: str) -> str:
    words = [word for word in words_of(text.split("\n", maxsplit=1)[0]) if not word.isdigit()]
    return " ".join(words[:_OPENING])


_RULES: Mapping[str, tuple[str, Callable[[Asked], Any]]] = {
    "evaluate": ("subgoals", evaluate),
    "summarise": ("summary", summarise),
    "cluster": ("types", cluster),
    "index": ("type", index),
    "choose": ("best", choose),
    "compare": ("step", compare),
    "reflect": ("reflection", reflect),
}
"""By the first word of a task what its reply has, and who says it."""
