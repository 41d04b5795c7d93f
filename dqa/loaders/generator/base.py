"""The contract of generators: a scenario's worlds and questions about them, from a seed.

A scenario's folder names its generator (``[generator]`` of ``scenario.toml``).
`dqa.loaders.generator.simulated` is one that most can use: it takes what is particular to the
scenario and does the rest. Worlds of another kind plug in their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.loaders.generator.options import Difficulty
from dqa.scenarios.base import Scenario

__all__ = ["Drawn", "Generator", "Request", "Size"]


class Size(Protocol):
    """The size of a world: a frozen data class of whole numbers, typed by its generator.

    Its constructor raises `UsageError` for numbers that no world has.
    """

    scenario: ClassVar[str]
    """Whose worlds have such sizes."""

    def scaled(self, factor: float) -> Self:
        """Return the size with what varies from world to world multiplied by `factor`."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be generated of one scenario.

    Attributes
    ----------
    count
        Questions.
    seed
        Not negative.
    size
        Of every world; None for varied sizes around what is usual.
    difficulty
        What makes the questions harder.
    per_database
        Most questions that share a world; None for what is usual.
    """

    count: int
    seed: int
    size: Size | None = None
    difficulty: Difficulty = field(default_factory=Difficulty)
    per_database: int | None = None


class Drawn(NamedTuple):
    """A world, and the questions about it; their ids are still to be given."""

    situation: Situation
    questions: list[LabelledQuestion]


@runtime_checkable
class Generator(Protocol):
    """Draws worlds of a scenario and asks about them.

    Attributes
    ----------
    size
        The usual size of its worlds; None where all are of one size.
    takes_difficulty
        Whether its questions can be made harder.
    release
        Questions and databases of the release that it can imitate; None where there is none.
    """

    size: Size | None
    takes_difficulty: bool
    release: tuple[int, int] | None

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield worlds with questions, ``request.count`` in all.

        The same request gives the same on every machine, and a larger count begins with the
        questions of a smaller one.

        Raises
        ------
        UsageError
            No question of the wanted difficulty turns up.
        """
        ...

    def questions_like_release(self, scenario: Scenario, seed: int) -> Iterator[Drawn]:
        """Yield as many worlds and questions as `release` says, of the release's mean sizes."""
        ...

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return the rule sets under which the answers about a world hold; () without any."""
        ...
