"""The explored states of a decision, and their outline for a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from dqa.core.question import Candidate
from dqa.deciders.method import Finding
from dqa.worlds.world import Position

NodeKind: TypeAlias = Literal["own", "reply", "chance", "terminal"]
"""Who acts in a node: the decision maker, another player, chance, or no one."""


class ExploredTree(Finding):
    """The explored states in a trace (Algorithm 1).

    Attributes
    ----------
    horizon
        T, the number of own turns that are explored.
    states
        The number of states.
    asked
        The number of requests.
    unasked, unusable
        The number of states without a reply because of a bound, and because no reply was usable.
    scale
        The payoffs that correspond to the rewards 0 and 1.
    outline
        The tree as lines of text. Rewards and payoffs are between 0 and 1.
    """

    model_config = ConfigDict(title="explored states")

    horizon: int = Field(title="horizon")
    states: int = Field(title="states")
    asked: int = Field(title="requests")
    unasked: int = Field(default=0, title="states not asked about")
    unusable: int = Field(default=0, title="states without a usable reply")
    scale: tuple[float, float] = Field(default=(0.0, 1.0), title="payoffs of 0 and 1")
    outline: tuple[str, ...] = Field(default=(), title="tree")


@dataclass(slots=True, eq=False)
class Node:
    """An explored state.

    Attributes
    ----------
    number
        The number of the state, in the order of discovery. The root has number 0.
    of
        Who acts in the state.
    depth
        The number of own turns before the state, on the shortest path.
    mover
        The player who acts; empty if no one acts.
    position
        The position; None for a question that is not a move.
    considered
        The own actions that are explored; None until the model selects them.
    known
        The rewards that follow from the rules. If there are too many, only the best ones.
    unknown
        The actions whose rewards the model estimates.
    rewards
        The expected payoff of each own action (section 2.3), including `known`. `Tree.normalise`
        scales the payoffs to 0 to 1.
    replies
        The explored actions of another player, with their probabilities.
    payoff
        The viewer's payoff at an end, by the rules or estimated; None if it is unknown.
    children
        The next node after each action. Several actions may lead to the same node.
    in_turn
        Whether the mover continues a turn that began after the root.
    asked
        Whether the model was asked about the state, or need not be asked.
    unusable
        Whether no reply about the state was usable.
    """

    number: int
    of: NodeKind
    depth: int
    mover: str
    position: Position | None
    considered: tuple[Candidate, ...] | None = ()
    known: dict[Candidate, float] = field(default_factory=dict)
    unknown: tuple[Candidate, ...] = ()
    rewards: dict[Candidate, float] = field(default_factory=dict)
    replies: Mapping[Candidate, float] = field(default_factory=dict)
    payoff: float | None = None
    children: dict[Candidate, Node] = field(default_factory=dict)
    in_turn: bool = False
    asked: bool = False
    unusable: bool = False

    @property
    def at(self) -> Position:
        """The position. Raise `ValueError` for a question that is not a move."""
        if self.position is None:
            raise ValueError("A question that is not a move cannot be explored.")
        return self.position

    @property
    def followed(self) -> tuple[Candidate, ...]:
        """The own actions whose results are explored.

        Within a turn, this is only the action with the largest reward. Until the model has
        selected the actions, these are the actions with a known reward.
        """
        if self.in_turn and self.rewards:
            return (max(self.rewards, key=lambda action: self.rewards[action]),)
        return tuple(self.known) if self.considered is None else self.considered

    def outline(self, indent: str, shown: set[int]) -> Iterator[str]:
        """Yield a line for each state and action. A state in `shown` is not repeated."""
        if self.number in shown:
            yield f"{indent}{self._title}, as above"
            return
        shown.add(self.number)
        yield f"{indent}{self._title}"
        for action in dict.fromkeys([*self.rewards, *self.children]):
            words = f"{action} ({self.replies[action]:.0%})" if self.of == "reply" else str(action)
            if action in self.rewards:
                certain = ", by the rules" if action in self.known else ""
                words = f"{action}: {self.rewards[action]:.4g}{certain}"
            yield f"{indent}  {words}"
            if action in self.children:
                yield from self.children[action].outline(f"{indent}    ", shown)

    @property
    def _title(self) -> str:
        """The number of the node, and who acts."""
        if self.of in ("chance", "terminal"):
            words = "the end" if self.of == "terminal" else "something new by chance"
            words += ", unresolved" if self.payoff is None else f", payoff: {self.payoff:.4g}"
        else:
            words = f"{self.mover} {'decides' if self.of == 'own' else 'replies'}"
            words += "" if self.rewards or self.children else ", nothing known"
        return f"state {self.number}: {words}"
