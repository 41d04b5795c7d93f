"""Reward aggregation: the return of an action in the long run (equations 3 to 5, Algorithm 2).

By default (``expected``) the return of an action is its expected payoff: the best own action after
each reply, averaged over the replies by their probabilities. A trajectory counts once, with the
payoff of its end, or else with its last estimate, however long it is. So all are comparable.

The paper's sum ``G(tau)`` adds ``beta**k * r(s_{t+k})`` over k from 0 to T, and ``G(a)`` is the
largest of a trajectory that begins with a. Algorithm 2 writes the exponent as i, which nothing
defines; it is k, as in equation 3. The paper leaves open four points:

- The reward of a state on a trajectory is that of the action taken there; the last state has the
  reward of its best action.
- Several own actions of one turn have the reward of the last.
- A trajectory that ends before T, at a terminal or by chance, keeps its last reward (``padded``),
  or has only the rewards that it collects (``collected``).
- A reward that no reply gave is the next one of the trajectory, or else the last.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import ConfigDict, Field

from dqa.core.question import Candidate
from dqa.deciders.method import Finding
from dqa_bidder.exploration import Tree
from dqa_bidder.replies import rounded
from dqa_bidder.settings import Aggregation
from dqa_bidder.states import Node


class ActionReturn(Finding):
    """The return of an action, G(a) (equation 4).

    Attributes
    ----------
    action
        The action.
    value
        The largest return of a trajectory that begins with it; None if no reward is known.
    path
        That trajectory: who does what.
    """

    action: Candidate
    value: float | None
    path: tuple[str, ...] = ()


class Returns(Finding):
    """The returns of the actions (Algorithm 2).

    Attributes
    ----------
    returns
        The return of each action that was considered, in legal order.
    horizon, beta
        T, and the attenuation coefficient.
    ceiling
        The largest possible return.
    scale
        The payoffs that the rewards 0 and 1 stand for.
    best
        The action with the largest return; None if none is known.
    """

    model_config = ConfigDict(title="returns")

    returns: tuple[ActionReturn, ...] = Field(title="returns")
    best: Candidate | None = Field(title="largest")
    ceiling: float = Field(title="largest possible return")
    scale: tuple[float, float] = (0.0, 1.0)
    horizon: int = Field(title="T")
    beta: float = Field(title="beta")

    def shown(self, value: float | None, *, mean: bool) -> float | None:
        """Return a return for a prompt: as it is, or as a weighted mean in the game's unit."""
        if value is None or not mean:
            return None if value is None else rounded(value)
        low, high = self.scale
        return rounded(low + value / self.ceiling * (high - low))


def aggregate(tree: Tree, beta: float, returns: Aggregation = "expected") -> Returns:
    """Return the return of each action of the root that was considered, in legal order.

    Parameters
    ----------
    tree
        The explored states.
    beta
        The attenuation coefficient of sums.
    returns
        How rewards are combined.
    """
    powers = [beta**k for k in range(tree.horizon + 1)]
    rest = [sum(powers[k:]) if returns == "padded" else powers[k] for k in range(len(powers))]
    ways = _Expecting() if returns == "expected" else _Summing(powers, rest)
    found = []
    for action in tree.root.considered or ():
        best = ways.of_action(tree.root, action, 0)
        value = None if best.first is None else best.total
        found.append(ActionReturn(action=action, value=value, path=best.path))
    known = [one for one in found if one.value is not None]
    largest = max(known, key=lambda one: one.value or 0.0).action if known else None
    return Returns(
        returns=tuple(found),
        horizon=tree.horizon,
        beta=beta,
        ceiling=1.0 if returns == "expected" else sum(powers),
        scale=tree.scale,
        best=largest,
    )


@dataclass(frozen=True, slots=True)
class _Best:
    """The best course from a state: its first reward (None if none is known), value and steps."""

    first: float | None = None
    total: float = 0.0
    path: tuple[str, ...] = ()


class _Expecting:
    """Expected payoffs: the rules' at an end, or else the last estimate on the way."""

    def __init__(self) -> None:
        self.found: dict[int, _Best] = {}

    def of_action(self, node: Node, action: Candidate, k: int = 0) -> _Best:
        """Return the value of what follows an action; if that is unknown, of its estimate."""
        del k  # every payoff is that of the end, however late
        child, step = node.children.get(action), f"{node.mover}: {action}"
        after = _Best() if child is None else self._from_node(child)
        if after.first is not None:
            return _Best(after.first, after.total, (step, *after.path))
        reward = node.rewards.get(action)
        return _Best(reward, reward or 0.0, (step,))

    def _from_node(self, node: Node) -> _Best:
        if node.number not in self.found:
            self.found[node.number] = _Best()  # a position that returns to itself adds nothing
            self.found[node.number] = self._calculated(node)
        return self.found[node.number]

    def _calculated(self, node: Node) -> _Best:
        if node.payoff is not None:
            return _Best(node.payoff, node.payoff)
        if node.of != "reply":
            ways = [self.of_action(node, action) for action in node.followed]
            known = [way for way in ways if way.first is not None]
            return max(known, key=lambda way: way.total, default=_Best())
        after = {reply: self._from_node(node.children[reply]) for reply in node.replies}
        if not after or any(way.first is None for way in after.values()):
            return _Best()  # a part of the replies is not comparable with all of them
        total = sum(node.replies[reply] * way.total for reply, way in after.items())
        likely = max(after, key=lambda reply: node.replies[reply])
        chance = node.replies[likely]
        step = f"{node.mover}: {likely}" + (f" ({chance:.0%})" if chance < 1 else "")
        return _Best(total, total, (step, *after[likely].path))


@dataclass(slots=True)
class _Summing:
    """Sums along trajectories; calculates what follows a node once for each own move number."""

    powers: list[float]
    rest: list[float]
    found: dict[tuple[int, int], _Best] = field(default_factory=dict)

    def of_action(self, node: Node, action: Candidate, k: int) -> _Best:
        """Return the best trajectory that takes an action as own move number `k`."""
        reward = node.rewards.get(action)
        after, child = _Best(), node.children.get(action)
        goes_on = child is not None and child.in_turn
        if child is not None and (goes_on or k < len(self.powers) - 1):
            after = self.from_node(child, k if goes_on else k + 1)
        path = (f"{node.mover}: {action}", *after.path)
        if after.first is None:
            return _Best(reward, (reward or 0.0) * self.rest[k], path)
        if goes_on:
            return _Best(after.first, after.total, path)
        first = after.first if reward is None else reward
        return _Best(first, self.powers[k] * first + after.total, path)

    def from_node(self, node: Node, k: int) -> _Best:
        """Return the best trajectory from a node, whose next own move has number `k`."""
        key = (node.number, k)
        if key not in self.found:
            self.found[key] = _Best()  # a position that returns to itself adds nothing
            self.found[key] = self._from_node(node, k)
        return self.found[key]

    def _from_node(self, node: Node, k: int) -> _Best:
        if node.of == "terminal" and node.payoff is not None:
            return _Best(node.payoff, node.payoff * self.rest[k], ())
        if node.of == "reply" and node.replies:
            (reply,) = node.replies
            after = self.from_node(node.children[reply], k)
            return _Best(after.first, after.total, (f"{node.mover}: {reply}", *after.path))
        ways = [self.of_action(node, action, k) for action in node.followed]
        known = [way for way in ways if way.first is not None]
        return max(known, key=lambda way: way.total, default=_Best())
