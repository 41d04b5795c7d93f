"""Worlds of poker with one card per player (entry point `dqa.worlds`): Kuhn and Leduc poker.

Kuhn poker (Kuhn, 1950) and Leduc poker (Southey et al., 2005) are small enough for exact solutions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import BaseModel

from dqa.worlds.base import RANDOM, WorldFactory
from dqa.worlds.world import HiddenVariable
from dqa_simulators.games.betting import CALL, CHECK, FOLD, PLAYERS, RAISE, BettingRules
from dqa_simulators.games.episode import read_rules
from dqa_simulators.games.poker import Deal, PokerPosition, PokerWorld

if TYPE_CHECKING:
    from dqa.worlds.history import History


class NoSettings(BaseModel, extra="forbid", frozen=True):
    """A world without settings."""


class _OneCard(PokerPosition):
    """A state of a game in which the hidden variable is the card of the other player."""

    hidden_names: ClassVar[tuple[str, ...]] = ("card",)

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """The rank of the other player's card.

        The possible values are the ranks of the cards that the viewer has not seen.
        """
        other = PLAYERS[1 - PLAYERS.index(self.viewer)]
        seen = {*self.hole, *self.board}
        left = (name for card, name in enumerate(self.deck) if card not in seen)
        ranks = tuple(dict.fromkeys(name[0] for name in left))
        return (HiddenVariable(other, "card", f"The rank of the card of '{other}'.", ranks),)


class KuhnPosition(_OneCard):
    """A state of Kuhn poker. Cards are numbers from 0 (jack) to 2 (king)."""

    world: ClassVar[str] = "kuhn"
    title: ClassVar[str] = "Kuhn poker"
    text: ClassVar[str] = read_rules(__file__, "kuhn")
    referee: ClassVar[str] = "kuhn_poker"
    codes: ClassVar[dict[str, int]] = {FOLD: 0, CHECK: 0, CALL: 1, RAISE: 1}
    deck: ClassVar[tuple[str, ...]] = ("J", "Q", "K")
    rules: ClassVar[BettingRules] = BettingRules(
        stages=("bets",), blinds=(1, 1), raises=(1,), most_raises=1, first=(0,), dealt=(0,)
    )


class LeducPosition(_OneCard):
    """A state of Leduc poker. A card is ``rank * 2 + copy``, with ranks 0 (jack) to 2 (king)."""

    world: ClassVar[str] = "leduc"
    title: ClassVar[str] = "Leduc poker"
    text: ClassVar[str] = read_rules(__file__, "leduc")
    referee: ClassVar[str] = "leduc_poker"
    deck: ClassVar[tuple[str, ...]] = ("J1", "J2", "Q1", "Q2", "K1", "K2")
    rules: ClassVar[BettingRules] = BettingRules(
        stages=("first", "second"),
        blinds=(1, 1),
        raises=(2, 4),
        most_raises=2,
        first=(0, 0),
        dealt=(0, 1),
    )


def _factory(kind: type[_OneCard], description: str) -> WorldFactory:
    """Return the factory of a game."""

    def draw(random: np.random.Generator) -> Deal:
        public = sum(kind.rules.dealt)
        first, second, *others = random.permutation(len(kind.deck)).tolist()
        return Deal(((first,), (second,)), tuple(others[:public]))

    def make(settings: NoSettings, history: History | None) -> PokerWorld:
        return PokerWorld(kind, draw, settings, history)

    return WorldFactory(kind.world, description, make, NoSettings, {RANDOM.name: RANDOM})


KUHN = _factory(KuhnPosition, "Kuhn poker: three cards, one raise; small enough for exact answers")
LEDUC = _factory(
    LeducPosition, "Leduc poker: six cards, two rounds; small enough for exact answers"
)
