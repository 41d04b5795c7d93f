"""A state of Kuhn poker as one player knows it."""

from __future__ import annotations

from typing import ClassVar, Final

from dqa.worlds.world import HiddenVariable
from dqa_simulators.games.betting import BettingRules
from dqa_simulators.games.poker import PokerPosition, hidden_card

DECK: Final = ("J", "Q", "K")
RULES: Final = BettingRules(
    stages=("bets",), blinds=(1, 1), raises=(1,), most_raises=1, first=(0,), dealt=(0,)
)
_HIDDEN: Final = hidden_card(DECK)


class KuhnPosition(PokerPosition):
    """Cards are numbers from 0 (jack) to 2 (king)."""

    world: ClassVar[str] = "kuhn"
    rules: ClassVar[BettingRules] = RULES
    deck: ClassVar[tuple[str, ...]] = DECK
    hidden_names: ClassVar[tuple[str, ...]] = ("card",)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """Which card the other has."""
        return _HIDDEN[self.viewer]
