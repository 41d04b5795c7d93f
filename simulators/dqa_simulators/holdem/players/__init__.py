"""Players of limit Texas hold'em: random, rule-based, or trained by OpenSpiel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dqa.worlds.base import RANDOM, PolicyFactory
from dqa.worlds.training import learning_player
from dqa_simulators.holdem.players import learning
from dqa_simulators.holdem.players.policies import RulePolicy

_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        name="rule",
        description="bets by the strength of its hand: raises with a pair, folds weak hands",
        make=lambda _: RulePolicy(),
    ),
    learning_player(
        "OpenSpiel's counterfactual regret minimisation with external sampling (MCCFR)",
        learning.CFR,
    ),
    learning_player("OpenSpiel's deep Q-networks, one per seat, trained together", learning.DQN),
    learning_player("OpenSpiel's Deep CFR: a network of the average strategy", learning.DEEPCFR),
)

POLICIES: Final[Mapping[str, PolicyFactory]] = {player.name: player for player in _PLAYERS}
"""The players by name."""
