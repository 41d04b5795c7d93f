"""What is negotiated about, and the same as a state of OpenSpiel."""

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
"""What OpenSpiel calls agreeing; what is said has the numbers behind it."""
_BASE: Final = MOST_ITEMS + 1
_REFEREE: Final = {
    says: f"negotiation(enable_utterances={says},num_symbols={_BASE})" for says in (True, False)
}
"""The game in OpenSpiel: what is said has the same form as what is proposed."""
VALUES: Final = np.stack(np.meshgrid(*[np.arange(1, MOST_VALUE + 1)] * 3), axis=-1).reshape(-1, 3)
"""Every way in which a player can value the items, shape (1000, 3)."""


@dataclass(frozen=True, slots=True)
class Instance:
    """What is negotiated about.

    Attributes
    ----------
    pool
        How many of each item there are.
    values
        What one of each is worth to who has the first turn and who has the second; the pool is
        worth the same to both.
    turns
        After how many turns nobody gets anything.
    """

    pool: Split
    values: tuple[Split, Split]
    turns: int


def draw_instance(random: np.random.Generator, turns: int | None = None) -> Instance:
    """Draw a pool, values and a number of turns.

    One to five of each item, one to ten points each; the second player's values are drawn among
    those by which the pool is worth as much as by the first one's (Lewis et al., 2017).
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
    """Return what OpenSpiel calls an action."""
    if action == AGREE:
        return AGREEMENT
    peppers, strawberries, cherries = parse(action)
    number = (peppers * _BASE + strawberries) * _BASE + cherries
    return number if part == "proposal" else AGREEMENT + 1 + number
