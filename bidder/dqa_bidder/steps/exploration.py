"""Exploration with opponent modelling (Algorithm 1): the states that may follow, each once.

One step of the horizon is an own action and what the others are expected to reply to it (equation
2); where a player acts twice in a row, the reply is empty. A trajectory ends at the horizon, at a
terminal, and where chance brings something new. States between which the viewer cannot tell any
difference are one node, met on whichever ways, and are asked about once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from dqa.core.errors import UnparsableReplyError
from dqa.core.question import Candidate
from dqa.models.conversation import Conversation
from dqa.worlds.world import Position
from dqa_bidder.asking import Ask, Asker
from dqa_bidder.events import ExploredTreeEvent, HiddenState, ModeledActionEvent, NodeKind, TreeNode
from dqa_bidder.steps.modeling import OpponentModeling
from dqa_bidder.steps.rewards import Estimated, RewardEstimation, Unknown
from dqa_bidder.task import Task

_SHOWN: Final = 400
"""Most characters of a state that the trace keeps with a node; its prompt has all of them."""


@dataclass(slots=True, eq=False)
class Node:
    """A state, and what is known of it; see `dqa_bidder.events.TreeNode`.

    Attributes
    ----------
    considered
        The actions that are looked at; None where the model has yet to name them.
    known
        The rewards that the rules tell; of more actions than are looked at, the best.
    unknown
        The actions whose rewards are to be estimated.
    rewards
        By action, `known` included.
    reply
        What another player is expected to do.
    asked
        Whether it was asked about, or needs no asking.
    unusable
        Whether no reply about it could be used, so that it stays as it was met.
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
    asked: bool = False
    unusable: bool = False

    @property
    def at(self) -> Position:
        """The state itself; `ValueError` for a question that is no move."""
        if self.position is None:
            raise ValueError("A question that is no move has nothing to explore.")
        return self.position

    @property
    def looked_at(self) -> tuple[Candidate, ...]:
        """The actions that are looked at so far: until the model names some, those with an end."""
        return tuple(self.known) if self.considered is None else self.considered

    def to_event(self) -> TreeNode:
        """Return the node as a trace holds it."""
        told = "" if self.position is None else self.position.describe()
        return TreeNode(
            number=self.number,
            of=self.of,
            depth=self.depth,
            state=told[:_SHOWN],
            mover=self.mover,
            legal=len(self.considered or ()) if self.position is None else _legal(self.position),
            rewards={str(action): value for action, value in self.rewards.items()},
            certain=tuple(map(str, self.known)),
            payoff=self.payoff,
            children={str(action): node.number for action, node in self.children.items()},
        )


def _legal(position: Position) -> int:
    return len(position.actions) if position.node == "decision" else 0


@dataclass(frozen=True, slots=True)
class Tree:
    """What may follow: nodes in the order in which they were met, the root first.

    Attributes
    ----------
    nodes
        The states.
    horizon
        T.
    asked
        How many requests it took.
    estimates
        What was odd in the estimates.
    """

    nodes: list[Node]
    horizon: int
    asked: int = 0
    estimates: tuple[Estimated, ...] = ()

    @property
    def root(self) -> Node:
        """The state that the decision is about."""
        return self.nodes[0]

    @property
    def unasked(self) -> int:
        """How many nodes a bound left without an answer."""
        return sum(not node.asked for node in self.nodes)

    @property
    def unusable(self) -> int:
        """About how many nodes no reply could be used."""
        return sum(node.unusable for node in self.nodes)

    def to_event(self) -> ExploredTreeEvent:
        """Return the tree as a trace holds it."""
        return ExploredTreeEvent(
            nodes=tuple(node.to_event() for node in self.nodes),
            horizon=self.horizon,
            asked=self.asked,
            unasked=self.unasked,
            unusable=self.unusable,
        )

    def modeled(self) -> list[ModeledActionEvent]:
        """Return what others are expected to do, in the order of the nodes."""
        return [
            ModeledActionEvent(node=node.number, mover=node.mover, action=node.reply)
            for node in self.nodes
            if node.reply is not None
        ]


class Exploration:
    """Explores what may follow a position; used for one decision.

    Parameters
    ----------
    task
        What is decided.
    hidden
        What is inferred of others.
    modeling, rewards
        The steps that ask about states.
    bounds
        T, and the most actions of a state that are looked at.
    """

    def __init__(
        self,
        task: Task,
        hidden: tuple[HiddenState, ...],
        modeling: OpponentModeling,
        rewards: RewardEstimation,
        bounds: tuple[int, int],
    ) -> None:
        self._task = task
        self._hidden = hidden
        self._modeling = modeling
        self._rewards = rewards
        self._horizon, self._breadth = bounds
        self._nodes: list[Node] = []
        self._by_key: dict[Hashable, Node] = {}
        self._estimates: list[Estimated] = []
        self._before = 0

    def tree(self, asker: Asker) -> Tree:
        """Return what is explored so far."""
        made = asker.made - self._before
        return Tree(self._nodes, self._horizon, made, tuple(self._estimates))

    def explore(self, position: Position, asker: Asker) -> None:
        """Explore, wave by wave: what can be asked without another answer is asked at once.

        Where the requests run out, the states that were met last stay without an answer. So does
        a later state about which no reply can be used: the others are worth their requests.

        Raises
        ------
        UnparsableReplyError
            Replies about the first state cannot be used.
        InfrastructureError, BudgetSpentError
            As `Conversation.ask` raises them; `tree` has what was found until then.
        """
        self._before = asker.made
        self._meet(position, 0)
        while True:
            waiting = [node for node in self._nodes if not node.asked]
            # What is nearest to the root matters most, and is asked where not all can be.
            waiting.sort(key=lambda node: (node.depth, node.number))
            wave = waiting[: asker.left]
            if not wave:
                return
            told = asker.ask_all([self._ask(node) for node in wave])
            for node, answer in zip(wave, told, strict=True):
                node.asked = True
                if isinstance(answer, UnparsableReplyError):
                    node.unusable = True
                elif isinstance(answer, Estimated):
                    self._take_rewards(node, answer)
                else:
                    node.reply = answer
                    self._follow(node, answer, node.depth)

    def _ask(self, node: Node) -> Ask[Estimated | Candidate | UnparsableReplyError]:
        """Return what asks about a node; beyond the first, unusable replies are an answer, too."""
        ask = self._ask_strictly(node)

        def ask_leniently(
            conversation: Conversation,
        ) -> Estimated | Candidate | UnparsableReplyError:
            try:
                return ask(conversation)
            except UnparsableReplyError as error:
                return error

        return ask_leniently if node.number else ask

    def _ask_strictly(self, node: Node) -> Ask[Estimated | Candidate]:
        position = node.at

        def model(conversation: Conversation) -> Estimated | Candidate:
            return self._modeling.model(self._task, position, self._hidden, conversation)

        def estimate(conversation: Conversation) -> Estimated | Candidate:
            most = self._breadth if node.considered is None else None
            unknown = Unknown(position, node.unknown, node.known, most)
            return self._rewards.estimate(self._task, unknown, self._hidden, conversation)

        return model if node.of == "reply" else estimate

    def _take_rewards(self, node: Node, told: Estimated) -> None:
        self._estimates.append(told)
        position = node.at
        if node.considered is None:
            both = {**told.rewards, **node.known}
            node.considered = tuple(action for action in position.actions if action in both)
            node.rewards = {action: both[action] for action in node.considered}
            self._expand(node)
        else:
            both = {**told.rewards, **node.known}
            node.rewards = {a: both[a] for a in node.considered if a in both}

    def _meet(self, position: Position, depth: int) -> Node:
        """Return the node of a state; one that is met on a shorter way is explored further."""
        node = self._by_key.get(position.key)
        if node is not None:
            if depth < node.depth:
                node.depth = depth
                if node.of == "reply" and node.reply is not None:
                    self._follow(node, node.reply, depth)
                elif node.of == "own":
                    self._expand(node)
            return node
        node = self._made(position, depth)
        self._nodes.append(node)
        self._by_key[position.key] = node
        if node.of == "own":
            self._look_at_ends(node, position)
            looked_at = {*node.known, *node.unknown}
            node.rewards = dict(node.known)
            node.asked = not node.unknown
            is_listed = len(node.unknown) <= self._breadth
            node.considered = (
                tuple(one for one in position.actions if one in looked_at) if is_listed else None
            )
            self._expand(node)
        elif node.of == "reply" and len(position.actions) == 1:
            (node.reply,), node.asked = position.actions, True
            self._follow(node, node.reply, depth)
        return node

    def _made(self, position: Position, depth: int) -> Node:
        of: NodeKind
        if position.node != "decision":
            of = position.node
        else:
            of = "own" if position.mover == position.viewer else "reply"
        node = Node(len(self._nodes), of, depth, position.mover or "", position)
        node.asked = of in ("terminal", "chance")
        if of == "terminal":
            node.payoff = scaled_payoff(position)
        return node

    def _look_at_ends(self, node: Node, position: Position) -> None:
        """Note the rewards of actions that end the game with a payoff that the rules tell.

        No model has to name these for them to be looked at: the best of them are, whatever they are
        beside.
        """
        ends: dict[Candidate, float] = {}
        for action in position.actions:
            after = position.after(action)
            payoff = scaled_payoff(after) if after.node == "terminal" else None
            if payoff is not None:
                ends[action] = payoff
        node.unknown = tuple(action for action in position.actions if action not in ends)
        best = sorted(ends, key=lambda action: -ends[action])
        kept = set(best if len(position.actions) <= self._breadth else best[: self._breadth])
        node.known = {action: ends[action] for action in ends if action in kept}

    def _expand(self, node: Node) -> None:
        if node.depth < self._horizon:
            for action in node.looked_at:
                self._follow(node, action, node.depth + 1)

    def _follow(self, node: Node, action: Candidate, depth: int) -> None:
        node.children[action] = self._meet(node.at.after(action), depth)


def scaled_payoff(position: Position) -> float | None:
    """Return a terminal's payoff from 0 to 1, over the range of payoffs; None for unknown."""
    payoff = position.payoff()
    if payoff is None:
        return None
    low, high = position.payoff_range
    return min(max((payoff - low) / (high - low), 0.0), 1.0) if high > low else 0.5
