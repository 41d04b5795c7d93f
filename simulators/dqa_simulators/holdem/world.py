"""Limit Texas hold'em as a world (entry point `dqa.worlds`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, Field, field_validator

from dqa.worlds.base import RANDOM, PolicyFactory, WorldFactory
from dqa.worlds.training import learning_player
from dqa_simulators.games.poker import PokerWorld
from dqa_simulators.holdem.players import learning
from dqa_simulators.holdem.players.policies import RulePolicy
from dqa_simulators.holdem.position import (
    DEFAULT_SHARES,
    HoldemPosition,
    deal_by_share,
    deal_uniformly,
    shares_of,
)

if TYPE_CHECKING:
    from dqa.worlds.history import History


class HoldemSettings(BaseModel, extra="forbid", frozen=True):
    """The settings of the world.

    Attributes
    ----------
    strong
        ``"uniform"`` for an ordinary deal. Otherwise, for each hand category, the relative
        frequency of this category as one player's hand at the river. A missing category has the
        frequency 0 (`dqa_simulators.holdem.position.deal_by_share`).
    """

    strong: Literal["uniform"] | dict[str, float] = Field(
        default_factory=lambda: dict(DEFAULT_SHARES),
        description=(
            "'uniform' for an ordinary deal, or the weight of each category of one player's hand"
        ),
    )

    @field_validator("strong")
    @classmethod
    def _check(cls, value: str | dict[str, float]) -> str | dict[str, float]:
        if isinstance(value, dict):
            shares_of(value)
        return value


def make(settings: HoldemSettings, history: History | None) -> PokerWorld:
    """Return the world."""
    strong = settings.strong
    draw = (
        deal_uniformly
        if isinstance(strong, str)
        else partial(deal_by_share, shares=shares_of(strong))
    )
    return PokerWorld(HoldemPosition, draw, settings, history)


_PLAYERS: Final = (
    RANDOM,
    PolicyFactory(
        "rule",
        "bets by the strength of its hand: raises with a pair, folds weak hands",
        lambda _: RulePolicy(),
    ),
    learning_player(
        "OpenSpiel's counterfactual regret minimisation with external sampling (MCCFR)",
        learning.CFR,
    ),
    learning_player("OpenSpiel's deep Q-networks, one per seat, trained together", learning.DQN),
    learning_player("OpenSpiel's Deep CFR: a network of the average strategy", learning.DEEPCFR),
)

WORLD = WorldFactory(
    name="holdem",
    description="limit Texas hold'em for two: up to four raises per round, mirrored deals",
    make=make,
    settings=HoldemSettings,
    policies={player.name: player for player in _PLAYERS},
)
