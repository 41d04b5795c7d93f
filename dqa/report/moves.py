"""Moves and attempts of games as passages, and a game's result in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.report.passages import Passage


def move_passage(step: int, data: Mapping[str, Any]) -> Passage:
    """Return the passage of a `dqa.core.events.MoveEvent`."""
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
    title = f"{data['player']} ({data['decider']})"
    return Passage("noted", title, step, text="\n".join(lines))


def attempt_passage(step: int, data: Mapping[str, Any]) -> Passage:
    """Return the passage of a `dqa.core.events.AttemptEvent`."""
    reward = data["reward"]
    brought = "did not come to its end" if reward is None else f"brought {reward:g}"
    counts = "; this attempt counts" if data["counts"] else ""
    text = f"{counted(int(data['moves']), 'move')}, {brought}{counts}"
    return Passage("noted", f"attempt {data['number']}", step, text=text)


def game_lines(result: Result) -> list[str]:
    """Return a game's result in a few lines."""
    game = result.game
    if game is None:
        return []
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
    return lines
