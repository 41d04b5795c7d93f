"""Moves of games, and what a game came to, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dqa.core.text import counted
from dqa.evaluation.results import Result


def move_told(data: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return a title and lines for the data of a `dqa.core.events.MoveEvent`."""
    actions = ", ".join(map(str, data["actions"]))
    more = int(data["total"]) - len(data["actions"])
    lines = str(data["shown"]).splitlines()
    lines.append(f"legal: {actions}{f' and {more} more' if more else ''}")
    if data["choice"] is None:
        lines.append(f"no move ({data['ending']}): {data['problem']}")
    elif data["fallback"]:
        why = data["problem"] or "it named no legal action"
        lines.append(f"{data['choice']}, as the decision ended as {data['ending']}: {why}")
    else:
        lines.append(f"{data['choice']}")
    if data["reference"] is not None:
        lines.append(f"the reference: {data['reference']}")
    return f"{data['player']} ({data['decider']})", tuple(lines)


def attempt_told(data: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return a title and a line for the data of a `dqa.core.events.AttemptEvent`."""
    reward = data["reward"]
    brought = "did not come to its end" if reward is None else f"brought {reward:g}"
    counts = "; this attempt counts" if data["counts"] else ""
    moves = counted(int(data["moves"]), "move")
    return f"attempt {data['number']}", (f"{moves}, {brought}{counts}",)


def game_told(result: Result) -> tuple[str, ...]:
    """Return what a game came to, in a few lines."""
    game = result.game
    if game is None:
        return ()
    lines = [f"{seat}: {value:+g}" for seat, value in game.returns.items()]
    lines += [
        f"{wrong} of {game.moves[seat]} moves of {seat} named no legal action"
        for seat, wrong in game.fallbacks.items()
        if wrong
    ]
    if game.attempts > 1:
        lines.append(f"played {game.attempts} times, of which one counts")
    if game.compared:
        lines.append(
            f"{game.agreed} of {game.compared} decisions of {game.seats[0]} are those of "
            f"{game.reference}"
        )
    return tuple(lines)
