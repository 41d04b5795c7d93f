"""Exploration with opponent modelling (Algorithm 1): find the states that can follow a position.

The horizon counts turns. A turn of the decision maker and the expected replies of the other players
are one step of the horizon (equation 2). Consecutive actions of one player in one stage, such as a
proposal and its utterance, are one turn. After the first action of a turn, only one next action is
explored: the best action of the decision maker, or the most likely action of another player. A
trajectory ends at the horizon, at a terminal state, or at a chance event. States that the decision
maker cannot distinguish are one node, and the model is asked about a node only once.

The payoff of a terminal state may depend on hidden values or new cards. The model estimates such a
payoff only if a mean over several replies of another player includes this payoff.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import ConfigDict, Field

from dqa.core.errors import OutOfBudgetError, UnparsableReplyError
from dqa.core.question import Candidate
from dqa.deciders.method import Asking
from dqa.deciders.replies import Finding
from dqa.worlds.world import Position
from dqa_bidder.replies import Payoffs

NodeKind: TypeAlias = Literal["own", "reply", "chance", "terminal"]
"""Who acts in a node: the decision maker, another player, chance, or no one."""


class ExploredTree(Finding):
    """The explored states in a trace (Algorithm 1).

    Attributes
    ----------
    horizon
        T, the number of explored turns of the decision maker.
    states
        The number of explored states.
    asked
        The number of requests about states.
    unasked, unusable
        `unasked` is the number of states about which the model was not asked because of a limit.
        `unusable` is the number of states without a usable reply.
    scale
        The payoffs that correspond to the rewards 0 and 1.
    outline
        The tree as lines of text, with rewards and payoffs scaled to the range from 0 to 1.
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
        What happens in the state: the decision maker (``own``) or another player (``reply``) acts,
        chance acts, or the game has ended.
    depth
        The number of turns of the decision maker before the state, on the shortest path.
    mover
        The player who acts; empty if no one acts.
    position
        The position; None if the question is not a move in a game.
    considered
        The explored actions of the decision maker; None until the model selects them.
    known
        The rewards that follow from the rules, by action. Only the `Tree.breadth` largest are
        included.
    unknown
        The actions whose rewards the model estimates.
    rewards
        The expected payoff of each action of the decision maker (section 2.3), including `known`.
        `Tree.normalise` scales the payoffs to 0 to 1.
    replies
        The explored actions of another player, with their probabilities.
    payoff
        The decision maker's payoff in a terminal state, by the rules or estimated; otherwise None.
    children
        The next node after each action. Several actions may lead to the same node.
    in_turn
        Whether the player who acts here also took the last action, in the same turn. False for the
        root.
    asked
        Whether the state is complete: the model was asked about it, or the rules determine
        everything.
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
        """The position of the state. Raise `ValueError` for a question that is not a move."""
        if self.position is None:
            raise ValueError("A question that is not a move cannot be explored.")
        return self.position

    @property
    def followed(self) -> tuple[Candidate, ...]:
        """The actions of the decision maker whose results are explored.

        After the first action of a turn, only the action with the largest reward is explored. Until
        the model selects actions, only the actions with a known reward are explored.
        """
        if self.in_turn and self.rewards:
            return (max(self.rewards, key=lambda action: self.rewards[action]),)
        return tuple(self.known) if self.considered is None else self.considered

    def outline(self, indent: str, shown: set[int]) -> Iterator[str]:
        """Yield a line of text for each state and action below this state.

        `shown` contains the numbers of the states that earlier lines describe. Such a state gets
        only one line, which refers to the earlier lines.
        """
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
        if self.of in ("chance", "terminal"):
            words = "the end" if self.of == "terminal" else "a chance event"
            words += ", unresolved" if self.payoff is None else f", payoff: {self.payoff:.4g}"
        else:
            words = f"{self.mover} {'decides' if self.of == 'own' else 'replies'}"
            words += "" if self.rewards or self.children else ", nothing known"
        return f"state {self.number}: {words}"


Expected: TypeAlias = Mapping[Candidate, float]
"""The probabilities of another player's actions."""
Answer: TypeAlias = Payoffs | Expected | float
"""The payoffs of actions, the expected actions of another player, or a terminal state's payoff."""
Ask: TypeAlias = Callable[[Node, Asking], Answer]
"""A function that asks the model about a state."""
_Result: TypeAlias = Answer | UnparsableReplyError | OutOfBudgetError


@dataclass(slots=True)
class Tree:
    """The explored states. `explore` adds them.

    Attributes
    ----------
    horizon
        T, the number of explored turns of the decision maker.
    breadth, replies
        The maximum number of explored actions in a state of the decision maker, and in a state of
        another player.
    nodes
        The states, the root first.
    asked
        The number of requests so far.
    estimates
        The model's replies with payoffs.
    scale
        The payoffs that correspond to the rewards 0 and 1.
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
        """The state in which the decision is made."""
        return self.nodes[0]

    def found(self) -> ExploredTree:
        """Return a summary of the tree, which a trace stores."""
        return ExploredTree(
            horizon=self.horizon,
            states=len(self.nodes),
            asked=self.asked,
            unasked=sum(not node.asked for node in self.nodes),
            unusable=sum(node.unusable for node in self.nodes),
            scale=self.scale,
            outline=tuple(self.root.outline("", set())),
        )

    def normalise(self) -> None:
        """Scale rewards and payoffs to 0 to 1.

        The scale covers all estimated and known payoffs, and all payoffs that are possible in the
        position of the decision.
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
        self, position: Position, ask: Ask, asking: Asking, bounds: tuple[int, int]
    ) -> None:
        """Explore states in waves. The requests of a wave are independent and run in parallel.

        At the maximum number of requests, the exploration ends. The model is not asked about the
        remaining states.

        Parameters
        ----------
        position
            The position of the decision.
        ask
            Asks the model about a state, and returns the answer.
        asking
            Sends the requests to the model.
        bounds
            The maximum number of requests, and of parallel requests.

        Raises
        ------
        UnparsableReplyError
            No reply about the first state is usable. For later states, an unusable reply is not an
            error.
        OutOfBudgetError, InfrastructureError, BudgetSpentError
            A request failed; see `Asking.ask`. The tree contains the states that were found before.
        """
        most, parallel = bounds
        self._find(position, 0)
        while True:
            waiting = [node for node in self.nodes if not node.asked]
            # The states nearest to the root are the most important.
            waiting.sort(key=lambda node: (node.depth, node.number))
            wave = waiting[: max(most - self.asked, 0)]
            if not wave:
                return
            replies = asking.ask_all([_request(ask, node) for node in wave], parallel)
            spent: OutOfBudgetError | None = None
            for node, reply in zip(wave, replies, strict=True):
                if isinstance(reply, OutOfBudgetError):
                    spent = reply
                else:
                    self.asked += 1
                    self._take(node, reply)
            if spent is not None:
                raise spent

    def _take(self, node: Node, reply: Answer | UnparsableReplyError) -> None:
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

    def _find(self, position: Position, depth: int) -> Node:
        """Return the node of a state.

        If `depth` is smaller than the depth of the known node, explore the node further.
        """
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
            self._record_known_rewards(node, position)
            self._expand(node)
        elif of == "reply" and len(position.actions) == 1:
            node.asked = True
            self._follow(node, dict.fromkeys(position.actions, 1.0))
        return node

    def _record_known_rewards(self, node: Node, position: Position) -> None:
        """Record the rewards of actions that end the game with a payoff known from the rules.

        Of these actions, the `breadth` actions with the largest payoffs are explored even if the
        model does not select them.
        """
        ends: dict[Candidate, float] = {}
        for action in position.actions:
            after = position.after(action)
            payoff = after.payoff() if after.node == "terminal" else None
            if payoff is not None:
                ends[action] = payoff
        node.unknown = tuple(action for action in position.actions if action not in ends)
        most = self.breadth if len(position.actions) > self.breadth else None
        best = set(sorted(ends, key=lambda action: -ends[action])[:most])
        node.known = {action: payoff for action, payoff in ends.items() if action in best}
        node.rewards = dict(node.known)
        node.asked = not node.unknown
        explored = {*node.known, *node.unknown}
        node.considered = tuple(one for one in position.actions if one in explored)
        if len(node.unknown) > self.breadth:
            node.considered = None

    def _expand(self, node: Node) -> None:
        if node.depth >= self.horizon or (node.in_turn and not node.asked):
            return
        for action in node.followed:
            child = self._find(node.at.after(action), node.depth + 1)
            node.children[action] = child
            if child.in_turn and child.depth > node.depth:
                child.depth = node.depth
                self._expand(child)

    def _follow(self, node: Node, replies: Expected) -> None:
        """Record the expected replies of another player, and find the state after each reply."""
        node.replies = replies
        for action in replies:
            child = node.children[action] = self._find(node.at.after(action), node.depth)
            is_end = child.of in ("terminal", "chance")
            if len(replies) > 1 and is_end and child.payoff is None and not child.unusable:
                child.asked = False


def _request(ask: Ask, node: Node) -> Callable[[Asking], _Result]:
    """Return the request about a node.

    If the budget is spent or the reply is unusable, the request returns the error instead of
    raising it. The other replies of the wave can then be used. For the first node, an unusable
    reply raises the error.
    """

    def request(asking: Asking) -> _Result:
        try:
            return ask(node, asking)
        except UnparsableReplyError as error:
            if not node.number:
                raise
            return error
        except OutOfBudgetError as error:
            return error

    return request


def _acts_again(position: Position) -> bool:
    """Return whether the player who acts also took the last action, in the same stage."""
    if position.node != "decision" or not position.events:
        return False
    if position.events[-1].actor != position.mover:
        return False
    after = position.after(position.actions[0])
    return bool(after.events) and after.events[-1].stage == position.events[-1].stage
