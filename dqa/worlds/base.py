"""What the entry point `dqa.worlds` names, and players that are programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.stated import stated_position
from dqa.worlds.world import Position, World

if TYPE_CHECKING:
    from dqa.worlds.history import History
    from dqa.worlds.training import Trainer


class Policy(ABC):
    """A program that plays: a position to an action. Stateless, so one serves many threads."""

    @abstractmethod
    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return one of the position's actions.

        Parameters
        ----------
        position
            What is to be decided; its viewer is its mover.
        random
            Where every random choice comes from.
        """


class InformedPolicy(Policy):
    """A program that sees what others hide: no fair player, and to be named for it."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Raise `UsageError`: a position does not hold what this player needs."""
        del position, random
        raise UsageError(
            "This player sees what is hidden from others, which no question and no database tells: "
            "let it play whole games ('dqa play'), or take one that is not informed."
        )

    @abstractmethod
    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return one of the position's actions.

        Parameters
        ----------
        position, random
            As `Policy.choose` takes them.
        state
            The true state, as `dqa.worlds.world.Move.reveal` of its world returns it.
        """


@dataclass(frozen=True, slots=True)
class PolicyFactory:
    """Makes a program that plays a world.

    Attributes
    ----------
    name
        What commands and results call the player.
    description
        What it does, in one line.
    make
        Makes it for a seed. A player that has to be trained trains here, unless its cache holds
        what the same training gave; only the seed and the settings decide what comes of it.
    trained
        Whether it has to be trained.
    trainer
        How, where ``dqa train`` can do that as well.
    """

    name: str
    description: str
    make: Callable[[int], Policy]
    trained: bool = False
    trainer: Trainer | None = None


@dataclass(frozen=True, slots=True)
class WorldFactory:
    """What an entry point names: makes a world of its settings.

    Attributes
    ----------
    name
        What commands call the world, and the scenario of its questions.
    description
        What is decided in it, in one line.
    make
        Makes it: of an instance of `settings`, and the history in which its episodes are written
        down, or None where nobody will read them.
    settings
        What can be set, as a pydantic model whose fields all have defaults.
    policies
        The programs that play it, by name.
    foreseen
        Whether `Position.after` tells what follows from an action. Where it does not, as in a world
        that is found out by acting in it, nobody can look ahead.
    players
        How many play it, for lists; None to have it made to find out (`count_players`).
    """

    name: str
    description: str
    make: Callable[[Any, History | None], World]
    settings: type[BaseModel]
    policies: Mapping[str, PolicyFactory] = field(default_factory=dict)
    foreseen: bool = True
    players: int | None = None


def count_players(factory: WorldFactory) -> int:
    """Return how many players a world has; `MissingKeyError` where it cannot be made to tell."""
    if factory.players is not None:
        return factory.players
    return len(factory.make(factory.settings(), None).players)


class PolicyDecider(Decider):
    """A program that plays, as a decider.

    Parameters
    ----------
    name
        What results call it.
    policy
        Who chooses.
    seed
        With the question's key, where its random choices come from.
    """

    def __init__(self, name: str, policy: Policy, seed: int) -> None:
        self.name = name
        self._policy = policy
        self._seed = seed

    def decide(self, question: Question, database: Database) -> Decision:
        """Read the position back from the history, and choose."""
        return self.decide_at(question, find_position(question, database))

    def decide_at(
        self,
        question: Question,
        position: Position,
        names: tuple[str, ...] = (),
        reveal: Callable[[], object] | None = None,
    ) -> Decision:
        """Choose in a position that is known already.

        Parameters
        ----------
        question, position
            What is to be decided.
        names
            In place of the question's key, what its random choices follow from.
        reveal
            The move's; called for an informed program alone.
        """
        words = f"{self._seed} {' '.join(names) or question.key}".encode()
        random = np.random.default_rng(int.from_bytes(blake2b(words, digest_size=8).digest()))
        if reveal is not None and isinstance(self._policy, InformedPolicy):
            choice = self._policy.choose_informed(position, reveal(), random)
        else:
            choice = self._policy.choose(position, random)
        if not position.accepts(choice):
            raise ValueError(f"{self.name} chose {choice!r}, which is not legal in {question.key}.")
        return Decision(Ending.ANSWERED, answer=str(choice), choice=choice)

    def check(self, question: Question) -> None:
        """Raise `UsageError` for a question that is no move of a world."""
        if not is_move(question):
            raise UsageError(f"'{self.name}' plays worlds, and {question.key} is no move of one.")


def is_move(question: Question) -> bool:
    """Whether a question is a move of a world, or of one that its scenario's folder states."""
    if question.scenario in plugins.names("world"):
        return True
    scenario = plugins.scenario_of(question)
    return scenario is not None and scenario.document.events is not None


def require_foreseen(question: Question, decider: str, instead: str) -> None:
    """Raise `UsageError` for a move of a world in which nobody can look ahead.

    Parameters
    ----------
    question
        What is asked.
    decider
        Who looks ahead.
    instead
        Deciders that do not, for the message.
    """
    world = question.scenario
    if world in plugins.names("world") and not plugins.world(world).foreseen:
        raise UsageError(
            f"'{decider}' looks ahead, and what follows from an action in '{world}' is only seen "
            f"by acting: take {instead}."
        )


def find_position(question: Question, database: Database) -> Position:
    """Return the state that a question is about, read from its database.

    Raises
    ------
    UsageError
        The question is no move, of a world or of a scenario with ``[events]``.
    DataError
        As `World.position`, or the scenario's events cannot be read.
    """
    if question.scenario in plugins.names("world"):
        factory = plugins.world(question.scenario)
        return factory.make(factory.settings(), None).position(question, database)
    stated = stated_position(question, database)
    if stated is None:
        raise UsageError(
            f"{question.key} is no move: '{question.scenario}' is no world "
            f"({', '.join(plugins.names('world')) or 'there are none'}), and no scenario whose "
            "scenario.toml has [events]."
        )
    return stated
