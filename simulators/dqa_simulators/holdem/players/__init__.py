"""Programs that play limit Texas hold'em: at random, by rules, or trained by OpenSpiel."""

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
        description="bets by how good its hand is: raises with a pair, folds the weak ones",
        make=lambda _: RulePolicy(),
    ),
    learning_player(
        "OpenSpiel's counterfactual regret minimisation by external sampling (MCCFR)", learning.CFR
    ),
    learning_player("OpenSpiel's deep Q-networks, one a seat, trained together", learning.DQN),
    learning_player("OpenSpiel's Deep CFR: a network of the average strategy", learning.DEEPCFR),
)

POLICIES: Final[Mapping[str, PolicyFactory]] = {player.name: player for player in _PLAYERS}
"""By name."""
