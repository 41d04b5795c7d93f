"""A state of Leduc poker as one player knows it."""

from __future__ import annotations

from typing import ClassVar, Final

from dqa.worlds.world import HiddenVariable
from dqa_simulators.games.betting import BettingRules
from dqa_simulators.games.poker import PokerPosition, hidden_card

DECK: Final = ("J1", "J2", "Q1", "Q2", "K1", "K2")
RULES: Final = BettingRules(
    stages=("first", "second"),
    blinds=(1, 1),
    raises=(2, 4),
    most_raises=2,
    first=(0, 0),
    dealt=(0, 1),
)
_HIDDEN: Final = hidden_card(("J", "Q", "K"))


class LeducPosition(PokerPosition):
    """Cards are numbers, ``rank * 2 + copy`` with ranks from 0 (jack) to 2 (king)."""

    world: ClassVar[str] = "leduc"
    rules: ClassVar[BettingRules] = RULES
    deck: ClassVar[tuple[str, ...]] = DECK
    hidden_names: ClassVar[tuple[str, ...]] = ("card",)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """Which rank the other's card has."""
        return _HIDDEN[self.viewer]
