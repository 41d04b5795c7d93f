"""Scripted replies to BIDDER and its baselines, from the conversation alone.

Of a move, the world's own script says what a state is worth (`dqa.worlds.scripted`); where there
is none, and of a question that is no move, an action is worth what the rows say first of it.
``greedy`` looks at no return and infers nothing; ``random`` draws.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from dqa import plugins
from dqa.worlds.scripted import WorldScript
from dqa_bidder.scripted.reading import Asked, asks, read_prompt, rows_of

_MOST_WORDS = 80
"""Most characters of a question that are said where free words are asked for."""


class BidderResponder:
    """Answers every prompt of the package, as the entry point ``dqa.scripted`` names it."""

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation begins with one of the prompts."""
        return bool(messages) and asks(messages[0].text)

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[Any], script: str, seed: int
    ) -> AIMessage:
        """Return what a script says; `UsageError` where a world's script cannot go on."""
        del tools
        return AIMessage(reply_to(read_prompt(messages[0].text), script, seed))


RESPONDER = BidderResponder()


def reply_to(asked: Asked, script: str, seed: int) -> str:
    """Return what a script says to a prompt.

    Parameters
    ----------
    asked
        The prompt.
    script
        ``analyst``, ``greedy`` or ``random``; others reply as the analyst does.
    seed
        Of what is drawn.
    """
    world = None if script == "random" else _script_of(asked)
    task = asked.task
    if task.startswith("infer"):
        return json.dumps({"reasoning": "", "hidden": _hidden(asked, world, script)})
    if task.startswith("expect"):
        return json.dumps({"reasoning": "", "action": _expected(asked, world, seed)})
    worth = _worth(asked, world, script, seed)
    if task.startswith("estimate"):
        best = sorted(worth, key=lambda action: -worth[action])[: asked.most]
        return json.dumps({"reasoning": "", "payoffs": {one: worth[one] for one in best}})
    ranked = sorted(worth, key=lambda action: -worth[action])
    if task.startswith("propose"):
        thoughts = [
            {"thought": f"{one} is worth {worth[one]:.3g}.", "action": one}
            for one in ranked[: asked.count]
        ]
        return json.dumps({"thoughts": thoughts})
    if task.startswith("judge"):
        decided = asked.thoughts
        best_thought = max(decided, key=lambda number: worth.get(decided[number], 0.0), default=1)
        return json.dumps({"reasoning": "", "best": best_thought})
    return json.dumps({"reasoning": "", "action": _chosen(asked, ranked[0], script)})


def _script_of(asked: Asked) -> WorldScript | None:
    return plugins.world_script(asked.scenario) if asked.shown.viewer else None


def _hidden(asked: Asked, world: WorldScript | None, script: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for player, name, states in asked.variables:
        state = states[len(states) // 2]
        if world is not None and script != "greedy":
            state = world.infer(asked.shown, player, name, states)
        found.setdefault(player, {})[name] = state
    return found


def _expected(asked: Asked, world: WorldScript | None, seed: int) -> str:
    if world is not None:
        return str(world.expect(asked.shown))
    drawn = _drawn(asked, seed)
    return max(drawn, key=lambda action: drawn[action])


def _worth(asked: Asked, world: WorldScript | None, script: str, seed: int) -> Mapping[str, float]:
    """Return what each legal action is worth, from 0 to 1, in legal order."""
    if not asked.shown.actions and asked.form:
        # Nothing but free words can be said: those of the question.
        return {asked.form.replace("...", asked.goal[:_MOST_WORDS] or "anything"): 1.0}
    if script == "random":
        return _drawn(asked, seed)
    if world is not None:
        told = world.estimate(asked.shown)
        return {action: told[action] for action in asked.shown.actions}
    return _by_rows(asked)


def _by_rows(asked: Asked) -> Mapping[str, float]:
    """Return actions by the first figure that rows give beside them, from the least to the most."""
    figures = dict.fromkeys(asked.shown.actions, 0.0)
    seen: set[str] = set()
    for row in rows_of(asked.rows):
        cells = [str(cell) for cell in row]
        for action in {cell for cell in cells if cell in figures} - seen:
            after = row[cells.index(action) + 1 :]
            numbers = [cell for cell in after if isinstance(cell, int | float)]
            if numbers:
                figures[action] = float(numbers[0])
                seen.add(action)
    low, high = min(figures.values(), default=0.0), max(figures.values(), default=0.0)
    return {
        action: (figure - low) / (high - low) if high > low else 0.5
        for action, figure in figures.items()
    }


def _drawn(asked: Asked, seed: int) -> Mapping[str, float]:
    """Draw a number for each action, others for each prompt."""
    digests = {
        action: hashlib.sha256(f"{seed}\n{action}\n{asked.text}".encode()).digest()
        for action in asked.shown.actions
    }
    return {one: int.from_bytes(digest[:6], "big") / 2**48 for one, digest in digests.items()}


def _chosen(asked: Asked, best: str, script: str) -> str:
    """Return the action of the largest return, where the prompt has returns and they count."""
    returns = asked.returns
    if script != "analyst" or not returns:
        return best
    return max(returns, key=lambda action: returns[action])
