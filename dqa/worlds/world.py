"""Worlds: sequences of decisions, each of them a question about a database.

A hand of poker, a negotiation, a household: a *world* starts *episodes*, and every move of an
episode is an ordinary `Question` (its rules, and the legal moves as its candidates) about a
database that holds the history so far, as far as the player to move may know it. So any
decider plays any world.

A method that looks ahead also receives a `Position`: the same state as that player knows it, with
the results of each action by the rules. It contains nothing that the database lacks.
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
Told: TypeAlias = Literal["nothing", "state", "all"]
"""What a text says of a position: nothing, the state, or the state and the events."""


@dataclass(frozen=True, slots=True)
class GameEvent:
    """Something that happened in an episode, as every player could see it.

    Attributes
    ----------
    number
        Place in the episode, from 1.
    stage
        Which part of the episode it belongs to: ``"flop"``, ``"turn 3"``.
    actor
        A player, or `CHANCE`.
    action
        The action, as a candidate.
    detail
        Details that the action lacks, such as the cards that were dealt.
    """

    number: int
    stage: str
    actor: str
    action: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class HiddenVariable:
    """Something that another player knows, and that the history lets one infer.

    Attributes
    ----------
    player
        Whose it is.
    name
        Its name: ``"strength"``, ``"value of peppers"``.
    description
        Its meaning, as a text for a model.
    states
        Its possible values, in their order (BIDDER, section 2.1: the discretised state space).
    """

    player: str
    name: str
    description: str
    states: tuple[str, ...]


class Position(ABC):
    """A state of an episode as one player knows it; immutable.

    Attributes
    ----------
    viewer
        The player whose view it is.
    node
        The next step.
    mover
        The next to act; None if `node` is not ``"decision"``.
    actions
        The legal actions of the mover, in the order of the question's candidates.
    events
        The events so far.
    hidden
        The hidden variables of other players.
    free_form
        The form of further actions; see `dqa.core.question.Question.free_form`.
    """

    viewer: str
    node: Node
    mover: str | None
    actions: tuple[Candidate, ...]
    events: tuple[GameEvent, ...]
    hidden: tuple[HiddenVariable, ...]
    free_form: str = ""

    def accepts(self, action: Candidate) -> bool:
        """Whether an action can be carried out here: one of `actions`, unless more are legal."""
        return action in self.actions

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """The same for two states that do not differ in the viewer's knowledge."""

    @abstractmethod
    def after(self, action: Candidate) -> Position:
        """Return the next state, still as `viewer` knows it.

        Raises
        ------
        UsageError
            The action is not legal here.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the viewer's knowledge besides the events, for a model: cards, pot, own values."""

    def for_mover(self) -> Position:
        """Return the state without what the viewer alone knows, for a model of the mover."""
        return self

    def told_by(self, text: str) -> Told:
        """Return what of `describe` and the events the text of a question says already."""
        del text
        return "nothing"

    def in_words(self, actions: Sequence[Candidate]) -> str:
        """Return legal actions in words if a list of them would be long; else empty."""
        del actions
        return ""

    @abstractmethod
    def payoff(self) -> float | None:
        """Return the viewer's payoff at a terminal node; None if hidden values decide it."""

    @property
    @abstractmethod
    def payoff_range(self) -> tuple[float, float]:
        """The least and the largest payoff of the viewer in an episode."""

    @property
    def stakes(self) -> tuple[float, float]:
        """What the viewer can lose and win by the decision here, for rewards between 0 and 1."""
        return self.payoff_range

    @property
    @abstractmethod
    def fallback(self) -> Candidate:
        """The most cautious legal action, which counts if the mover names none."""


@dataclass(frozen=True)
class Move:
    """The next decision of an episode.

    Attributes
    ----------
    player
        The player who decides: one of `World.players`.
    question
        The player's view, with the legal moves as candidates.
    position
        The same state, for looking ahead.
    opened
        Opens the history so far, without values hidden from that player; called at most once. The
        episode closes the database.
    reveal
        Returns the true state with all hidden values, in the world's own form; None if the world
        has none. It is called only for informed programs (`dqa.worlds.base.InformedPolicy`).
    """

    player: str
    question: Question
    position: Position
    opened: Callable[[], Database] = field(repr=False, compare=False)
    reveal: Callable[[], object] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def database(self) -> Database:
        """The history so far, without values hidden from the player. The episode closes it."""
        return self.opened()


class Episode(ABC):
    """One run of a world, from its start to its end. Used by one thread."""

    @abstractmethod
    def next_move(self) -> Move | None:
        """Return the next move, the same until `choose`; None at the end."""

    @abstractmethod
    def choose(self, choice: Candidate) -> None:
        """Carry out a move.

        Raises
        ------
        UsageError
            The choice is no candidate of the question, or the episode has ended.
        """

    @abstractmethod
    def returns(self) -> Mapping[str, float]:
        """Return the payoff of each player; `UsageError` before the end."""

    @abstractmethod
    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return further facts about an episode that has ended, by name; {} if there are none.

        Examples are the agreement, the deal, and its Pareto optimality. A world's own metrics use
        them.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the episode, above all the databases of its moves."""


class World(ABC):
    """A world, which starts episodes.

    Attributes
    ----------
    name
        Its name in commands, and the scenario of its questions.
    players
        The players: two who play each other, or one alone.
    payoffs
        The least and the largest payoff of an episode, which limit intervals; None without a limit.
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
            The seed of all random events, which do not depend on the players.
        mirrored
            Whether the players have each other's hidden values (cards, points) and, in a game whose
            seats differ, each other's seats; all else is as with the same seed.
        """

    @abstractmethod
    def position(self, question: Question, database: Database) -> Position:
        """Return the state that a question is about, read from its database by queries.

        Raises
        ------
        DataError
            The history has gaps, or breaks the rules.
        """
