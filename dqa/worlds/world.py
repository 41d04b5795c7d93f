"""Worlds: sequences of decisions, every one of which is a question about a database.

A hand of poker, a negotiation, a household: a *world* starts *episodes*, and every move of an
episode is an ordinary `Question` (its rules, and the legal moves as its candidates) about a
database that holds the history so far, as far as the player to move may know it. So any
decider plays any world.

A method that looks ahead is given a `Position` as well: the same state as that player knows it,
with what the rules let follow from each action. It holds nothing that the database would not tell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, TypeAlias

from dqa.core.database import Database
from dqa.core.question import Candidate, Question

CHANCE: Final = "chance"
"""Who acts where no player does: cards are dealt."""

Node: TypeAlias = Literal["decision", "chance", "terminal"]
"""What comes next in a position: a player's action, something new by chance, or nothing."""


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
        What was done, as a candidate reads.
    detail
        What it consisted of, where the action does not say: the cards that were dealt.
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
        What it is called: ``"strength"``, ``"value of peppers"``.
    description
        What it means, as a model is told it.
    states
        What it can be, in their order (BIDDER, section 2.1: the discretised state space).
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
        Who knows it.
    node
        What comes next.
    mover
        Who acts next; None where `node` is not ``"decision"``.
    actions
        The legal actions of the mover, in the order of the question's candidates.
    events
        What happened so far.
    hidden
        What the viewer could infer of other players.
    free_form
        What may be done beside `actions`, as `dqa.core.question.Question.free_form` says it.
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
        """The same for two states between which nothing that the viewer knows differs."""

    @abstractmethod
    def after(self, action: Candidate) -> Position:
        """Return the state that follows, still as `viewer` knows it.

        Raises
        ------
        UsageError
            The action is not legal here.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return what the viewer knows beside the events, for a model: cards, pot, own values."""

    @abstractmethod
    def payoff(self) -> float | None:
        """Return what the viewer gets at a terminal node; None where hidden things decide it."""

    @property
    @abstractmethod
    def payoff_range(self) -> tuple[float, float]:
        """The least and the most that the viewer can get, for rewards between 0 and 1."""

    @property
    @abstractmethod
    def fallback(self) -> Candidate:
        """The legal action that counts for a mover who names none: the most cautious one."""


@dataclass(frozen=True)
class Move:
    """What is to be decided next.

    Attributes
    ----------
    player
        Who decides: one of `World.players`.
    question
        What that player may see, with the legal moves as candidates.
    position
        The same state, for who looks ahead.
    opened
        Opens the history so far, without what is hidden from that player; called once, where
        somebody reads it. The episode closes what it returned.
    reveal
        Returns the true state, hidden things and all, in the world's own form; None where the world
        has none to show. Only who plays an episode calls it, for a player that says that it is
        informed (`dqa.worlds.base.InformedPolicy`); no decider is given a move.
    """

    player: str
    question: Question
    position: Position
    opened: Callable[[], Database] = field(repr=False, compare=False)
    reveal: Callable[[], object] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def database(self) -> Database:
        """The history so far, without what is hidden from the player. The episode closes it."""
        return self.opened()


class Episode(ABC):
    """One run of a world, from its start to its end. Used by one thread."""

    @abstractmethod
    def next_move(self) -> Move | None:
        """Return what is to be decided next, the same until `choose`; None at the end."""

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
        """Return what each player got; `UsageError` before the end."""

    @abstractmethod
    def facts(self) -> Mapping[str, Candidate | float | bool | None]:
        """Return what else the world tells of an episode that ended, by name; {} for nothing.

        Whether there was an agreement, the deal, whether it was Pareto optimal: what a world's own
        metrics are counted from.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what the episode holds, above all the databases of its moves."""


class World(ABC):
    """What starts episodes.

    Attributes
    ----------
    name
        What commands call it, and the scenario of its questions.
    players
        Who decides in it: two who play each other, or one alone.
    """

    name: str
    players: tuple[str, ...]

    @abstractmethod
    def start(self, seed: int, *, mirrored: bool = False) -> Episode:
        """Start an episode.

        Parameters
        ----------
        seed
            What is left to chance follows from it alone, whatever the players do.
        mirrored
            Whether the players have each other's hidden things (cards, values) and, in a game whose
            seats differ, each other's seats; all else is as with the same seed.
        """

    @abstractmethod
    def position(self, question: Question, database: Database) -> Position:
        """Return the state that a question is about, read from its database by queries.

        Raises
        ------
        DataError
            The history has gaps, or nobody could have played it by the rules.
        """
