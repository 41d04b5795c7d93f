"""Exploration with opponent modelling (Algorithm 1): the states that may follow, each once.

One step of the horizon is an own turn and the expected replies of the others (equation 2). Own
actions in a row of one stage of the game are one turn, such as a proposal and its utterance; after
the first of them only the best next one is followed. A trajectory ends at the horizon, at a
terminal, and at a chance event. States that the viewer cannot tell apart are one node, asked about
once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from pydantic import ConfigDict, Field

from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Asking, Finding
from dqa.worlds.world import Position
from dqa_bidder.replies import Payoffs, Unknown

NodeKind: TypeAlias = Literal["own", "reply", "chance", "terminal"]
"""Who acts in a node: the decision maker, another player, chance, or no one."""
Expect: TypeAlias = Callable[[Position, Asking], Candidate]
"""Asks what another player will do in a state."""
Estimate: TypeAlias = Callable[[Unknown, Asking], Payoffs]
"""Asks for the payoffs of actions."""
_Result: TypeAlias = Payoffs | Candidate | UnparsableReplyError | OutOfBudgetError

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
    payoff
        Payoff of a terminal from 0 to 1; None if hidden things decide it.
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
    reply
        The expected action of another player.
    in_turn
        Whether the viewer acts here in a turn that has begun after the root.
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
    reply: Candidate | None = None
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
        if self.of == "chance":
            words = "something new by chance"
        elif self.of == "terminal":
            payoff = "hidden things decide" if self.payoff is None else f"{self.payoff:.4g}"
            words = f"the end, payoff: {payoff}"
        else:
            words = f"{self.mover} {'decides' if self.of == 'own' else 'replies'}"
            words += "" if self.rewards or self.children else ", nothing known"
        return f"state {self.number}: {words}"

    def found(self) -> TreeNode:
        """Return the node for a trace."""
        position = self.position
        legal = self.considered or () if position is None else _legal(position)
        return TreeNode(
            number=self.number,
            of=self.of,
            depth=self.depth,
            state="" if position is None else position.describe()[:_SHOWN],
            mover=self.mover,
            legal=len(legal),
            rewards={str(action): value for action, value in self.rewards.items()},
            certain=tuple(map(str, self.known)),
            payoff=self.payoff,
            children={str(action): node.number for action, node in self.children.items()},
        )


def _legal(position: Position) -> Sequence[Candidate]:
    return position.actions if position.node == "decision" else ()


@dataclass(slots=True)
class Tree:
    """The explored states; `explore` fills it.

    Attributes
    ----------
    horizon
        T.
    breadth
        Most actions of a state that are explored.
    nodes
        The states, the root first.
    asked
        Number of requests.
    estimates
        The replies with payoffs.
    scale
        The payoffs that the rewards 0 and 1 stand for.
    """

    horizon: int
    breadth: int
    nodes: list[Node] = field(default_factory=list)
    asked: int = 0
    estimates: list[Payoffs] = field(default_factory=list)
    scale: tuple[float, float] = (0.0, 1.0)
    _by_key: dict[Hashable, Node] = field(default_factory=dict)

    @property
    def root(self) -> Node:
        """The state of the decision."""
        return self.nodes[0]

    @property
    def unasked(self) -> int:
        """Number of nodes that a bound left without an answer."""
        return sum(not node.asked for node in self.nodes)

    @property
    def unusable(self) -> int:
        """Number of nodes without a usable reply."""
        return sum(node.unusable for node in self.nodes)

    def found(self) -> ExploredTree:
        """Return the tree for a trace."""
        return ExploredTree(
            nodes=tuple(node.found() for node in self.nodes),
            outline=tuple(_outline(self.root, "", set())),
            horizon=self.horizon,
            asked=self.asked,
            unasked=self.unasked,
            unusable=self.unusable,
            scale=self.scale,
        )

    def normalise(self) -> None:
        """Scale rewards and payoffs to 0 to 1, over what the decision at the root can bring.

        That is what is at stake there, and what an estimate or an end has beyond it.
        """
        position = self.root.position
        values = [*((0.0, 1.0) if position is None else position.stakes)]
        for node in self.nodes:
            values += [*node.rewards.values(), *(() if node.payoff is None else (node.payoff,))]
        low, high = self.scale = min(values), max(values)

        def scaled(value: float) -> float:
            return (value - low) / (high - low) if high > low else 0.5

        for node in self.nodes:
            node.rewards = {action: scaled(value) for action, value in node.rewards.items()}
            node.payoff = None if node.payoff is None else scaled(node.payoff)

    def explore(
        self,
        position: Position,
        steps: tuple[Expect, Estimate],
        asking: Asking,
        bounds: tuple[int, int],
    ) -> None:
        """Explore wave by wave: requests that do not need each other's replies run at once.

        If the requests run out, the states met last stay without an answer. So does a later state
        without a usable reply.

        Parameters
        ----------
        position
            The state of the decision.
        steps
            How to ask about states of others and about own states.
        asking
            The model.
        bounds
            Most requests, and most at once.

        Raises
        ------
        UnparsableReplyError
            No reply about the first state can be used.
        OutOfBudgetError, InfrastructureError, BudgetSpentError
            As `Asking.ask` raises them; the tree has the states until then.
        """
        most, parallel = bounds
        self._meet(position, 0)
        while True:
            waiting = [node for node in self.nodes if not node.asked]
            # The states nearest to the root matter most.
            waiting.sort(key=lambda node: (node.depth, node.number))
            wave = waiting[: max(most - self.asked, 0)]
            if not wave:
                return
            replies = asking.ask_all([self._ask(node, steps) for node in wave], parallel)
            spent: OutOfBudgetError | None = None
            for node, reply in zip(wave, replies, strict=True):
                if isinstance(reply, OutOfBudgetError):
                    spent = reply
                else:
                    self.asked += 1
                    self._take(node, reply)
            if spent is not None:
                raise spent

    def _ask(self, node: Node, steps: tuple[Expect, Estimate]) -> Callable[[Asking], _Result]:
        """Return the request about a node.

        An unusable reply, but for the first node, and a spent budget are results: the other
        replies of the wave count.
        """
        expect, estimate = steps

        def ask(asking: Asking) -> _Result:
            try:
                if node.of == "reply":
                    return expect(node.at, asking)
                most = self.breadth if node.considered is None else None
                return estimate(Unknown(node.at, node.unknown, node.known, most), asking)
            except UnparsableReplyError as error:
                if not node.number:
                    raise
                return error
            except OutOfBudgetError as error:
                return error

        return ask

    def _take(self, node: Node, reply: Payoffs | Candidate | UnparsableReplyError) -> None:
        node.asked = True
        if isinstance(reply, UnparsableReplyError):
            node.unusable = True
        elif isinstance(reply, Payoffs):
            self.estimates.append(reply)
            rewards = {**reply.payoffs, **node.known}
            named = node.considered is None
            if node.considered is None:
                node.considered = tuple(a for a in node.at.actions if a in rewards)
            node.rewards = {a: rewards[a] for a in node.considered if a in rewards}
            if named or node.in_turn:
                self._expand(node)
        else:
            node.reply = reply
            self._follow(node, reply, node.depth)

    def _meet(self, position: Position, depth: int) -> Node:
        """Return the node of a state; one that is met on a shorter way is explored further."""
        node = self._by_key.get(position.key)
        if node is None:
            node = self._add(position, depth)
        elif depth < node.depth:
            node.depth = depth
            if node.of == "reply" and node.reply is not None:
                self._follow(node, node.reply, depth)
            elif node.of == "own":
                self._expand(node)
        return node

    def _add(self, position: Position, depth: int) -> Node:
        of: NodeKind
        if position.node != "decision":
            of = position.node
        else:
            of = "own" if position.mover == position.viewer else "reply"
        node = Node(len(self.nodes), of, depth, position.mover or "", position)
        self.nodes.append(node)
        self._by_key[position.key] = node
        node.asked = of in ("terminal", "chance")
        if of == "terminal":
            node.payoff = position.payoff()
        elif of == "own":
            node.in_turn = bool(node.number) and _acts_again(position)
            self._look_at_ends(node, position)
            self._expand(node)
        elif of == "reply" and len(position.actions) == 1:
            (node.reply,), node.asked = position.actions, True
            self._follow(node, node.reply, depth)
        return node

    def _look_at_ends(self, node: Node, position: Position) -> None:
        """Note the rewards of actions that end the game with a payoff that the rules tell.

        The best of them are explored even if the model does not name them.
        """
        ends: dict[Candidate, float] = {}
        for action in position.actions:
            after = position.after(action)
            payoff = after.payoff() if after.node == "terminal" else None
            if payoff is not None:
                ends[action] = payoff
        node.unknown = tuple(action for action in position.actions if action not in ends)
        best: Iterable[Candidate] = sorted(ends, key=lambda action: -ends[action])
        if len(position.actions) > self.breadth:
            best = list(best)[: self.breadth]
        kept = set(best)
        node.known = {action: ends[action] for action in ends if action in kept}
        node.rewards = dict(node.known)
        node.asked = not node.unknown
        looked_at = {*node.known, *node.unknown}
        is_listed = len(node.unknown) <= self.breadth
        node.considered = (
            tuple(one for one in position.actions if one in looked_at) if is_listed else None
        )

    def _expand(self, node: Node) -> None:
        if node.depth >= self.horizon or (node.in_turn and not node.asked):
            return
        for action in node.followed:
            child = self._meet(node.at.after(action), node.depth + 1)
            node.children[action] = child
            if child.in_turn and child.depth > node.depth:
                child.depth = node.depth
                self._expand(child)

    def _follow(self, node: Node, action: Candidate, depth: int) -> None:
        node.children[action] = self._meet(node.at.after(action), depth)


def _acts_again(position: Position) -> bool:
    """Whether the viewer acts in the turn of the last event, an own action."""
    if not position.events or position.events[-1].actor != position.viewer:
        return False
    after = position.after(position.actions[0])
    return bool(after.events) and after.events[-1].stage == position.events[-1].stage


def _outline(node: Node, indent: str, shown: set[int]) -> Iterable[str]:
    """Yield a line for each state and action; a repeated state is named by its number."""
    if node.number in shown:
        yield f"{indent}{node.title}, as above"
        return
    shown.add(node.number)
    yield f"{indent}{node.title}"
    for action in dict.fromkeys([*node.rewards, *node.children]):
        words = f"{action} (expected)" if node.of == "reply" else str(action)
        if action in node.rewards:
            certain = ", by the rules" if action in node.known else ""
            words = f"{action}: {node.rewards[action]:.4g}{certain}"
        yield f"{indent}  {words}"
        if action in node.children:
            yield from _outline(node.children[action], f"{indent}    ", shown)
