"""The tables of a run of games: every player against every opponent, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dqa.core.text import counted, visible
from dqa.evaluation.playing.metrics import AGREEMENT, GameFigures, PlayFigures
from dqa.evaluation.results import NO_MODEL
from dqa.models.registry import is_scripted
from dqa.report.columns import columns_table
from dqa.report.spending import Spending
from dqa.report.tables import model_line

if TYPE_CHECKING:
    from rich.table import Table

    from dqa.evaluation.statistics.clusters import Estimate

_MOST_ACTIONS = 8
"""Actions whose shares a table has; more are proposals, of which no share says anything."""


def game_tables(found: PlayFigures) -> list[tuple[str, Table]]:
    """Return the tables of a run of games, each under its title."""
    alone, shown = found.alone, found.players if found.alone else found.pairs
    if alone:
        tables = [("Score and success of the player, with 95 % intervals", _scores(found))]
        if any(one.tasks for one in shown):
            tables.append(("Success by kind of task, in %", _tasks(found)))
    else:
        tables = [("Payoff of the player a game, with its 95 % interval", _grid(found, _payoff))]
    if any(one.rational is not None for one in shown):
        reference = next(one.reference for one in shown if one.reference)
        title = f"Rational degree: decisions as {reference} makes them"
        rows = ([one.player, _rational(one)] for one in found.players)
        table = columns_table(["Player"], [f"as {reference}, in %"], rows)
        tables.append((title, table) if alone else (f"{title}, in %", _grid(found, _rational)))
    if not alone and any(one.score is not None for one in shown):
        title = "Score: payoff of the player a game with an agreement"
        tables.append((title, _grid(found, _score)))
    if any(one.facts for one in shown):
        tables.append(("What else the world tells, as means and shares a game", _facts(found)))
    if 0 < len(_actions(found)) <= _MOST_ACTIONS:
        tables.append(("Actions of the player, in %", _action_table(found)))
    return tables


def _scores(found: PlayFigures) -> Table:
    """Return a row a player: what it got, and what that took."""
    succeeds = any(one.success is not None for one in found.players)
    repeats = any(one.attempts is not None and one.attempts.value > 1 for one in found.players)
    columns: list[tuple[str, Callable[[GameFigures], str]]] = [
        ("Score", lambda one: estimate_text(one.payoff, digits=3)),
        *([("Success, %", lambda one: estimate_text(one.success, 100.0, 1))] if succeeds else []),
        ("Moves a game", lambda one: estimate_text(one.length, digits=1)),
        *([("Attempts", lambda one: estimate_text(one.attempts, digits=1))] if repeats else []),
        ("Fallbacks", lambda one: str(one.fallbacks)),
        ("Games", lambda one: str(one.games)),
    ]
    rows = ([one.player, *(cell(one) for _, cell in columns)] for one in found.players)
    return columns_table(["Player"], [title for title, _ in columns], rows)


def _tasks(found: PlayFigures) -> Table:
    """Return a row a player and a column a kind of task, with all of them."""
    tasks = sorted({task for one in found.players for task in one.tasks})
    rows = []
    for one in found.players:
        shares = [one.tasks[task].success if task in one.tasks else None for task in tasks]
        cells = (estimate_text(share, 100.0, 1) for share in (*shares, one.success))
        rows.append([one.player, *cells])
    return columns_table(["Player"], [*tasks, "all"], rows)


def game_lines(found: PlayFigures, spent: Spending, models: Mapping[str, str]) -> list[str]:
    """Return what is said below the tables: what counts, who answered, and what it took."""
    games = sum(one.games for one in found.pairs)
    if found.alone:
        games = max((one.games for one in found.pairs), default=0)
    mirrored = ", each played twice with the hidden things swapped" if found.mirrored else ""
    on = f"on deals that all pairs share{mirrored}"
    lines = [
        f"{counted(games, 'game')} of {found.world} {on}; a deal is the unit of every interval."
    ]
    if found.alone:
        same = "the same ones for every player; a game is the unit of every interval"
        lines = [f"{counted(games, 'game')} of {found.world}, {same}."]
    lines += _warnings(found)
    asked = dict.fromkeys(model for model in models.values() if model != NO_MODEL)
    lines += map(model_line, asked)
    if any(map(is_scripted, asked)):
        lines.append(
            "Scripted players follow a program: how they compare says nothing about language "
            "models."
        )
    return [*lines, str(spent)]


def _warnings(found: PlayFigures) -> list[str]:
    """Return how many moves and games are not what was decided, by contestant."""
    fallbacks: dict[str, list[int]] = {}
    for one in found.pairs:
        by_seat = (one.player, one.fallbacks, one.moves)
        against = (one.opponent or "", one.opponent_fallbacks, one.opponent_moves)
        for name, wrong, moves in (by_seat, against):
            sums = fallbacks.setdefault(name, [0, 0])
            sums[0] += wrong
            sums[1] += moves
    lines = [
        f"{visible(name)} named no legal action in {wrong} of {counted(moves, 'move')}: the most "
        "cautious one counted."
        for name, (wrong, moves) in fallbacks.items()
        if wrong
    ]
    failed, unpaired = (sum(getattr(one, of) for one in found.pairs) for of in _NOT_COUNTED)
    if failed:
        lines.append(f"{counted(failed, 'game')} did not come to an end and will be played again.")
    if unpaired:
        lines.append(f"{counted(unpaired, 'game')} without a mirror: not counted.")
    return lines


_NOT_COUNTED = ("failed", "unpaired")


def estimate_text(found: Estimate | None, scale: float = 1.0, digits: int = 2) -> str:
    """Return a figure with its interval below; a dash where there is none."""
    if found is None:
        return "-"
    told = f"{_number(found.value * scale, digits)}"
    if found.low is None or found.high is None:
        return told
    low, high = (_number(end * scale, digits) for end in (found.low, found.high))
    return f"{told}\n[{low}, {high}]"


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # and no minus before zero


def _payoff(one: GameFigures) -> str:
    return estimate_text(one.payoff)


def _score(one: GameFigures) -> str:
    return estimate_text(one.score)


def _rational(one: GameFigures) -> str:
    return estimate_text(one.rational, 100.0, 1)


def _grid(found: PlayFigures, cell: Callable[[GameFigures], str]) -> Table:
    """Return a row a player and a column an opponent, with the mean over all."""
    opponents = list(dict.fromkeys(one.opponent or "" for one in found.pairs))
    cells = {(one.player, one.opponent): cell(one) for one in found.pairs}
    mean = len(opponents) > 1
    rows = []
    for one in found.players:
        row = [cells.get((one.player, opponent), "-") for opponent in opponents]
        rows.append([one.player, *row, *([cell(one)] if mean else [])])
    return columns_table(["Player"], [*opponents, *(["Mean"] if mean else [])], rows)


def _facts(found: PlayFigures) -> Table:
    names = list(dict.fromkeys(name for one in found.pairs for name in one.facts))
    agreed = [n for n in names if n != AGREEMENT and any(one.agreed_facts for one in found.pairs)]
    rows = []
    for one in found.pairs:
        row = [estimate_text(one.facts.get(name)) for name in names]
        row += [estimate_text(one.agreed_facts.get(name)) for name in agreed]
        rows.append([f"{one.player}\n{one.opponent}".rstrip("\n"), *row])
    titles = [*names, *(f"{name},\nof agreed" for name in agreed)]
    return columns_table(["Player" if found.alone else "Player and opponent"], titles, rows)


def _actions(found: PlayFigures) -> list[str]:
    return list(dict.fromkeys(action for one in found.players for action in sorted(one.actions)))


def _action_table(found: PlayFigures) -> Table:
    actions = _actions(found)
    rows = []
    for one in found.players:
        of = sum(one.actions.values())
        shares = [100.0 * one.actions.get(action, 0) / of if of else 0.0 for action in actions]
        rows.append([one.player, *(f"{share:.1f}" for share in shares), str(of)])
    return columns_table(["Player"], [*actions, "moves"], rows)
