"""Reward aggregation: what an action returns in the long run (equations 3 to 5, Algorithm 2).

``G(tau)`` adds ``beta**k * r(s_{t+k})`` over k from 0 to T, and ``G(a)`` is the largest of a
trajectory that begins with a. Algorithm 2 writes the exponent as i, which nothing defines; it is k,
as in equation 3. The paper leaves open three things, which are settled here so that trajectories of
any length compare:

- The reward of a state on a trajectory is that of the action which it takes there; of the last one,
  where nothing is taken any more, that of its best action.
- A trajectory that ends before T, at a terminal or by chance, keeps its last reward: what it is
  worth does not change any more, and ending early is neither better nor worse for it.
- A reward that nobody gave is taken to be the next one of the trajectory, or else the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dqa.core.question import Candidate
from dqa_bidder.events import ActionReturn
from dqa_bidder.steps.exploration import Node, Tree


class RewardAggregation(Protocol):
    """The fourth step: rewards along trajectories to the return of each action."""

    def aggregate(self, tree: Tree, beta: float) -> tuple[ActionReturn, ...]:
        """Return the return of each action of the root that was looked at, in legal order."""
        ...


class BellmanAggregation:
    """Adds rewards up with the attenuation coefficient, and takes the best trajectory."""

    def aggregate(self, tree: Tree, beta: float) -> tuple[ActionReturn, ...]:
        """Return the returns; see `RewardAggregation`."""
        summing = _Summing(tree.horizon, beta)
        found = []
        for action in tree.root.considered or ():
            best = summing.of_action(tree.root, action, 0)
            value = None if best.first is None else best.total
            found.append(ActionReturn(action=action, value=value, path=best.path))
        return tuple(found)


def largest_return(horizon: int, beta: float) -> float:
    """Return what a trajectory returns whose rewards are all 1."""
    return sum(beta**k for k in range(horizon + 1))


@dataclass(frozen=True, slots=True)
class _Best:
    """The best way on from a place.

    Attributes
    ----------
    first
        Its first reward; None where no reward on it is known.
    total
        Its discounted sum.
    path
        Who does what.
    """

    first: float | None
    total: float
    path: tuple[str, ...]


_UNKNOWN = _Best(None, 0.0, ())


class _Summing:
    """Sums along trajectories; what follows a node is worked out once for each place in them."""

    def __init__(self, horizon: int, beta: float) -> None:
        self._powers = [beta**k for k in range(horizon + 1)]
        self._horizon = horizon
        self._found: dict[tuple[int, int], _Best] = {}

    def of_action(self, node: Node, action: Candidate, k: int) -> _Best:
        """Return the best trajectory that takes an action as its own move number `k`."""
        reward = node.rewards.get(action)
        after = _UNKNOWN
        if k < self._horizon and action in node.children:
            after = self._from(node.children[action], k + 1)
        path = (f"{node.mover}: {action}", *after.path)
        if after.first is None:
            return _Best(reward, (reward or 0.0) * self._rest(k), path)
        first = after.first if reward is None else reward
        return _Best(first, self._powers[k] * first + after.total, path)

    def _from(self, node: Node, k: int) -> _Best:
        """Return the best from a node on, whose next own move has number `k`."""
        place = (node.number, k)
        if place not in self._found:
            self._found[place] = _UNKNOWN  # a position that comes back to itself adds nothing
            self._found[place] = self._best_from(node, k)
        return self._found[place]

    def _best_from(self, node: Node, k: int) -> _Best:
        if node.of == "terminal" and node.payoff is not None:
            return _Best(node.payoff, node.payoff * self._rest(k), ())
        if node.of == "reply" and node.reply is not None:
            after = self._from(node.children[node.reply], k)
            return _Best(after.first, after.total, (f"{node.mover}: {node.reply}", *after.path))
        ways = [self.of_action(node, action, k) for action in node.looked_at]
        known = [way for way in ways if way.first is not None]
        return max(known, key=lambda way: way.total, default=_UNKNOWN)

    def _rest(self, k: int) -> float:
        return sum(self._powers[k:])
