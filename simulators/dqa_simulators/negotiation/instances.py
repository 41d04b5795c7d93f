"""Instances of negotiations, and their states in OpenSpiel."""

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
"""OpenSpiel's number of agreeing; the numbers behind it are utterances."""
_BASE: Final = MOST_ITEMS + 1
_REFEREE: Final = {
    says: f"negotiation(enable_utterances={says},num_symbols={_BASE})" for says in (True, False)
}
"""The game in OpenSpiel: utterances have the same form as proposals."""
VALUES: Final = np.stack(np.meshgrid(*[np.arange(1, MOST_VALUE + 1)] * 3), axis=-1).reshape(-1, 3)
"""Every way in which a player can value the items, shape (1000, 3)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a negotiation.

    Attributes
    ----------
    pool
        How many of each item there are.
    values
        The worth of one of each to the player of the first turn and to that of the second; the
        pool is worth the same to both.
    turns
        The number of turns, after which both get nothing.
    """

    pool: Split
    values: tuple[Split, Split]
    turns: int


def draw_instance(random: np.random.Generator, turns: int | None = None) -> Instance:
    """Draw a pool, values and a number of turns.

    One to five of each item, one to ten points each; the second player's values are drawn among
    those that give the pool the same worth as the first player's (Lewis et al., 2017).
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
    """Return the beginning of a negotiation in OpenSpiel."""
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
