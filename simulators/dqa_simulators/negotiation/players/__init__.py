"""Programs that negotiate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dqa.worlds.base import RANDOM, PolicyFactory
from dqa_simulators.negotiation.players.search import FairSearch, InformedSearch

_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        name="mcts",
        description="Monte Carlo tree search over values that the other may have, by all it did",
        make=lambda _: FairSearch(),
    ),
    PolicyFactory(
        name="mcts-informed",
        description="Monte Carlo tree search of OpenSpiel that is informed: it sees both's values",
        make=lambda _: InformedSearch(),
    ),
)

POLICIES: Final[Mapping[str, PolicyFactory]] = {made.name: made for made in _PLAYERS}
"""By name."""
