"""Programs that play limit Texas hold'em, by rules or by what they learnt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dqa.worlds.base import PolicyFactory
from dqa.worlds.players import RANDOM
from dqa.worlds.training import learning_player
from dqa_simulators.holdem.players import trainers
from dqa_simulators.holdem.players.policies import RulePolicy

_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        name="rule",
        description="bets by how good its hand is: raises with a pair, folds the weak ones",
        make=lambda _: RulePolicy(),
    ),
    learning_player(
        "counterfactual regret minimisation by external sampling, over ten strengths a round",
        trainers.CFR,
    ),
    learning_player(
        "deep Q-networks of OpenSpiel that learnt from each other, one a seat", trainers.DQN
    ),
    learning_player(
        "Deep Monte Carlo: a network of what actions bring, by hands against a pool of players",
        trainers.DMC,
    ),
    learning_player(
        "Deep CFR: a network of the average strategy that regrets led to", trainers.DEEPCFR
    ),
)

POLICIES: Final[Mapping[str, PolicyFactory]] = {made.name: made for made in _PLAYERS}
"""By name."""
