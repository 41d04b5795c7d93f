"""Policies that play hold'em, and the features that they see. The policies need only NumPy."""

from __future__ import annotations

from bisect import bisect
from functools import lru_cache
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dqa.core.question import Candidate
from dqa.worlds.base import Policy
from dqa.worlds.training import Weights
from dqa.worlds.world import Position
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE, Betting
from dqa_simulators.holdem.hands import PAIR, TRIPS, TWO_PAIR, category
from dqa_simulators.holdem.players.strength import strength
from dqa_simulators.holdem.position import RULES, HoldemPosition

Floats: TypeAlias = NDArray[np.float32]

NUMBERS: Final = HoldemPosition.codes
ACTIONS: Final = 3
STAGES: Final = len(RULES.stages)
BUCKETS: Final = 10
"""The number of strength classes per round, for players with a table."""
_HINGES: Final = np.arange(1, 10) / 10
FEATURES: Final = STAGES + RULES.most_raises + 1 + 4 + 2 + STAGES + len(_HINGES)
"""The length of the vector that describes a player's view."""
_GOOD_BEFORE_FLOP: Final = 0.6
_FAIR_BEFORE_FLOP: Final = 0.45
_NORM_EPSILON: Final = 1e-6


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
    """Return the key of an information set.

    The key consists of the betting state and the class of the hand's strength.
    """
    first, second = betting.bets
    return f"{betting.stage} {betting.seat} {first} {second} {betting.raises} {bucket}"


def legal_numbers(key: str) -> list[int]:
    """Return the numbers of the legal actions of an information set."""
    stage, seat, first, second, raises, _ = map(int, key.split())
    betting = Betting(RULES, (first, second), stage, raises, 0, seat, "bet")
    return [NUMBERS[name] for name in betting.actions]


class RulePolicy(Policy):
    """Bets only by the strength of its own hand.

    Before the flop, the policy raises with a strength of at least 0.6 (for example a pair of sixes,
    or an ace and a seven) if the round has fewer than two raises. It calls with a strength of at
    least 0.45. After the flop, the category of the hand counts only if this category is better than
    the category of the public cards. With three of a kind or better, the policy always raises. With
    one or two pairs, the policy raises if the round has no raises yet, and otherwise calls. If the
    category does not count, the policy calls with a strength of at least 0.5. In all remaining
    cases, the policy checks, or folds if it cannot check.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the action for the strength of the hand."""
        del random
        hand = cast("HoldemPosition", position)
        boldness = self._boldness(hand)
        if boldness == 2 and RAISE in hand.actions:
            return RAISE
        if CHECK in hand.actions:
            return CHECK
        return CALL if boldness else FOLD

    def _boldness(self, hand: HoldemPosition) -> int:
        """Return 2 to raise, 1 to call, 0 to check or fold."""
        found = strength(hand.hole, hand.board)
        if not hand.board:
            wants = 2 if found >= _GOOD_BEFORE_FLOP else int(found >= _FAIR_BEFORE_FLOP)
            return min(wants, 1) if hand.betting.raises >= 2 else wants
        own, public = int(category((*hand.hole, *hand.board))), int(category(hand.board))
        if len(hand.board) < 5:
            public = min(public, TRIPS)
        if own >= TRIPS and own > public:
            return 2
        has_pair = own in {PAIR, TWO_PAIR} and own > public
        if has_pair and hand.betting.raises < 1:
            return 2
        return int(has_pair or found >= 0.5)


class TablePolicy(Policy):
    """Draws its actions from a strategy over betting states and strength classes.

    Parameters
    ----------
    weights
        ``strategy`` has a row for each information set in ``keys``. ``bounds`` are the strengths
        that separate the strength classes.
    """

    def __init__(self, weights: Weights) -> None:
        keys, strategy = weights["keys"], weights["strategy"]
        self._bounds = weights["bounds"].tolist()
        rows = zip(keys.tolist(), strategy, strict=True)
        self._strategy = {" ".join(map(str, key)): row for key, row in rows}

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Draw an action from the strategy of the information set."""
        hand = cast("HoldemPosition", position)
        bucket = bisect(self._bounds[hand.betting.stage], strength(hand.hole, hand.board))
        row = self._strategy.get(key_of(hand.betting, bucket), np.zeros(ACTIONS))
        return _draw(hand, row, random)


class GreedyPolicy(Policy):
    """Chooses the action with the highest value. Each seat has a network that estimates values."""

    def __init__(self, weights: Weights) -> None:
        self._networks = [_Network(weights, f"{seat} ") for seat in (0, 1)]

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return the legal action with the highest value."""
        del random
        hand = cast("HoldemPosition", position)
        values = self._networks[hand.betting.seat](_seen(hand))
        return max(hand.actions, key=lambda action: values[NUMBERS[str(action)]])


class DrawingPolicy(Policy):
    """Draws its actions with the probabilities from a network."""

    def __init__(self, weights: Weights) -> None:
        self._network = _Network(weights)

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Draw a legal action with the probabilities from the network."""
        hand = cast("HoldemPosition", position)
        logits = self._network(_seen(hand))
        return _draw(hand, np.exp(logits - logits.max()), random)


class _Network:
    """A network trained by OpenSpiel: linear layers with rectifiers and an optional layer norm.

    Parameters
    ----------
    weights
        The arrays of the network.
    start
        The prefix of the arrays' names.
    """

    def __init__(self, weights: Weights, start: str = "") -> None:
        count = sum(name.startswith(f"{start}weights") for name in weights)
        self._layers = [
            (weights[f"{start}weights{number}"], weights[f"{start}biases{number}"])
            for number in range(count)
        ]
        self._norm = weights.get(f"{start}norm")
        if self(np.zeros(FEATURES, dtype=np.float32)).shape != (ACTIONS,):
            raise ValueError("the network does not fit the features and actions of hold'em")

    def __call__(self, seen: Floats) -> NDArray[np.floating]:
        *hidden, (last, bias) = self._layers
        for kernel, shift in hidden:
            seen = np.maximum(seen @ kernel + shift, 0)
        if self._norm is not None:
            scale, shift = self._norm
            seen = (seen - seen.mean()) / np.sqrt(seen.var() + _NORM_EPSILON) * scale + shift
        values: NDArray[np.floating] = seen @ last + bias
        return values


def _seen(hand: HoldemPosition) -> Floats:
    return describe(hand.betting, strength(hand.hole, hand.board))


def _draw(
    hand: HoldemPosition, weights: NDArray[np.floating], random: np.random.Generator
) -> Candidate:
    """Draw a legal action in proportion to its weight, or uniformly if all weights are 0."""
    legal = np.array([weights[NUMBERS[str(action)]] for action in hand.actions], dtype=np.float64)
    if legal.sum() <= 0:
        legal[:] = 1.0
    return hand.actions[int(random.choice(len(legal), p=legal / legal.sum()))]
