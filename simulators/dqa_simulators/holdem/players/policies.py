"""Players of hold'em: what they make of a position. All need NumPy alone."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.worlds.base import Policy
from dqa.worlds.training import Weights
from dqa.worlds.world import Position
from dqa_simulators.games.betting import CALL, CHECK, FOLD, RAISE
from dqa_simulators.holdem.hands import PAIR, TRIPS, TWO_PAIR, category
from dqa_simulators.holdem.players.deals import BUCKETS
from dqa_simulators.holdem.players.features import (
    PRIVATE,
    PUBLIC,
    Floats,
    private_features,
    public_features,
)
from dqa_simulators.holdem.players.network import Network
from dqa_simulators.holdem.players.states import ACTIONS, NUMBERS, betting_states, key_of
from dqa_simulators.holdem.players.strength import STAGES, strength
from dqa_simulators.holdem.position import HoldemPosition

_GOOD_BEFORE_FLOP: Final = 0.6
_FAIR_BEFORE_FLOP: Final = 0.45


def hand_of(position: Position) -> HoldemPosition:
    """Return a position as one of hold'em; `UsageError` where it is another world's."""
    if isinstance(position, HoldemPosition):
        return position
    raise UsageError("This player plays hold'em, and the position is of another world.")


class RulePolicy(Policy):
    """Bets by how good its hand is, and by nothing else.

    Before the flop it raises with a strength of 0.6 or more (a pair of sixes, an ace and a seven),
    at most twice a round, calls with 0.45 or more, and else gives up. Later it raises with what the
    board alone does not have: three of a kind or better always, a pair or two pair where nobody has
    raised in the round. With such a pair it calls, too, and with a strength of 0.5 or more; else it
    gives up: it checks where it can, and folds where it cannot.
    """

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Look at the cards, and bet."""
        del random
        hand = hand_of(position)
        actions = hand.actions
        boldness = self._boldness(hand)
        if boldness == 2 and RAISE in actions:
            return RAISE
        if CHECK in actions:
            return CHECK
        return CALL if boldness else FOLD

    def _boldness(self, hand: HoldemPosition) -> int:
        """Return 2 for raising, 1 for calling, 0 for giving up."""
        found = strength((hand.hole[0], hand.hole[1]), hand.board)
        if not hand.board:
            wants = 2 if found >= _GOOD_BEFORE_FLOP else int(found >= _FAIR_BEFORE_FLOP)
            return min(wants, 1) if hand.raises >= 2 else wants
        own = category((*hand.hole, *hand.board))
        if own >= TRIPS and own > _board_category(hand.board):
            return 2
        has_pair = own in {PAIR, TWO_PAIR} and own > _board_category(hand.board)
        if has_pair and hand.raises < 1:
            return 2
        return int(has_pair or found >= 0.5)


def _board_category(board: tuple[int, ...]) -> int:
    """Return what the board has by itself, as a category up to `TRIPS` where it is not whole."""
    if len(board) >= 5:
        return category(board)
    counts = np.bincount(np.array(board) // 4, minlength=13)
    if counts.max() >= 3:
        return TRIPS
    return int((counts == 2).sum())  # no pair, PAIR or TWO_PAIR


class CfrPolicy(Policy):
    """Draws its actions by a strategy over public states and buckets of strength.

    Parameters
    ----------
    weights
        ``strategy``, of shape (public states, buckets, 3); ``bounds`` of the buckets, shape (4, 9).
    """

    def __init__(self, weights: Weights) -> None:
        self._states = betting_states()
        shape = (len(self._states.mover), BUCKETS, ACTIONS)
        self._strategy = _of_shape(weights, "strategy", shape)
        self._bounds = _of_shape(weights, "bounds", (STAGES, BUCKETS - 1))

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Find the bucket, and draw an action."""
        hand = hand_of(position)
        state = self._states.numbers[key_of(hand.betting)]
        found = strength((hand.hole[0], hand.hole[1]), hand.board)
        bucket = np.searchsorted(self._bounds[hand.stage], found, side="right")
        return draw_action(hand, self._strategy[state, bucket], random)


class GreedyPolicy(Policy):
    """Takes the action that a network values most.

    Parameters
    ----------
    weights
        Of the network.
    """

    def __init__(self, weights: Weights) -> None:
        self._network = read_network(weights)

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Value the actions."""
        del random
        hand = hand_of(position)
        values = self._network(seen(hand))[0]
        return max(hand.actions, key=lambda action: values[NUMBERS[str(action)]])


class SeatedPolicy(Policy):
    """Takes the action that the network of its seat values most.

    Parameters
    ----------
    weights
        Of both networks, their names behind the number of the seat.
    """

    def __init__(self, weights: Weights) -> None:
        self._by_seat = [
            GreedyPolicy({name[2:]: part for name, part in weights.items() if name[:2] == start})
            for start in ("0 ", "1 ")
        ]

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Let the one of the seat choose."""
        return self._by_seat[hand_of(position).betting.seat].choose(position, random)


class DrawingPolicy(Policy):
    """Draws its actions as likely as a network says.

    Parameters
    ----------
    weights
        Of the network.
    """

    def __init__(self, weights: Weights) -> None:
        self._network = read_network(weights)

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Ask for the probabilities, and draw."""
        hand = hand_of(position)
        return draw_action(hand, np.maximum(self._network(seen(hand))[0], 0), random)


def draw_action(
    hand: HoldemPosition, weights: NDArray[np.floating], random: np.random.Generator
) -> Candidate:
    """Draw a legal action by weights over the numbers of actions."""
    legal = [float(weights[NUMBERS[str(action)]]) for action in hand.actions]
    total = sum(legal)
    point = random.random() * (total or 1)
    if total <= 0:
        return hand.actions[int(point * len(legal))]
    for action, weight in zip(hand.actions, legal, strict=True):
        point -= weight
        if point < 0:
            return action
    return max(zip(legal, hand.actions, strict=True))[1]  # rounding left a sliver


def read_network(weights: Weights) -> Network:
    """Return the network of a player; `ValueError` where it takes or gives something else."""
    network = Network.read(weights)
    sizes = [part.shape for layer in network.layers for part in layer]
    taken: tuple[int, ...] = (PUBLIC + PRIVATE,)
    fits = bool(sizes)
    for kernel, bias in network.layers:
        fits = fits and kernel.ndim == 2 and kernel.shape == (*taken, *bias.shape)
        taken = bias.shape
    if not fits or taken != (ACTIONS,):
        raise ValueError(f"a network of the shapes {sizes} plays no hold'em")
    return network


def seen(hand: HoldemPosition) -> Floats:
    """Return what the mover of a position sees, as `features.Encoded.of` does for deals."""
    betting = hand.betting
    own, other = betting.bets if betting.seat == 0 else betting.bets[::-1]
    public = _public(betting.stage, betting.seat, own, other, betting.raises)
    return np.concatenate([public, _private((hand.hole[0], hand.hole[1]), hand.board)], axis=1)


@lru_cache(maxsize=1024)
def _public(stage: int, seat: int, own: int, other: int, raises: int) -> Floats:
    row = np.array([[stage, seat, own, other, raises]])
    return public_features(row[:, 0], row[:, 1], row[:, 2:4], row[:, 4])


@lru_cache(maxsize=4096)
def _private(hole: tuple[int, int], board: tuple[int, ...]) -> Floats:
    stage = {0: 0, 3: 1, 4: 2, 5: 3}[len(board)]
    cards = np.array([board], dtype=np.int64).reshape(1, len(board))
    return private_features(stage, np.array([strength(hole, board)]), np.array([hole]), cards)


def _of_shape(weights: Weights, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(weights[name], dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"'{name}' has the shape {array.shape}, not {shape}")
    return array
