"""Limit hold'em with the interface of OpenSpiel's learning algorithms.

Hands come from a fixed set of deals, and players see the strength of their cards instead of the
cards. Otherwise a small training budget would never meet the same hand twice. The betting is that
of `dqa_simulators.games.betting`.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.games.betting import PLAYERS, Betting, begin
from dqa_simulators.games.episode import load_game
from dqa_simulators.holdem.hands import strength as value_of
from dqa_simulators.holdem.players.strength import strengths
from dqa_simulators.holdem.position import RULES, HoldemPosition, deal_uniformly

Floats: TypeAlias = NDArray[np.float32]

NUMBERS: Final = HoldemPosition.codes
ACTIONS: Final = 3
STAGES: Final = len(RULES.stages)
BUCKETS: Final = 10
"""The number of strength classes per round, for players with a table."""
_HINGES: Final = np.arange(1, 10) / 10
FEATURES: Final = STAGES + RULES.most_raises + 1 + 4 + 2 + STAGES + len(_HINGES)
"""The length of the vector that describes a player's view."""
_CHANCE, _TERMINAL = -1, -4


@lru_cache(maxsize=65_536)
def describe(betting: Betting, own: float) -> Floats:
    """Return the view of the next player as numbers: round, raises, bets and hand strength."""
    seat = betting.seat
    mine, other = betting.bets[seat], betting.bets[1 - seat]
    stage = np.eye(STAGES)[betting.stage]
    raises = np.eye(RULES.most_raises + 1)[betting.raises]
    chips = (seat, mine / RULES.most, other / RULES.most, (other - mine) / 4)
    cards = ((own, own**2), stage * own, np.maximum(own - _HINGES, 0))
    return np.concatenate([stage, raises, chips, *cards]).astype(np.float32)


def key_of(betting: Betting, bucket: int) -> str:
    """Return the key of an information set: the betting state and the strength class."""
    first, second = betting.bets
    return f"{betting.stage} {betting.seat} {first} {second} {betting.raises} {bucket}"


def legal_numbers(key: str) -> list[int]:
    """Return the numbers of the legal actions of an information set."""
    stage, seat, first, second, raises, _ = map(int, key.split())
    betting = Betting(RULES, (first, second), stage, raises, 0, seat, "bet")
    return [NUMBERS[name] for name in betting.actions]


@dataclass(frozen=True, slots=True)
class DealtHand:
    """The data of one deal.

    Attributes
    ----------
    strengths
        The hand strength for each seat and round.
    won
        1 if the first seat has the better cards at the end, -1 if the second seat, 0 for a tie.
    """

    strengths: tuple[tuple[float, ...], tuple[float, ...]]
    won: int


class LearningGame:
    """The game, with the methods of ``pyspiel.Game`` that the algorithms call.

    Parameters
    ----------
    deals
        The number of different deals.
    random
        Draws the deals, and chooses one of them for each hand.

    Attributes
    ----------
    bounds
        The strengths that separate the `BUCKETS`, for each round.
    """

    def __init__(self, deals: int, random: np.random.Generator) -> None:
        self._random = random
        self._deals = _draw_deals(deals, random)
        every = np.array([hand.strengths for hand in self._deals]).reshape(-1, STAGES)
        shares = np.arange(1, BUCKETS) / BUCKETS
        self.bounds: list[list[float]] = np.quantile(every, shares, axis=0).T.tolist()

    def draw(self) -> DealtHand:
        """Return one of the deals, drawn uniformly."""
        return self._deals[int(self._random.integers(len(self._deals)))]

    def get_type(self) -> Any:  # noqa: ANN401  (OpenSpiel has no types)
        """Return OpenSpiel's description of limit hold'em: a sequential game."""
        return load_game(HoldemPosition.referee).get_type()

    def num_players(self) -> int:
        """Return the number of players."""
        return len(PLAYERS)

    def num_distinct_actions(self) -> int:
        """Return the number of actions: fold, check or call, raise."""
        return ACTIONS

    def new_initial_state(self) -> HandState:
        """Return the state before the cards are dealt."""
        return HandState(self, None, begin(RULES))


class HandState:
    """A state of a hand, with the methods of ``pyspiel.State`` that the algorithms call.

    Parameters
    ----------
    game
        The game.
    hand
        The deal; None before the deal.
    betting
        The betting state.
    """

    def __init__(self, game: LearningGame, hand: DealtHand | None, betting: Betting) -> None:
        self._game, self._hand, self._betting = game, hand, betting

    def is_chance_node(self) -> bool:
        """Return whether the next step is the deal."""
        return self._hand is None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return a single outcome with probability 1, because `child` draws the deal."""
        return [(0, 1.0)]

    def is_terminal(self) -> bool:
        """Return whether the hand has ended."""
        return self._hand is not None and self._betting.phase != "bet"

    def current_player(self) -> int:
        """Return OpenSpiel's number of the player who acts next."""
        if self.is_terminal():
            return _TERMINAL
        return _CHANCE if self.is_chance_node() else self._betting.seat

    def child(self, action: int) -> HandState:
        """Return the state after an action, or after the deal."""
        if self._hand is None:
            return HandState(self._game, self._game.draw(), self._betting)
        name = next(name for name in self._betting.actions if NUMBERS[name] == action)
        betting = self._betting.after(name)
        if betting.phase == "deal":
            betting = betting.next_round()
        return HandState(self._game, self._hand, betting)

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the numbers of the legal actions."""
        del player
        return [NUMBERS[name] for name in self._betting.actions]

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return 1 for each legal action and 0 for the others."""
        legal = self.legal_actions(player)
        return [int(number in legal) for number in range(ACTIONS)]

    def information_state_string(self, player: int | None = None) -> str:
        """Return the key of the next player's information set."""
        del player
        bounds = self._game.bounds[self._betting.stage]
        return key_of(self._betting, bisect(bounds, self._strength))

    def information_state_tensor(self, player: int | None = None) -> Floats:
        """Return the view of the next player as numbers."""
        del player
        return describe(self._betting, self._strength)

    @property
    def _strength(self) -> float:
        if self._hand is None:
            return 0.0
        return self._hand.strengths[self._betting.seat][self._betting.stage]

    def returns(self) -> list[float]:
        """Return the chips that each seat won."""
        betting, hand = self._betting, self._hand
        if hand is None or not self.is_terminal():
            return [0.0, 0.0]
        won = (2 * betting.seat - 1) if betting.phase == "folded" else hand.won
        stake = float(won * min(betting.bets))
        return [stake, -stake]

    def player_return(self, player: int) -> float:
        """Return the chips that one seat won."""
        return self.returns()[player]


def _draw_deals(count: int, random: np.random.Generator) -> list[DealtHand]:
    deals = [deal_uniformly(random) for _ in range(count)]
    boards = np.array([deal.board for deal in deals])
    by_seat = []
    for seat in (0, 1):
        holes = np.array([deal.hands[seat] for deal in deals])
        dealt = np.cumsum(RULES.dealt).tolist()
        rounds = np.stack([strengths(holes, boards[:, :number]) for number in dealt], axis=1)
        by_seat.append([tuple(row) for row in rounds.tolist()])
    worths = [[value_of((*hole, *deal.board)) for hole in deal.hands] for deal in deals]
    return [
        DealtHand((first, second), (mine > other) - (mine < other))
        for first, second, (mine, other) in zip(*by_seat, worths, strict=True)
    ]
