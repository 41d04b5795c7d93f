"""Exploration with opponent modelling (Algorithm 1): the states that may follow, each once.

One step of the horizon is an own turn and the expected replies of the others (equation 2). Actions
in a row of one player and stage are one turn, such as a proposal and its utterance; after the first
of them only the best next one is followed, and of another player the most likely one. A trajectory
ends at the horizon, at a terminal, and at a chance event. States that the viewer cannot tell apart
are one node, asked about once.

Where several replies are followed, an end that hidden values or new cards decide is estimated, so
that each reply leads to a payoff.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Asking
from dqa.worlds.world import Position
from dqa_bidder.replies import Payoffs, Unknown
from dqa_bidder.states import ExploredTree, Node, NodeKind, outline_of

Expected: TypeAlias = Mapping[Candidate, float]
"""The probabilities of another player's actions."""
_Answer: TypeAlias = Payoffs | Expected | float | UnparsableReplyError
_Result: TypeAlias = _Answer | OutOfBudgetError


@dataclass(frozen=True, slots=True)
class Steps:
    """How to ask about a state.

    Attributes
    ----------
    expect
        Asks for another player's most likely actions, at most so many.
    estimate
        Asks for the payoffs of own actions.
    estimate_end
        Asks for the payoff where hidden values or new cards decide it.
    """

    expect: Callable[[Position, int, Asking], Expected]
    estimate: Callable[[Unknown, Asking], Payoffs]
    estimate_end: Callable[[Position, Asking], float]


@dataclass(slots=True)
class Tree:
    """The explored states; `explore` fills it.

    Attributes
    ----------
    horizon
        T.
    breadth
        Most actions of a state that are explored.
    replies
        Most replies to a state that are followed.
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
    replies: int = 1
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
            outline=tuple(outline_of(self.root, "", set())),
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
        steps: Steps,
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
            How to ask about a state.
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

    def _ask(self, node: Node, steps: Steps) -> Callable[[Asking], _Result]:
        """Return the request about a node.

        An unusable reply, but for the first node, and a spent budget are results: the other
        replies of the wave count.
        """

        def ask(asking: Asking) -> _Result:
            try:
                if node.of == "reply":
                    return steps.expect(node.at, 1 if node.in_turn else self.replies, asking)
                if node.of != "own":
                    return steps.estimate_end(node.at, asking)
                most = self.breadth if node.considered is None else None
                return steps.estimate(Unknown(node.at, node.unknown, node.known, most), asking)
            except UnparsableReplyError as error:
                if not node.number:
                    raise
                return error
            except OutOfBudgetError as error:
                return error

        return ask

    def _take(self, node: Node, reply: _Answer) -> None:
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
        elif isinstance(reply, float):
            node.payoff = reply
        else:
            self._follow(node, reply)

    def _meet(self, position: Position, depth: int) -> Node:
        """Return the node of a state; one that is met on a shorter way is explored further."""
        node = self._by_key.get(position.key)
        if node is None:
            node = self._add(position, depth)
        elif depth < node.depth:
            node.depth = depth
            if node.of == "reply":
                self._follow(node, node.replies)
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
        node.in_turn = bool(node.number) and _acts_again(position)
        if of == "terminal":
            node.payoff = position.payoff()
        elif of == "own":
            self._look_at_ends(node, position)
            self._expand(node)
        elif of == "reply" and len(position.actions) == 1:
            node.asked = True
            self._follow(node, dict.fromkeys(position.actions, 1.0))
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

    def _follow(self, node: Node, replies: Expected) -> None:
        """Meet what the replies of another player lead to."""
        node.replies = replies
        for action in replies:
            child = node.children[action] = self._meet(node.at.after(action), node.depth)
            is_end = child.of in ("terminal", "chance")
            if len(replies) > 1 and is_end and child.payoff is None and not child.unusable:
                child.asked = False


def _acts_again(position: Position) -> bool:
    """Whether the mover acts in the turn of the last event, an action of theirs."""
    if position.node != "decision" or not position.events:
        return False
    if position.events[-1].actor != position.mover:
        return False
    after = position.after(position.actions[0])
    return bool(after.events) and after.events[-1].stage == position.events[-1].stage
