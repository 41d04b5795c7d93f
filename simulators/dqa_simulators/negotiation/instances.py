"""Draw instances of negotiations, and create their states in OpenSpiel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dqa_simulators.games.openspiel import load_game
from dqa_simulators.negotiation.position import (
    AGREE,
    FEWEST_TURNS,
    MOST_ITEMS,
    MOST_TURNS,
    MOST_VALUE,
    Split,
    parse,
)

AGREEMENT: Final = 216
"""OpenSpiel's number of the action to agree. Higher numbers are utterances."""
_BASE: Final = MOST_ITEMS + 1
_REFEREE: Final = {
    says: f"negotiation(enable_utterances={says},num_symbols={_BASE})" for says in (True, False)
}
"""The game in OpenSpiel, with and without utterances, which have the same form as proposals."""
VALUES: Final = np.stack(np.meshgrid(*[np.arange(1, MOST_VALUE + 1)] * 3), axis=-1).reshape(-1, 3)
"""All possible values of the three items, shape (1000, 3)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a negotiation.

    Attributes
    ----------
    pool
        The number of units of each item.
    values
        The value of one unit of each item to the first and to the second player. The whole pool
        has the same value for both players.
    turns
        The number of turns. Without an agreement by then, both players get nothing.
    """

    pool: Split
    values: tuple[Split, Split]
    turns: int


def draw_instance(random: np.random.Generator, turns: int | None = None) -> Instance:
    """Draw a pool, values and a number of turns.

    The pool has one to five units of each item. A unit is worth one to ten points. The values of
    the second player are drawn from those that give the pool the same total value as the values
    of the first player (Lewis et al., 2017).
    """
    pool = random.integers(1, MOST_ITEMS + 1, size=3)
    own = VALUES[random.integers(len(VALUES))]
    same = VALUES[VALUES @ pool == own @ pool]
    other = same[random.integers(len(same))]
    drawn = int(random.integers(FEWEST_TURNS, MOST_TURNS + 1))
    return Instance(_split(pool), (_split(own), _split(other)), turns or drawn)


def _split(numbers: Any) -> Split:  # noqa: ANN401  (an array of three)
    first, second, third = numbers.tolist()
    return first, second, third


def new_state(instance: Instance, *, utterances: bool = True) -> Any:  # noqa: ANN401
    """Return the initial OpenSpiel state of a negotiation."""
    rows = (instance.pool, *instance.values)
    lines = [str(instance.turns), *(" ".join(map(str, row)) for row in rows), "0"]
    return load_game(_REFEREE[utterances]).deserialize_state("\n".join(lines))


def number_of(action: str, part: str) -> int:
    """Return OpenSpiel's number of an action."""
    if action == AGREE:
        return AGREEMENT
    peppers, strawberries, cherries = parse(action)
    number = (peppers * _BASE + strawberries) * _BASE + cherries
    return number if part == "proposal" else AGREEMENT + 1 + number
