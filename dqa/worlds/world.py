"""Interfaces of worlds: sequences of decisions, where each decision is a question.

A world (poker, a negotiation, a household) starts episodes. Each move of an episode is an ordinary
`Question`: it has rules, and its candidates are the legal moves. Its database contains the history
that the player may read. Any decider can therefore play any world.

A method that looks ahead also receives a `Position`: the state from the player's view, and the
result of each action under the rules. A position contains no information that the database lacks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, TypeAlias

from dqa.core.database import Database
from dqa.core.question import Candidate, Question

CHANCE: Final = "chance"
"""The actor of events without a player, such as the deal of cards."""

Node: TypeAlias = Literal["decision", "chance", "terminal"]
"""The next step in a position: a player's action, a random event, or the end."""
Shown: TypeAlias = Literal["nothing", "state", "all"]
"""The part of a position in a question's text: nothing, the state, or the state and events."""


@dataclass(frozen=True, slots=True)
class GameEvent:
    """A public event of an episode.

    Attributes
    ----------
    number
        The number of the event in the episode, from 1.
    stage
        The part of the episode, for example ``"flop"`` or ``"turn 3"``.
    actor
        A player, or `CHANCE`.
    action
        The action, written like the candidates of a question.
    detail
        Details of the action, such as the dealt cards.
    """

    number: int
    stage: str
    actor: str
    action: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HiddenVariable:
    """A value that only one player knows. Other players can infer it from the history.

    Attributes
    ----------
    player
        The player who knows the value.
    name
        The name, for example ``"strength"`` or ``"value of peppers"``.
    description
        The meaning, as a text for a model.
    states
        The possible values in order (BIDDER, section 2.1: the discretised state space).
    """

    player: str
    name: str
    description: str
    states: tuple[str, ...]


class Position(ABC):
    """An immutable state of an episode with everything that one player, the viewer, knows.

    Attributes
    ----------
    viewer
        The player whose knowledge the position contains.
    node
        The kind of the next step.
    mover
        The player who acts next; None if `node` is not ``"decision"``.
    actions
        The legal actions of the mover, in the order of the question's candidates.
    events
        The events of the episode up to this state.
    hidden
        The hidden variables of other players.
    free_form
        The form of actions that are not listed; see `dqa.core.question.Question.free_form`.
    """

    viewer: str
    node: Node
    mover: str | None
    actions: tuple[Candidate, ...]
    events: tuple[GameEvent, ...]
    hidden: tuple[HiddenVariable, ...]
    free_form: str = ""

    def accepts(self, action: Candidate) -> bool:
        """Return whether an action is legal: by default, whether it is one of `actions`."""
        return action in self.actions

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """A key that is equal for states that the viewer cannot distinguish."""

    @abstractmethod
    def after(self, action: Candidate) -> Position:
        """Return the state after an action, for the same viewer.

        Raises
        ------
        UsageError
            The action is not legal in this state.
        """

    @abstractmethod
    def describe(self) -> str:
        """Describe the viewer's knowledge without the events, for example cards and own values."""

    def for_mover(self) -> Position:
        """Return the state without the viewer's private values.

        Methods use this state to predict the mover's action.
        """
        return self

    def shown_in(self, text: str) -> Shown:
        """Return which part of the position a text contains."""
        del text
        return "nothing"

    def in_words(self, actions: Sequence[Candidate]) -> str:
        """Describe legal actions that are too many to list; otherwise return an empty text."""
        del actions
        return ""

    @abstractmethod
    def payoff(self) -> float | None:
        """Return the viewer's payoff at a terminal node; None if it depends on hidden values."""

    @property
    def payoff_range(self) -> tuple[float, float]:
        """The minimum and the maximum payoff of the viewer in an episode: by default 0 and 1."""
        return 0.0, 1.0

    @property
    def stakes(self) -> tuple[float, float]:
        """The two payoffs that count as the rewards 0 and 1 in the current decision."""
        return self.payoff_range

    @property
    def fallback(self) -> Candidate:
        """The legal action that is taken if the mover's answer names no action.

        By default, it is the first action.
        """
        return self.actions[0]


@dataclass(frozen=True)
class Move:
    """The next decision of an episode.

    Attributes
    ----------
    player
        The player who decides: one of `World.players`.
    question
        The question for the player. Its candidates are the legal moves.
    position
        The same state, for methods that look ahead.
    opened
        A function that opens the history, without values that are hidden from the player. It is
        called at most once. The episode closes the database.
    reveal
        A function that returns the true state with all hidden values, in a form that the world
        defines; None if the world has no hidden values. It is called only for informed programs
        (`dqa.worlds.base.InformedPolicy`).
    """

    player: str
    question: Question
    position: Position
    opened: Callable[[], Database] = field(repr=False, compare=False)
    reveal: Callable[[], object] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def database(self) -> Database:
        """The history without values hidden from the player. The episode closes the database."""
        return self.opened()


class Episode(ABC):
    """One run of a world, from start to end. Only one thread may use it."""

    @abstractmethod
    def next_move(self) -> Move | None:
        """Return the next move; None after the end. Repeated calls return the same move."""

    @abstractmethod
    def choose(self, choice: Candidate) -> None:
        """Apply a choice to the next move.

        Raises
        ------
        UsageError
            The choice is not a candidate of the question, or the episode has ended.
        """

    @abstractmethod
    def returns(self) -> Mapping[str, float]:
        """Return the payoff of each player. Raise `UsageError` before the end."""

    @abstractmethod
    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return additional facts about an ended episode by name; may be empty.

        For example: whether the players agreed, on what, and whether the agreement is Pareto
        optimal. The world's metrics use these facts.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the episode, such as the databases of its moves."""


class World(ABC):
    """A world that starts episodes.

    Attributes
    ----------
    name
        The world's name in commands. It is also the scenario of the world's questions.
    players
        The names of two players, or of a single player.
    payoffs
        The minimum and the maximum payoff of an episode, at which confidence intervals are cut.
        None means that payoffs have no bound.
    """

    name: str
    players: tuple[str, ...]
    payoffs: tuple[float | None, float | None] = (None, None)

    @abstractmethod
    def start(self, seed: int, *, mirrored: bool = False) -> Episode:
        """Start an episode.

        Parameters
        ----------
        seed
            The seed of all random events. These events do not depend on the players.
        mirrored
            Whether the players swap their hidden values (cards, points), and their seats if seats
            differ. Everything else is the same as in the unmirrored game with this seed.
        """

    @abstractmethod
    def position(self, question: Question, database: Database) -> Position:
        """Read the state in a question's database, as the player of the question sees it.

        Raises
        ------
        DataError
            The history has gaps, or breaks the rules.
        """
