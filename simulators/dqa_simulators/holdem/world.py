"""Limit Texas hold'em as a world (entry point `dqa.worlds`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from dqa.worlds.base import WorldFactory
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE
from dqa_simulators.games.episode import read_rules
from dqa_simulators.games.poker import Cards
from dqa_simulators.games.table import Facts, PokerGame, PokerWorld
from dqa_simulators.holdem.deals import DEFAULT_SHARES, deal_by_share, deal_uniformly, shares_of
from dqa_simulators.holdem.hands import CATEGORIES, category
from dqa_simulators.holdem.players import POLICIES
from dqa_simulators.holdem.position import REFEREE, HoldemPosition

if TYPE_CHECKING:
    from dqa.worlds.history import History

CODES: Final = {FOLD: 0, CHECK: 1, CALL: 1, RAISE: 2}
"""OpenSpiel's number of each action."""


class HoldemSettings(BaseModel):
    """The settings of the world.

    Attributes
    ----------
    strong
        ``"uniform"`` for an ordinary deal, or the share of each hand category. With shares, one of
        the two hands at the river has a drawn category; the default share is 0
        (`dqa_simulators.holdem.deals.deal_by_share`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strong: Literal["uniform"] | dict[str, float] = Field(
        default_factory=lambda: dict(DEFAULT_SHARES),
        description="'uniform', or the share of each category among hands at the river",
    )

    @field_validator("strong")
    @classmethod
    def _check(cls, given: str | dict[str, float]) -> str | dict[str, float]:
        if isinstance(given, dict):
            shares_of(given)
        return given


def make(settings: HoldemSettings, history: History | None) -> PokerWorld:
    """Return the world."""
    strong = settings.strong
    draw = (
        deal_uniformly
        if isinstance(strong, str)
        else partial(deal_by_share, shares=shares_of(strong))
    )
    text = read_rules(__file__)
    game = PokerGame(HoldemPosition, REFEREE, CODES, "limit Texas hold'em", text, draw, _facts)
    return PokerWorld(game, settings.model_dump(), history)


def _facts(hand: Cards, board: Cards) -> Facts:
    """Return the category of a hand with the public cards; None without public cards."""
    known = (*hand, *board)
    return {"category": CATEGORIES[category(known)] if board else None}


WORLD = WorldFactory(
    name="holdem",
    description="limit Texas hold'em for two: up to four raises per round, mirrored deals",
    make=make,
    settings=HoldemSettings,
    policies=POLICIES,
)
