"""The contract of generators: a scenario's worlds and questions about them, from a seed.

A scenario's folder names its generator (``[generator]`` of ``scenario.toml``).
`dqa.loaders.generator.simulated` is one that most can use: it takes what is particular to the
scenario and does the rest. Worlds of another kind plug in their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
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
class Mix:
    """Proportions of a scenario's questions by how far their answers lie.

    Where all answers are far, "never the nearest" is a rule that helps to guess; with some that are
    direct there is none.

    Attributes
    ----------
    direct
        Of answers 1 step away, as the scenario's generator counts steps.
    far
        Of answers 2 or more steps away, or `Difficulty.hops` where that is more.

    Raises
    ------
    UsageError
        A proportion is negative, or they do not sum to 1.
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
        """Whether the answer to a scenario's question of a number (from 1) is to be far.

        Among the first n questions, whatever n, are as many as the largest remainder gives: the
        share of n, rounded to the next whole number.
        """
        return math.floor(self.far * number + 0.5) > math.floor(self.far * (number - 1) + 0.5)


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
    mix
        Proportions by how far the answers lie; `hops` is a bound of the far ones then. None for
        whatever the worlds give.

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
    def reach(self) -> int:
        """Steps that worlds have to allow for: at least 2 where some answers are to be far."""
        return max(2, self.hops) if self.mix is not None and self.mix.far else self.hops


class Size(Protocol):
    """The size of a world: a frozen data class of whole numbers, typed by its generator.

    Its constructor raises `UsageError` for numbers that no world has.
    """

    scenario: ClassVar[str]
    """Whose worlds have such sizes."""

    def scaled(self, factor: float) -> Self:
        """Return the size with what varies from world to world multiplied by `factor`."""
        ...


class Resistance(Protocol):
    """Tells the questions that some deciders get wrong."""

    def keeps(self, situation: Situation, asked: Sequence[LabelledQuestion]) -> Sequence[bool]:
        """Return, for each of the questions about a situation, whether every decider errs on it.

        A decider errs where it answers and the answer is not right; one that gave no answer does
        not.
        """
        ...

    def told(self) -> str:
        """Return how often each decider was right until now, for whoever finds no question left."""
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
    resistance
        Tells which questions to keep; None for all.
    databases_before, questions_before
        What the scenario has already, where a set is drawn in parts: numbers go on from there.
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
    """How a world and its questions came about: draws them once more without a search.

    Attributes
    ----------
    seed, database, attempt
        What the world's random stream is made from.
    first
        Number of its first question.
    size
        Numbers of the world's size, by name.
    difficulty
        What the world was built for.
    targets, answers
        What the questions are about, in order, and what is right.
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
    """A world, and the questions about it; their ids are still to be given.

    `draw` tells how to draw it again; None where its generator does not.
    """

    situation: Situation
    questions: list[LabelledQuestion]
    draw: Draw | None = None


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


@runtime_checkable
class Redrawing(Protocol):
    """A generator that can draw a world again from its `Draw`; named sets need one."""

    def redraw(self, scenario: Scenario, draw: Draw) -> Drawn:
        """Return the world and its questions as they were drawn before."""
        ...
