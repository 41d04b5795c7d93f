"""States of limit Texas hold'em with everything that one player knows."""

from __future__ import annotations

from typing import ClassVar, Final

from dqa.worlds.world import HiddenVariable
from dqa_simulators.games.betting import PLAYERS, BettingRules
from dqa_simulators.games.poker import PokerPosition
from dqa_simulators.holdem.hands import DECK

RULES: Final = BettingRules(
    stages=("pre-flop", "flop", "turn", "river"),
    blinds=(2, 1),
    raises=(2, 2, 4, 4),
    most_raises=4,
    first=(1, 0, 0, 0),
    dealt=(0, 3, 1, 1),
)
REFEREE: Final = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,"
    "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=2 2 4 4,"
    "maxRaises=4 4 4 4)"
)
"""The game in OpenSpiel."""
_HIDDEN: Final = {
    viewer: (
        HiddenVariable(
            other,
            "strength",
            f"How strong the hand of '{other}' is beside all hands it could hold with these public "
            "cards, in fifths: 1 is among the weakest fifth, 5 among the strongest.",
            ("1", "2", "3", "4", "5"),
        ),
    )
    for viewer, other in zip(PLAYERS, reversed(PLAYERS), strict=True)
}


class HoldemPosition(PokerPosition):
    """A state of hold'em. A card is ``rank * 4 + suit``, with ranks from 0 (two) to 12 (ace)."""

    world: ClassVar[str] = "holdem"
    rules: ClassVar[BettingRules] = RULES
    deck: ClassVar[tuple[str, ...]] = DECK
    hidden_names: ClassVar[tuple[str, ...]] = ("card 1", "card 2")
    seat_names: ClassVar[tuple[str, str]] = ("have the big blind", "have the small blind")

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """The strength of the other player's hand, in five steps (BIDDER, appendix B.1.4)."""
        return _HIDDEN[self.viewer]
