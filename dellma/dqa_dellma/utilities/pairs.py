"""State-action pairs, and the minibatches in which they are ranked (section 3.3, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqa_dellma.findings import DrawnPairs
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import Beliefs, sample_states


@dataclass(frozen=True)
class Pairs:
    """State-action pairs in the order in which they are shown; each pair is an item to rank.

    Attributes
    ----------
    states
        Shape (S, k): the sampled states; see `sample_states`.
    state_of, action_of
        Shape (n,) each: the state and the action of each item.
    bearing
        Shape (A, k): whether a factor affects an action, by action and factor. None if every factor
        may affect every action.
    """

    states: NDArray[np.int64]
    state_of: NDArray[np.int64]
    action_of: NDArray[np.int64]
    bearing: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.state_of)

    def found(self) -> DrawnPairs:
        """Return the pairs in the form that a trace stores."""
        parts = {"states": self.states, "state_of": self.state_of, "action_of": self.action_of}
        return DrawnPairs(**{name: one.tolist() for name, one in parts.items()})

    def bears(self, item: int) -> NDArray[np.bool_]:
        """Return which factors affect an item's action, shape (k,)."""
        if self.bearing is None:
            return np.ones(self.states.shape[1], dtype=np.bool_)
        return np.asarray(self.bearing[self.action_of[item]])


def draw_pairs(
    beliefs: Beliefs, bearing: NDArray[np.bool_], own: DellmaSettings, rng: np.random.Generator
) -> Pairs:
    """Draw states and pair them with actions, in random order.

    If `shared` is true, all states are paired with every action (variance reduction). Otherwise the
    states are divided evenly among the actions (DeLLMa-Naive). The states of an action are drawn
    together, so that stratified draws cover the values of each factor evenly.

    Parameters
    ----------
    beliefs
        The beliefs about k factors.
    bearing
        Shape (A, k): whether a factor affects an action, by action and factor.
    own
        The settings of the method. This function uses `samples`, `draws` and `shared`.
    rng
        The random number generator for states and order.
    """
    actions = len(bearing)
    if own.shared:
        states = sample_states(beliefs, own.samples, rng, own.draws)
        order = rng.permutation(len(states) * actions)
        return Pairs(states, order // actions, order % actions, bearing)
    sizes = np.bincount(np.arange(own.samples) % actions, minlength=actions)
    drawn = [sample_states(beliefs, size, rng, own.draws) for size in sizes.tolist()]
    order = rng.permutation(own.samples)
    states, action_of = np.concatenate(drawn)[order], np.repeat(np.arange(actions), sizes)[order]
    return Pairs(states, np.arange(own.samples), action_of, bearing)


def cut_minibatches(count: int, size: int, overlap: float) -> list[range]:
    """Divide items into minibatches. Adjacent minibatches share a proportion `overlap` of items.

    `size` is at least 2, and `overlap` is in [0, 1).

    The step between minibatches is ``floor(size * (1 - overlap))``. The last minibatch ends with
    the last item. It has at least two items if possible, because a single item cannot be ranked.
    """
    # Round, because 10 * (1 - 0.8) is 1.9999999999999996 in floating point.
    step = max(1, math.floor(round(size * (1.0 - overlap), 9)))
    last = max(0, count - size)
    starts = (min(start, max(0, count - 2)) for start in range(0, last + step, step))
    return [range(start, min(start + size, count)) for start in starts] if count else []
