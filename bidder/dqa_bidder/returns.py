"""Reward aggregation: the long-run return of each action (equations 3 to 5, Algorithm 2).

With ``expected`` (the default), the return of an action is its expected payoff: the mean over the
replies, weighted by their probabilities. After each reply, the decision maker takes the best
action. A trajectory contributes one value: the payoff of its terminal state, or its last estimated
payoff if it has no terminal state. So trajectories of different lengths are comparable.

The paper's sum ``G(tau)`` adds ``beta**k * r(s_{t+k})`` for k from 0 to T. ``G(a)`` is the largest
sum of a trajectory whose first action is ``a``. Algorithm 2 writes the exponent as an undefined i;
the exponent here is k, as in equation 3. The paper leaves four points open:

- The reward of a state on a trajectory is the reward of the action that is taken in the state. The
  last state has the reward of its best action.
- If the decision maker acts several times in one turn, the turn has the reward of the last action.
- A trajectory may end before T, in a terminal state or at a chance event. Then its last reward is
  repeated (``padded``), or the sum has fewer rewards (``collected``).
- A missing reward is replaced by the next reward of the trajectory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import ConfigDict, Field

from dqa.core.question import Candidate
from dqa.deciders.replies import Finding
from dqa_bidder.exploration import Node, Tree
from dqa_bidder.replies import rounded
from dqa_bidder.settings import Aggregation


class ActionReturn(Finding):
    """The return of an action, G(a) (equation 4).

    Attributes
    ----------
    action
        The action.
    value
        The largest return of a trajectory that begins with the action; None if no reward is known.
    path
        The steps of that trajectory, each with its player and action.
    """

    action: Candidate
    value: float | None
    path: tuple[str, ...] = ()


class Returns(Finding):
    """The returns of the actions (Algorithm 2).

    Attributes
    ----------
    returns
        The return of each considered action, in legal order.
    horizon, beta
        The horizon T in turns, and the attenuation coefficient.
    ceiling
        The largest possible return.
    scale
        The payoffs that correspond to the rewards 0 and 1.
    best
        The action with the largest return; None if no return is known.
    """

    model_config = ConfigDict(title="returns")

    returns: tuple[ActionReturn, ...] = Field(title="returns")
    best: Candidate | None = Field(title="largest")
    ceiling: float = Field(title="largest possible return")
    scale: tuple[float, float] = (0.0, 1.0)
    horizon: int = Field(title="T")
    beta: float = Field(title="beta")

    def shown(self, value: float | None, *, mean: bool) -> float | None:
        """Round a return for a prompt.

        If `mean` is true, the return is an expected payoff, and is converted to the game's unit.
        """
        if value is None or not mean:
            return None if value is None else rounded(value)
        low, high = self.scale
        return rounded(low + value / self.ceiling * (high - low))


def aggregate(tree: Tree, beta: float, returns: Aggregation = "expected") -> Returns:
    """Calculate the return of each considered action of the root, in legal order.

    Parameters
    ----------
    tree
        The explored states.
    beta
        The attenuation coefficient of the sums ``padded`` and ``collected``.
    returns
        How rewards are combined into a return; see the setting `returns`.
    """
    powers = [beta**k for k in range(tree.horizon + 1)]
    last = [sum(powers[k:]) for k in range(len(powers))] if returns == "padded" else powers
    trajectories = _Trajectories(powers, last)
    if returns == "expected":
        trajectories = _Trajectories([0.0], [1.0], step=0)
    found = []
    for action in tree.root.considered or ():
        best = trajectories.of_action(tree.root, action, 0)
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
    """The best trajectory from a state.

    `first` is the first reward of the trajectory, `total` is the return, and `path` is the steps.
    """

    first: float | None = None
    total: float = 0.0
    path: tuple[str, ...] = ()


@dataclass(slots=True)
class _Trajectories:
    """Find the best trajectory from each state.

    Attributes
    ----------
    weights, last
        ``weights[k]`` is the weight of the reward of the decision maker's turn k. If this is the
        last reward of the trajectory, the weight is ``last[k]``.
    step
        The increase of k after a turn: 1, or 0 if the weights do not depend on k.
    """

    weights: Sequence[float]
    last: Sequence[float]
    step: int = 1
    _found: dict[tuple[int, int], _Best] = field(default_factory=dict)

    def of_action(self, node: Node, action: Candidate, k: int) -> _Best:
        """Return the best trajectory whose first action is this action.

        `k` is the number of the decision maker's turn in which the action is taken.
        """
        reward, child, after = node.rewards.get(action), node.children.get(action), _Best()
        continues = child is not None and child.in_turn
        if child is not None and (continues or k + self.step < len(self.weights)):
            after = self._of_node(child, k if continues else k + self.step)
        path = (f"{node.mover}: {action}", *after.path)
        if after.first is None:
            return _Best(reward, (reward or 0.0) * self.last[k], path)
        if continues:
            return _Best(after.first, after.total, path)
        first = after.first if reward is None else reward
        return _Best(first, self.weights[k] * first + after.total, path)

    def _of_node(self, node: Node, k: int) -> _Best:
        """Return the best trajectory from a node. The next turn of the decision maker is `k`."""
        key = (node.number, k)
        if key not in self._found:
            self._found[key] = _Best()  # adds nothing if the position is repeated
            self._found[key] = self._calculated(node, k)
        return self._found[key]

    def _calculated(self, node: Node, k: int) -> _Best:
        if node.payoff is not None:
            return _Best(node.payoff, node.payoff * self.last[k])
        if node.of == "reply" and node.replies:
            return self._mean(node, k)
        trajectories = [self.of_action(node, action, k) for action in node.followed]
        known = [way for way in trajectories if way.first is not None]
        return max(known, key=lambda way: way.total, default=_Best())

    def _mean(self, node: Node, k: int) -> _Best:
        """Return the mean over the replies.

        If the return of any reply is unknown, the mean is unknown too.
        """
        after = {reply: self._of_node(node.children[reply], k) for reply in node.replies}
        likely = max(after, key=lambda reply: node.replies[reply])
        chance, way = node.replies[likely], after[likely]
        step = f"{node.mover}: {likely}" + (f" ({chance:.0%})" if chance < 1 else "")
        if any(one.first is None for one in after.values()):
            return _Best(path=(step, *way.path) if len(after) == 1 else ())
        total = sum(node.replies[reply] * one.total for reply, one in after.items())
        return _Best(way.first if len(after) == 1 else total, total, (step, *way.path))
