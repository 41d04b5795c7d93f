"""The contract of simulators: a situation and a question to the outcome of every candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Situation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Goal: TypeAlias = Literal["maximise", "minimise"]
"""Whether more or less of an outcome is better."""


@dataclass(frozen=True)
class Outcomes:
    """What every candidate of a question leads to.

    Attributes
    ----------
    candidates
        The n candidates, in table order.
    values
        Shape (n,): the profit or price that each leads to, in the scenario's own unit.
    goal
        Whether more or less is better.
    baseline
        The value where nothing is decided; None where nothing tells it.
    decided_by_last_bit
        Whether the best differs from the next by no more than rounding, so that the answer hangs
        on the order of summation.
    """

    candidates: tuple[Candidate, ...]
    values: NDArray[np.float64]
    goal: Goal
    baseline: float | None = None
    decided_by_last_bit: bool = False

    def __post_init__(self) -> None:
        if len(self.candidates) != len(self.values) or not len(self.values):
            raise DataError(
                f"{len(self.candidates)} candidates and {len(self.values)} values: a question "
                "needs at least one candidate, and every candidate exactly one value."
            )

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        losses: NDArray[np.float64] = (
            self.values.max() - self.values
            if self.goal == "maximise"
            else self.values - self.values.min()
        )
        return losses

    @cached_property
    def ties(self) -> tuple[Candidate, ...]:
        """Every candidate with exactly the best value, in table order."""
        return tuple(self.candidates[i] for i in (self._losses == 0.0).nonzero()[0])

    @property
    def best(self) -> float:
        """The value that the answer leads to."""
        return float(self.values.max() if self.goal == "maximise" else self.values.min())

    @property
    def answer(self) -> Candidate:
        """The best candidate; of ties the first in table order."""
        return self.ties[0]

    @cached_property
    def margin(self) -> float:
        """How much better the best is than the best one not tied with it; 0 where all tie."""
        behind = self._losses[self._losses > 0.0]
        return float(behind.min()) if behind.size else 0.0

    def value(self, candidate: Candidate) -> float:
        """Return the value that `candidate` leads to."""
        return float(self.values[self._index(candidate)])

    def regret(self, candidate: Candidate) -> float:
        """How much value `candidate` gives away against the best (>= 0, same unit)."""
        return float(self._losses[self._index(candidate)])

    def relative_regret(self, candidate: Candidate) -> float | None:
        """Regret as a share of what the best decision gains over deciding nothing.

        0 for a best decision, 1 for one as good as doing nothing, above 1 for one that harms.
        Where even the best gains nothing, 0 for a best decision and infinity otherwise. None where
        there is no baseline.
        """
        if self.baseline is None:
            return None
        regret = self.regret(candidate)
        if regret == 0.0:
            return 0.0
        gain = abs(self.best - self.baseline)
        return regret / gain if gain > 0.0 else float("inf")

    def rank(self, candidate: Candidate) -> int:
        """1 for the best; ties share the better rank."""
        return 1 + int((self._losses < self.regret(candidate)).sum())

    def _index(self, candidate: Candidate) -> int:
        try:
            return self._positions[candidate]
        except KeyError:
            raise DataError(f"'{candidate}' is no candidate of this question.") from None

    @cached_property
    def _positions(self) -> dict[Candidate, int]:
        return {candidate: i for i, candidate in enumerate(self.candidates)}


@runtime_checkable
class Simulator(Protocol):
    """Ground truth of a scenario under named rule sets; ``scenario.toml`` says where it is.

    Attributes
    ----------
    scenario
        Whose it is.
    rule_sets
        Its own names of the ways in which it counts, at least one. The first one counts where
        nobody names any: None in place of a rule set always means it.
    """

    scenario: str
    rule_sets: tuple[str, ...]

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the outcome of every candidate, for each of the questions on one situation."""
        ...

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the full state after `decision` (None: after deciding nothing)."""
        ...
