"""BIDDER's own events: what its steps found, as a trace holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dqa.core.events import Event
from dqa.core.question import Candidate

Number: TypeAlias = Annotated[int, Field(ge=0)]
"""Of a node, or how many there are."""
NodeKind: TypeAlias = Literal["own", "reply", "chance", "terminal"]
"""Who acts in a node: who decides, another player, chance, or nobody."""


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class HiddenState(_Told):
    """What is taken for the state of something that another player knows.

    Attributes
    ----------
    player, name
        Whose it is, and what it is called.
    state
        The most likely one.
    """

    player: str
    name: str
    state: str


class HiddenStatesEvent(Event):
    """What is inferred from the history (section 2.1).

    Attributes
    ----------
    hidden
        The most likely state of every variable.
    events
        How many events of the history that rests on.
    """

    kind: Literal["hidden_states"] = "hidden_states"
    hidden: tuple[HiddenState, ...]
    events: Number = 0


class ModeledActionEvent(Event):
    """What another player is expected to do (section 2.2); `node` is where, in the tree."""

    kind: Literal["modeled_action"] = "modeled_action"
    node: Number
    mover: str
    action: Candidate


class TreeNode(_Told):
    """A state that was explored.

    Attributes
    ----------
    number
        Which, from 0, the root; nodes are in the order in which they were met.
    of
        Who acts there.
    depth
        How many own moves lie before it, on the shortest way.
    state
        What the viewer knows there.
    mover
        Who acts; empty where nobody does.
    legal
        How many actions are legal.
    rewards
        By action in words, what it is worth, from 0 to 1 (section 2.3); of the decider's own nodes.
    certain
        The actions among them whose payoff the rules tell.
    payoff
        Of a terminal node the payoff from 0 to 1; None where hidden things decide it.
    children
        By action in words, the number of the node that it leads to. Several may lead to one.
    """

    number: Number
    of: NodeKind
    depth: Number
    state: str = ""
    mover: str = ""
    legal: Number = 0
    rewards: Mapping[str, float] = {}
    certain: tuple[str, ...] = ()
    payoff: float | None = None
    children: Mapping[str, Number] = {}


class ExploredTreeEvent(Event):
    """What may follow (Algorithm 1): states, each once, and what their actions are worth.

    Attributes
    ----------
    nodes
        The states, the root first.
    horizon
        T.
    asked
        How many requests it took.
    unasked
        How many states a bound left without an answer.
    unusable
        About how many states no reply could be used; they have no answer, either.
    """

    kind: Literal["explored_tree"] = "explored_tree"
    nodes: tuple[TreeNode, ...]
    horizon: Number
    asked: Number
    unasked: Number = 0
    unusable: Number = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if [node.number for node in self.nodes] != list(range(len(self.nodes))):
            raise ValueError("nodes of a tree are numbered in their order, from 0")
        if any(to >= len(self.nodes) for node in self.nodes for to in node.children.values()):
            raise ValueError("an action of a tree leads to no node of it")
        return self


class ActionReturn(_Told):
    """What an action returns, G(a) (equation 4).

    Attributes
    ----------
    action
        Which.
    value
        The largest return of a trajectory that begins with it; None where no reward is known.
    path
        That trajectory: who does what.
    """

    action: Candidate
    value: float | None
    path: tuple[str, ...] = ()


class ReturnsEvent(Event):
    """The returns of the actions (Algorithm 2), and the one of the largest.

    Attributes
    ----------
    returns
        Of each action that was looked at, in order.
    horizon, beta
        T, and the attenuation coefficient.
    ceiling
        The largest return that there can be.
    best
        The action of the largest; None where none is known.
    """

    kind: Literal["returns"] = "returns"
    returns: tuple[ActionReturn, ...]
    horizon: Number
    beta: float
    ceiling: float
    best: Candidate | None


class ChosenEvent(Event):
    """The decision (section 2.3, last step).

    Attributes
    ----------
    action
        What was chosen.
    reasoning
        Why, in the model's words.
    follows_returns
        Whether it has the largest return; None where none is known.
    """

    kind: Literal["deliberated"] = "deliberated"
    action: Candidate
    reasoning: str = ""
    follows_returns: bool | None = None


class RevisionEvent(Event):
    """What checking a decision made of it (Reflexion)."""

    kind: Literal["revision"] = "revision"
    before: Candidate
    after: Candidate


class Thought(_Told):
    """A thought, and the action that it decides for; None where it decides nothing yet."""

    text: str
    action: Candidate | None = None


class ThoughtsEvent(Event):
    """A level of a tree of thoughts.

    Attributes
    ----------
    level
        Which, from 1.
    thoughts
        What was proposed.
    votes
        How often each was found the best.
    kept
        Numbers of those that go on, from 0, the best first.
    """

    kind: Literal["thoughts"] = "thoughts"
    level: Number
    thoughts: tuple[Thought, ...]
    votes: tuple[Number, ...]
    kept: tuple[Number, ...]


EVENTS: tuple[type[Event], ...] = (
    HiddenStatesEvent,
    ModeledActionEvent,
    ExploredTreeEvent,
    ReturnsEvent,
    ChosenEvent,
    RevisionEvent,
    ThoughtsEvent,
)
"""What the entry point ``dqa.events`` names."""
