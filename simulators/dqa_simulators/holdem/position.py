"""Limit Texas hold'em: the states with everything that one player knows, and the deals.

Strong hands are rare: about one in 300 ordinary games has four of a kind. The paper raised the
share of strong hands, but shows the shares only in a figure (BIDDER, section 3.1 and figure 4). Our
default shares are proportional to the cube root of each category's frequency among hands of seven
cards. The order of the categories therefore stays the same, and each category occurs at least about
twice in 100 games.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import ClassVar, Final

import numpy as np

from dqa.core.errors import UsageError
from dqa.worlds.world import HiddenVariable
from dqa_simulators.games.betting import PLAYERS, BettingRules
from dqa_simulators.games.episode import Facts, read_rules
from dqa_simulators.games.poker import Cards, Deal, PokerPosition
from dqa_simulators.holdem.hands import CATEGORIES, DECK, category

RULES: Final = BettingRules(
    stages=("pre-flop", "flop", "turn", "river"),
    blinds=(2, 1),
    raises=(2, 2, 4, 4),
    most_raises=4,
    first=(1, 0, 0, 0),
    dealt=(0, 3, 1, 1),
)
_HIDDEN: Final = {
    viewer: (
        HiddenVariable(
            other,
            "strength",
            f"The strength of the hand of '{other}' among all hands that are possible with these "
            "public cards, in fifths: 1 is the weakest fifth, 5 is the strongest fifth.",
            ("1", "2", "3", "4", "5"),
        ),
    )
    for viewer, other in zip(PLAYERS, reversed(PLAYERS), strict=True)
}


class HoldemPosition(PokerPosition):
    """A state of hold'em. A card is ``rank * 4 + suit``, with ranks from 0 (two) to 12 (ace)."""

    world: ClassVar[str] = "holdem"
    title: ClassVar[str] = "limit Texas hold'em"
    text: ClassVar[str] = read_rules(__file__)
    referee: ClassVar[str] = (
        "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,"
        "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,raiseSize=2 2 4 4,"
        "maxRaises=4 4 4 4)"
    )
    rules: ClassVar[BettingRules] = RULES
    deck: ClassVar[tuple[str, ...]] = DECK
    hidden_names: ClassVar[tuple[str, ...]] = ("card 1", "card 2")
    seat_names: ClassVar[tuple[str, str]] = ("have the big blind", "have the small blind")

    @property
    def hidden(self) -> tuple[HiddenVariable, ...]:  # type: ignore[override]
        """The strength of the other player's hand, in five steps (BIDDER, appendix B.1.4)."""
        return _HIDDEN[self.viewer]

    @classmethod
    def hand_facts(cls, hand: Cards, board: Cards) -> Facts:
        """Return the category of a hand with the public cards; None without public cards."""
        return {"category": CATEGORIES[category((*hand, *board))] if board else None}


DEFAULT_SHARES: Final = dict(
    zip(CATEGORIES, (0.162, 0.22, 0.179, 0.105, 0.104, 0.09, 0.086, 0.034, 0.02), strict=True)
)
"""The default share of each category.

The shares are proportional to the cube roots of 23,294,460, 58,627,800, 31,433,400, 6,461,620,
6,180,020, 4,047,644, 3,473,184, 224,848 and 41,584: the numbers of hands of each category among the
133,784,560 hands of seven cards.
"""
_SEVEN: Final = 7
_TRIED: Final = 64
"""The number of hands that are drawn together."""
_DEALT: Final = 9


def deal_uniformly(random: np.random.Generator) -> Deal:
    """Deal nine cards uniformly at random."""
    cards = random.permutation(52)[:_DEALT].tolist()
    return Deal(((cards[0], cards[1]), (cards[2], cards[3])), tuple(cards[4:]))


def deal_by_share(random: np.random.Generator, shares: tuple[float, ...]) -> Deal:
    """Draw a category by its share, and give one player a hand of this category at the river.

    The seven cards of the hand are drawn uniformly from the category, and the cards of the other
    player uniformly from the rest of the deck. Each player gets the hand with probability 1/2.

    Parameters
    ----------
    random
        The source of all random choices.
    shares
        The relative frequency of each of the nine categories. The sum need not be 1.
    """
    bounds = tuple(accumulate(shares))
    drawn = bisect_right(bounds, random.random() * bounds[-1])
    seven = _draw_hand(random, min(drawn, len(CATEGORIES) - 1))
    others = _draw_others(random, seven, 2)
    chosen, other = (seven[0], seven[1]), (others[0], others[1])
    hands = (chosen, other) if random.random() < 0.5 else (other, chosen)
    return Deal(hands, tuple(seven[2:]))


def shares_of(values: Mapping[str, float]) -> tuple[float, ...]:
    """Return the share of each category in the order of `CATEGORIES`. The default share is 0.

    Raises
    ------
    UsageError
        A name is not a category, a share is negative, infinite or NaN, or all shares are 0.
    """
    for name, share in values.items():
        if name not in CATEGORIES:
            raise UsageError(f"'{name}' is not a category. Categories: {', '.join(CATEGORIES)}.")
        if not 0 <= share < float("inf"):
            raise UsageError(f"The share of '{name}' must be 0 or greater, not {share}.")
    shares = tuple(float(values.get(name, 0.0)) for name in CATEGORIES)
    if not any(shares):
        raise UsageError("All shares are 0; at least one category needs a share above 0.")
    return shares


def _draw_hand(random: np.random.Generator, kind: int) -> list[int]:
    """Draw seven cards of a category uniformly at random, by rejection.

    The rarest category, a straight flush, takes about 3,000 draws.
    """
    while True:
        before = random.bit_generator.state
        hands = _draw_hands(random, _TRIED)
        found = np.flatnonzero(category(hands) == kind)
        if len(found):
            random.bit_generator.state = before  # the next draw follows the chosen hand
            return _draw_hands(random, int(found[0]) + 1)[-1]


def _draw_hands(random: np.random.Generator, count: int) -> list[list[int]]:
    return [random.permutation(52)[:_SEVEN].tolist() for _ in range(count)]


def _draw_others(random: np.random.Generator, held: list[int], count: int) -> Cards:
    """Draw `count` cards that are not in `held`."""
    shuffled = random.permutation(52)[: len(held) + count].tolist()
    return tuple([card for card in shuffled if card not in held][:count])
