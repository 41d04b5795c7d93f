"""The contract of generators: a scenario's worlds and questions about them, from a seed.

A scenario's folder names its generator (``[generator]`` of ``scenario.toml``).
`dqa.loaders.generator.simulated` is one that most can use: it takes what is particular to the
scenario and does the rest. Worlds of another kind plug in their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def require(holds: bool, problem: str) -> None:
    """Raise `UsageError` with `problem` unless something holds: for sizes and other options."""
    if not holds:
        raise UsageError(problem)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """What makes questions harder, whatever the scenario.

    Attributes
    ----------
    hops
        The answer lies at least this many steps away from what the question is about; the
        scenario's generator says what a step is.
    min_margin, max_margin
        Bounds of what the runner-up gives away, as a share of what the answer gains over doing
        nothing (`Outcomes.relative_regret`). A small margin takes an exact calculation.
    rivals
        At least as many candidates, the answer among them, are better than doing nothing.
    distractors
        Things that are added to every world and are connected with nothing that matters.

    Raises
    ------
    UsageError
        A bound is out of range.
    """

    hops: int = 1
    min_margin: float = 0.0
    max_margin: float = math.inf
    rivals: int = 2
    distractors: int = 0

    def __post_init__(self) -> None:
        require(1 <= self.hops <= 20, f"hops must be from 1 to 20, not {self.hops}.")
        require(
            0.0 <= self.min_margin < self.max_margin,
            f"Margins must satisfy 0 <= min_margin < max_margin, not {self.min_margin} and "
            f"{self.max_margin}.",
        )
        require(self.rivals >= 1, f"rivals must be at least 1, not {self.rivals}.")
        require(
            self.distractors >= 0, f"distractors must not be negative, but is {self.distractors}."
        )


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
class CountsSteps(Protocol):
    """What a generator is, too, whose scenario knows how far a candidate is from the question."""

    @property
    def steps(self) -> Callable[[Situation, Question], NDArray[np.float64]]:
        """Counts the steps from each candidate to what a question is about.

        Gives shape (n,), in the order of the candidates; infinite where no way leads there.
        """
        ...


@runtime_checkable
class Generator(Protocol):
    """Draws worlds of a scenario and asks about them."""

    @property
    def size(self) -> Size | None:
        """The usual size of its worlds; None where all are of one size."""
        ...

    @property
    def takes_difficulty(self) -> bool:
        """Whether its questions can be made harder."""
        ...

    @property
    def release(self) -> tuple[int, int] | None:
        """Questions and databases of the release that it can imitate; None where there is none."""
        ...

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
