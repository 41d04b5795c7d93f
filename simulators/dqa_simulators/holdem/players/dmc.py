"""DMC: Deep Monte Carlo. A network learns what actions bring, from hands that it plays.

Zha et al., "DouZero: Mastering DouDizhu with self-play deep reinforcement learning", ICML 2021,
section 3: every action of a hand is worth what the hand brought in the end; the players take what
seems best, and now and then anything.

There the network meets itself alone. In a game with few actions and much hidden that goes in
circles: what it learns last answers what it did just before, and against anyone else it is better
or worse by accident. So ours meets a pool, as in fictitious self-play (Heinrich et al., "Fictitious
self-play in extensive-form games", ICML 2015): itself, what it was earlier, and random play.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dqa_simulators.holdem.players.deals import Deals
from dqa_simulators.holdem.players.features import PRIVATE, PUBLIC, Encoded, Floats, encode
from dqa_simulators.holdem.players.network import Adam, Network
from dqa_simulators.holdem.players.states import ACTIONS, States

Index: TypeAlias = NDArray[np.int64]

SIZES: Final = (PUBLIC + PRIVATE, 96, 96, ACTIONS)
"""Of the layers."""

SCALE: Final = 10.0
"""Chips that are one unit of what networks learn."""

_HANDS: Final = 1024
_MINIBATCH: Final = 256
_EXPLORATION: Final = 0.1
_EARLIER_SHARE: Final = 0.25
_RANDOM_SHARE: Final = 0.4
_KEPT: Final = 10
_ITSELF, _EARLIER, _AT_RANDOM = range(3)
_FASTEST, _SLOWEST = 1e-3, 1e-4


class Learner:
    """A network that plays against a pool, and learns from the hands.

    In each hand it plays one seat, drawn anew, and learns from what it did there itself; in the
    hands against itself it learns from both seats.

    Parameters
    ----------
    rules
        The betting.
    deals
        What is dealt.
    random
        Where every random choice comes from.
    """

    def __init__(self, rules: States, deals: Deals, random: np.random.Generator) -> None:
        self._rules = rules
        self._deals = deals
        self._encoded: Encoded = encode(rules, deals)
        self._random = random
        self.network = Network.drawn(SIZES, random)
        self._adam = Adam(self.network, _FASTEST)
        self._earlier: list[Network] = []

    def iterate(self, progress: float) -> None:
        """Play a batch of hands, and learn from them; `progress` goes from 0 to 1 over all."""
        if len(self._earlier) < int(progress * _KEPT):
            self._earlier.append(self.network.copy())
        inputs, actions, returns = self._play()
        self._adam.rate = _FASTEST * (_SLOWEST / _FASTEST) ** progress
        chosen = (actions[:, None] == np.arange(ACTIONS)).astype(np.float32)
        targets = chosen * returns[:, None]
        order = self._random.permutation(len(inputs))
        for start in range(0, len(order), _MINIBATCH):
            rows = order[start : start + _MINIBATCH]
            self._adam.fit(inputs[rows], targets[rows], chosen[rows])

    def _play(self) -> tuple[Floats, Index, Floats]:
        """Return what was seen, what was done, and what that brought, a row a decision."""
        rules, random = self._rules, self._random
        deals = random.integers(0, len(self._deals), _HANDS)
        seats = random.integers(0, 2, _HANDS)
        opponents, earlier = self._draw_opponents()
        states = np.zeros(_HANDS, dtype=np.int64)
        seen, done, movers, hands = [], [], [], []
        while (playing := np.flatnonzero(rules.mover[states] >= 0)).size:
            here = states[playing]
            mover = rules.mover[here]
            inputs = self._encoded.of(here, deals[playing], rules)
            players = np.where(mover == seats[playing], _ITSELF, opponents[playing])
            actions = self._choose(inputs, rules.legal[here], players, earlier)
            own = players == _ITSELF
            seen.append(inputs[own])
            done.append(actions[own])
            movers.append(mover[own])
            hands.append(playing[own])
            states[playing] = rules.after[here, actions]
        won = rules.ends(states, self._deals.won[deals]) / SCALE
        signs = 1 - 2 * np.concatenate(movers)
        returns = (signs * won[np.concatenate(hands)]).astype(np.float32)
        return np.concatenate(seen), np.concatenate(done), returns

    def _draw_opponents(self) -> tuple[Index, Network]:
        """Return by hand who is met, and which of the earlier networks it is in this batch."""
        point = self._random.random(_HANDS)
        opponents = np.where(point < _RANDOM_SHARE, _AT_RANDOM, _ITSELF)
        if not self._earlier:
            return opponents, self.network
        earlier = self._earlier[int(self._random.integers(len(self._earlier)))]
        opponents[point >= 1 - _EARLIER_SHARE] = _EARLIER
        return opponents, earlier

    def _choose(
        self, inputs: Floats, legal: NDArray[np.bool_], players: Index, earlier: Network
    ) -> Index:
        """Return an action a row: what the player's network values most, or now and then any."""
        values = self.network(inputs)
        others = players == _EARLIER
        values[others] = earlier(inputs[others])
        best = np.where(legal, values, -np.inf).argmax(axis=1)
        anything = np.where(legal, self._random.random(legal.shape), -1).argmax(axis=1)
        exploration = np.where(players == _AT_RANDOM, 1.0, _EXPLORATION)
        explores = self._random.random(len(inputs)) < exploration
        chosen: Index = np.where(explores, anything, best)
        return chosen
