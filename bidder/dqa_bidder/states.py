"""Explored states: while they are explored, and as a trace has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from dqa.core.question import Candidate
from dqa.deciders.method import Finding
from dqa.worlds.world import Position

NodeKind: TypeAlias = Literal["own", "reply", "chance", "terminal"]
"""Who acts in a node: the decision maker, another player, chance, or no one."""

_SHOWN: Final = 400
"""Characters of a state in the trace; its prompt has all of them."""


class TreeNode(Finding):
    """An explored state in a trace.

    Attributes
    ----------
    number
        Number, from 0 for the root, in the order in which the states were met.
    of
        Who acts there.
    depth
        Number of own turns before it, on the shortest way.
    state
        The viewer's knowledge there.
    mover
        Who acts; empty for no one.
    legal
        Number of legal actions.
    rewards
        By action in words, the expected payoff from 0 to 1 (section 2.3); only of own nodes.
    certain
        Actions among them whose payoff follows from the rules.
    replies
        By action in words, the probability of each followed move of another player.
    payoff
        Payoff of an end from 0 to 1, by the rules or estimated; None if neither is known.
    children
        By action in words, the number of the next node. Several may lead to one.
    """

    number: int
    of: NodeKind
    depth: int
    state: str = ""
    mover: str = ""
    legal: int = 0
    rewards: dict[str, float] = Field(default_factory=dict)
    certain: tuple[str, ...] = ()
    replies: dict[str, float] = Field(default_factory=dict)
    payoff: float | None = None
    children: dict[str, int] = Field(default_factory=dict)


class ExploredTree(Finding):
    """The explored states (Algorithm 1).

    Attributes
    ----------
    nodes
        The states, the root first.
    outline
        The same as lines of text.
    horizon
        T.
    asked
        Number of requests.
    unasked, unusable
        Number of states without an answer because of a bound, or of unusable replies.
    scale
        The payoffs that the rewards 0 and 1 stand for.
    """

    model_config = ConfigDict(title="explored states")

    horizon: int = Field(title="horizon")
    asked: int = Field(title="requests")
    unasked: int = Field(default=0, title="states not asked about")
    unusable: int = Field(default=0, title="states without a usable reply")
    scale: tuple[float, float] = Field(default=(0.0, 1.0), title="payoffs of 0 and 1")
    outline: tuple[str, ...] = Field(default=(), title="tree")
    nodes: tuple[TreeNode, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A state while it is explored; see `TreeNode`.

    Attributes
    ----------
    considered
        The actions that are explored; None until the model names them.
    known
        The rewards that follow from the rules; of too many actions, the best.
    unknown
        The actions whose rewards are estimated.
    rewards
        By action, `known` included; payoffs, from 0 to 1 after `Tree.normalise`.
    replies
        The expected actions of another player, with their probabilities.
    payoff
        The viewer's payoff at an end: by the rules, or estimated.
    in_turn
        Whether a player goes on here with a turn that has begun after the root.
    asked
        Whether it was asked about, or need not be.
    unusable
        Whether no reply about it could be used.
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
        """The state itself; `ValueError` for a question that is not a move."""
        if self.position is None:
            raise ValueError("A question that is not a move cannot be explored.")
        return self.position

    @property
    def looked_at(self) -> tuple[Candidate, ...]:
        """The actions that are explored so far: until the model names some, those with an end."""
        return tuple(self.known) if self.considered is None else self.considered

    @property
    def followed(self) -> tuple[Candidate, ...]:
        """The actions that are followed: within a turn, only the one with the largest reward."""
        if not self.in_turn or not self.rewards:
            return self.looked_at
        return (max(self.rewards, key=lambda action: self.rewards[action]),)

    @property
    def title(self) -> str:
        """The number of the node, and who acts there."""
        if self.of in ("chance", "terminal"):
            words = "the end" if self.of == "terminal" else "something new by chance"
            words += ", unresolved" if self.payoff is None else f", payoff: {self.payoff:.4g}"
        else:
            words = f"{self.mover} {'decides' if self.of == 'own' else 'replies'}"
            words += "" if self.rewards or self.children else ", nothing known"
        return f"state {self.number}: {words}"

    def found(self) -> TreeNode:
        """Return the node for a trace."""
        position = self.position
        legal = self.considered if position is None else position.actions
        return TreeNode(
            number=self.number,
            of=self.of,
            depth=self.depth,
            state="" if position is None else position.describe()[:_SHOWN],
            mover=self.mover,
            legal=len(legal or ()) if self.of in ("own", "reply") else 0,
            rewards={str(action): value for action, value in self.rewards.items()},
            certain=tuple(map(str, self.known)),
            replies={str(action): chance for action, chance in self.replies.items()},
            payoff=self.payoff,
            children={str(action): node.number for action, node in self.children.items()},
        )


def outline_of(node: Node, indent: str, shown: set[int]) -> Iterable[str]:
    """Yield a line for each state and action; a repeated state is named by its number."""
    if node.number in shown:
        yield f"{indent}{node.title}, as above"
        return
    shown.add(node.number)
    yield f"{indent}{node.title}"
    for action in dict.fromkeys([*node.rewards, *node.children]):
        words = f"{action} ({node.replies[action]:.0%})" if node.of == "reply" else str(action)
        if action in node.rewards:
            certain = ", by the rules" if action in node.known else ""
            words = f"{action}: {node.rewards[action]:.4g}{certain}"
        yield f"{indent}  {words}"
        if action in node.children:
            yield from outline_of(node.children[action], f"{indent}    ", shown)
