"""Players of the negotiation world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dqa.worlds.base import RANDOM, PolicyFactory
from dqa_simulators.negotiation.players.search import FairSearch, InformedSearch

_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        name="mcts",
        description="Monte Carlo tree search over the opponent's possible values, given its moves",
        make=lambda _: FairSearch(),
    ),
    PolicyFactory(
        name="mcts-informed",
        description="OpenSpiel's Monte Carlo tree search, informed: it sees the values of both",
        make=lambda _: InformedSearch(),
    ),
)

POLICIES: Final[Mapping[str, PolicyFactory]] = {made.name: made for made in _PLAYERS}
"""The players by name."""
