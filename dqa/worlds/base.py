"""Factories of worlds (entry points ``dqa.worlds``), and policies that play worlds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import BaseModel

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.worlds.event_table import event_table_position
from dqa.worlds.world import Position, World

if TYPE_CHECKING:
    from dqa.worlds.history import History
    from dqa.worlds.training import Trainer


class Policy(ABC):
    """A program that chooses an action in a position. It is stateless and thread-safe."""

    @abstractmethod
    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Return one of the position's actions.

        Parameters
        ----------
        position
            The position. Its viewer is also the player who acts next.
        random
            The source of every random choice.
        """


class RandomPolicy(Policy):
    """Takes any legal action, each with the same probability."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Draw one of the position's actions."""
        return position.actions[int(random.integers(len(position.actions)))]


class InformedPolicy(Policy):
    """A program that knows all hidden values. It is therefore not a fair player."""

    def choose(self, position: Position, random: np.random.Generator) -> Candidate:
        """Raise `UsageError`, because a position lacks the hidden values."""
        del position, random
        raise UsageError("This player needs hidden values, so it plays only in 'dqa games play'.")

    @abstractmethod
    def choose_informed(
        self, position: Position, state: object, random: np.random.Generator
    ) -> Candidate:
        """Return one of the position's actions.

        Parameters
        ----------
        position, random
            See `Policy.choose`.
        state
            The true state, which `dqa.worlds.world.Move.reveal` returns.
        """


@dataclass(frozen=True, slots=True)
class PolicyFactory:
    """Creates a program that plays a world.

    Attributes
    ----------
    name
        The player's name in commands and results.
    description
        A description in one line.
    make
        A function that creates the program for a seed. A learning player is read from the cache. If
        the cache lacks this player, the player is trained first. The program depends only on the
        seed and the settings.
    trainer
        The trainer of a learning player; None for other programs.
    """

    name: str
    description: str
    make: Callable[[int], Policy]
    trainer: Trainer | None = None


RANDOM: Final = PolicyFactory(
    "random", "takes any legal action, each with the same probability", lambda _: RandomPolicy()
)


@dataclass(frozen=True, slots=True)
class WorldFactory:
    """Creates a world from settings. An entry point of ``dqa.worlds`` names the factory.

    Attributes
    ----------
    name
        The world's name in commands. It is also the scenario of the world's questions.
    description
        A description in one line.
    make
        A function that creates the world from an instance of `settings` and the history of the
        world's episodes. The history may be None.
    settings
        The settings, as a pydantic model whose fields all have defaults.
    policies
        The programs that play the world, by name.
    foreseen
        Whether `Position.after` can compute the result of an action. In some worlds, the result is
        known only after the action.
    """

    name: str
    description: str
    make: Callable[[Any, History | None], World]
    settings: type[BaseModel]
    policies: Mapping[str, PolicyFactory] = field(default_factory=dict)
    foreseen: bool = True


def count_players(factory: WorldFactory) -> int:
    """Return the number of players. Raise `MissingKeyError` if a package is missing."""
    return len(factory.make(factory.settings(), None).players)


class PolicyDecider(Decider):
    """A decider that lets a program choose.

    Parameters
    ----------
    name
        The decider's name in results.
    policy
        The program.
    seed
        The seed of random choices, which also depend on the question's key.
    """

    def __init__(self, name: str, policy: Policy, seed: int) -> None:
        self.name = name
        self._policy = policy
        self._seed = seed

    def decide(self, question: Question, database: Database) -> Decision:
        """Read the position from the history, and choose."""
        return self.decide_at(question, find_position(question, database))

    def decide_at(
        self,
        question: Question,
        position: Position,
        names: tuple[str, ...] = (),
        reveal: Callable[[], object] | None = None,
    ) -> Decision:
        """Choose in a known position.

        Parameters
        ----------
        question, position
            The question of the move, and its position.
        names
            Texts that random choices depend on, in addition to the seed; by default, the question's
            key.
        reveal
            The function `Move.reveal` of the move. It is called only for an informed program.
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
        """Raise `UsageError` for a question that is not a move of a world."""
        if not is_move(question):
            raise UsageError(f"'{self.name}' decides only moves. {question.key} is not a move.")


def is_move(question: Question) -> bool:
    """Return whether a question is a move of a world or of a scenario with ``[events]``."""
    if question.scenario in plugins.names("world"):
        return True
    scenario = plugins.scenario_of(question)
    return scenario is not None and scenario.document.events is not None


def find_position(question: Question, database: Database) -> Position:
    """Read the position of a question from the question's database.

    Raises
    ------
    UsageError
        The question is not a move of a world or of a scenario with ``[events]``.
    DataError
        See `World.position`. Also raised if the scenario's events cannot be read.
    """
    if question.scenario in plugins.names("world"):
        factory = plugins.world(question.scenario)
        return factory.make(factory.settings(), None).position(question, database)
    found = event_table_position(question, database)
    if found is None:
        raise UsageError(
            f"{question.key} is not a move: '{question.scenario}' is neither a world nor a "
            "scenario with [events]."
        )
    return found
