"""The contract of generators, which draw worlds and questions from a seed.

``[generator]`` of a ``scenario.toml`` names the generator. Most scenarios use
`dqa.loaders.generator.simulated`, and define only the functions that it needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.scenarios.base import Scenario


def require(holds: bool, problem: str) -> None:
    """If a condition is false, raise `UsageError` with the message `problem`."""
    if not holds:
        raise UsageError(problem)


@dataclass(frozen=True, slots=True)
class Mix:
    """The shares of questions whose answer is near to the target or far from it.

    The scenario's generator counts the steps between target and answer. If all answers were far, a
    decider could exclude the nearest candidates without any calculation.

    Attributes
    ----------
    direct
        The share of answers at a distance of 1 step.
    far
        The share of answers at a distance of at least 2 steps, or at least `Difficulty.hops` steps
        if this number is larger.

    Raises
    ------
    UsageError
        A share is negative, or the shares do not sum to 1.
    """

    direct: float = 0.0
    far: float = 0.0

    def __post_init__(self) -> None:
        require(
            self.direct >= 0.0 and self.far >= 0.0 and abs(self.direct + self.far - 1.0) < 1e-9,
            "The proportions of a mix (direct, far) must not be negative and must sum to 1, but "
            f"are {self.direct:g} and {self.far:g}.",
        )

    def is_far(self, number: int) -> bool:
        """Return whether question `number`, counted from 1, must have a far answer.

        The number of far answers among the first n questions is n times `far`, rounded.
        """
        return math.floor(self.far * number + 0.5) > math.floor(self.far * (number - 1) + 0.5)


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Limits that make the questions of any scenario harder.

    Attributes
    ----------
    hops
        Minimum distance of the answer from the question's target, in steps (see `Mix`).
    min_margin
        Minimum loss of the second-best candidate, as a share of the best candidate's gain.
    max_margin
        Maximum loss of the second-best candidate, as a share of the best candidate's gain.
    rivals
        Minimum number of candidates, including the best one, that are better than doing nothing.
    distractors
        Number of additional irrelevant items in each database.
    mix
        The shares of near and far answers; None for no fixed shares. With fixed shares, `hops`
        applies only to far answers.

    Raises
    ------
    UsageError
        A limit is out of range.
    """

    hops: int = 1
    min_margin: float = 0.0
    max_margin: float = math.inf
    rivals: int = 2
    distractors: int = 0
    mix: Mix | None = None

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

    @property
    def described(self) -> str:
        """A text that lists the limits that differ from the default."""
        usual = Difficulty()
        shown = {f.name: getattr(self, f.name) for f in fields(self)}
        return ", ".join(f"{k}={v}" for k, v in shown.items() if v != getattr(usual, k)) or "none"

    @property
    def reach(self) -> int:
        """The minimum distance of far answers in steps.

        Without a mix, this minimum applies to all answers.
        """
        return max(2, self.hops) if self.mix is not None and self.mix.far else self.hops


class Size(Protocol):
    """The size of a world: a frozen data class of whole numbers, which the generator defines.

    The constructor raises `UsageError` for impossible numbers.
    """

    scenario: ClassVar[str]
    """The scenario of worlds with this size."""

    def scaled(self, factor: float) -> Self:
        """Return a size in which all numbers that may vary are multiplied by `factor`."""
        ...


class Resistance(Protocol):
    """Selects the questions that all deciders of a group answer wrongly."""

    def keeps(self, situation: Situation, questions: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Return, for each question about a situation, whether to keep it.

        A question is kept if all deciders answer it wrongly. A missing answer does not count as
        wrong.
        """
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A request for questions of one scenario.

    Attributes
    ----------
    count
        The number of questions.
    seed
        The seed, not negative.
    size
        The size of every world; None for sizes that vary around the usual size.
    difficulty
        Limits that make questions harder.
    per_database
        The maximum number of questions about one world; None for the usual number.
    resistance
        Selects questions that all deciders of a group answer wrongly; None selects all questions.
    databases_before, questions_before
        In a set of several parts, the numbers of databases and of questions in earlier parts; 0 for
        the first part.
    """

    count: int
    seed: int
    size: Size | None = None
    difficulty: Difficulty = field(default_factory=Difficulty)
    per_database: int | None = None
    resistance: Resistance | None = None
    databases_before: int = 0
    questions_before: int = 0


@dataclass(frozen=True, slots=True)
class Draw:
    """The data with which a world and its questions can be drawn again without a search.

    Attributes
    ----------
    seed, database, attempt
        The numbers from which the world's stream of random numbers is derived.
    first
        The number of the world's first question.
    size
        The numbers of the world's size, by name.
    difficulty
        The limits under which the questions were drawn.
    targets, answers
        The target and the answer of each question, in order.
    """

    seed: int
    database: int
    attempt: int
    first: int
    size: Mapping[str, int]
    difficulty: Difficulty
    targets: tuple[Mapping[str, str], ...]
    answers: tuple[Candidate, ...]


class Drawn(NamedTuple):
    """A world and the questions about it. The questions have no ids yet.

    `draw` contains the data to draw the world and the questions again; None if the generator does
    not support this.
    """

    situation: Situation
    questions: list[LabelledQuestion]
    draw: Draw | None = None


@runtime_checkable
class Generator(Protocol):
    """Draws worlds of a scenario, and questions about them."""

    @property
    def size(self) -> Size | None:
        """The usual size of the worlds; None if all worlds have the same size."""
        ...

    @property
    def takes_difficulty(self) -> bool:
        """Whether the generator supports a difficulty."""
        ...

    def questions(self, scenario: Scenario, request: Request) -> Iterator[Drawn]:
        """Yield worlds with their questions. In all, there are ``request.count`` questions.

        The same request returns the same questions on every machine. A request with a larger count
        begins with the same questions.

        Raises
        ------
        UsageError
            No question of the wanted difficulty is found.
        """
        ...

    def label_rules(self, situation: Situation) -> tuple[str, ...]:
        """Return the rule sets under which the answers about a world are right; may be empty."""
        ...
