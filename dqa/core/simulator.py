"""The protocol of simulators, which compute the outcome of every candidate of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""Whether a larger or a smaller outcome is better."""

ROUNDING = 1e-12
"""Values with a smaller relative difference are treated as equal. The number is about a thousand
times the rounding error of one operation."""


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every candidate of a question.

    Values with a relative difference below `ROUNDING` are treated as equal, because the order of a
    summation can cause such a difference.

    Attributes
    ----------
    candidates
        The n candidates, in the order in which their table lists them.
    values
        Shape (n,): the outcome of each candidate, e.g. a profit, in the unit of the scenario.
    goal
        Whether a larger or a smaller value is better.
    baseline
        The value without a decision; None if it is unknown.
    """

    candidates: tuple[Candidate, ...]
    values: NDArray[np.float64]
    goal: Goal
    baseline: float | None = None

    def __post_init__(self) -> None:
        if len(self.candidates) != len(self.values) or not len(self.values):
            raise DataError(
                f"The question has {len(self.candidates)} candidates and {len(self.values)} "
                "values. It needs at least one candidate, and exactly one value for each "
                "candidate."
            )

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        """The regret of each candidate, shape (n,). Differences within `ROUNDING` are 0."""
        away = abs(self.values - self.best)
        away[away <= ROUNDING * abs(self.best)] = 0.0
        return away

    @cached_property
    def ties(self) -> tuple[Candidate, ...]:
        """The candidates that equal the best candidate up to rounding, in table order."""
        return tuple(self.candidates[i] for i in (self._losses == 0.0).nonzero()[0])

    @cached_property
    def best(self) -> float:
        """The best value."""
        return float(self.values.max() if self.goal == "maximise" else self.values.min())

    @cached_property
    def answer(self) -> Candidate:
        """The candidate with the best exact value; of equal candidates the first in table order.

        This is the published label. All candidates in `ties` are equally good.
        """
        return self.candidates[int((self.values == self.best).argmax())]

    @cached_property
    def decided_by_last_bit(self) -> bool:
        """Whether candidates in `ties` have different values because of rounding errors."""
        tied = self.values[self._losses == 0.0]
        return bool((tied != self.best).any())

    @cached_property
    def margin(self) -> float:
        """The regret of the best candidate that is not in `ties`; 0 if there is none."""
        behind = self._losses[self._losses > 0.0]
        return float(behind.min()) if behind.size else 0.0

    def best_first(self, chosen: Sequence[Candidate] | None = None) -> list[Candidate]:
        """Return candidates, the best first. Among equal candidates, `answer` is first.

        Parameters
        ----------
        chosen
            The candidates to sort, in table order; None for all.
        """
        candidates = self.candidates if chosen is None else chosen
        return sorted(candidates, key=lambda c: (self.regret(c), c != self.answer))

    def unmoved(self, chosen: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates whose outcome equals the baseline."""
        if self.baseline is None:
            return []
        reach = ROUNDING * abs(self.values).clip(min=abs(self.baseline))
        still = abs(self.values - self.baseline) <= reach
        return [candidate for candidate in chosen if still[self._index(candidate)]]

    def value(self, candidate: Candidate) -> float:
        """Return the outcome of a candidate."""
        return float(self.values[self._index(candidate)])

    def regret(self, candidate: Candidate) -> float:
        """Return the difference between the best outcome and a candidate's outcome; 0 for ties."""
        return float(self._losses[self._index(candidate)])

    def relative_regret(self, candidate: Candidate) -> float | None:
        """Return the regret divided by the gain of the best decision over the baseline.

        The relative regret is 0 for a best decision, 1 for a decision as good as the baseline, and
        more than 1 for a worse decision. If the best decision gains nothing, the relative regret of
        other decisions is infinite. The result is None without a baseline.
        """
        if self.baseline is None:
            return None
        regret = self.regret(candidate)
        if regret == 0.0:
            return 0.0
        gain = (self.best - self.baseline) * (1.0 if self.goal == "maximise" else -1.0)
        return regret / gain if gain > ROUNDING * abs(self.best) else float("inf")

    def rank(self, candidate: Candidate) -> int:
        """Return the rank, from 1. Candidates that are equal up to rounding share a rank."""
        rounding = ROUNDING * abs(self.value(candidate))
        return 1 + int((self._losses < self.regret(candidate) - rounding).sum())

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._positions

    def _index(self, candidate: Candidate) -> int:
        if candidate not in self._positions:
            raise DataError(f"'{candidate}' is not a candidate of this question.")
        return self._positions[candidate]

    @cached_property
    def _positions(self) -> dict[Candidate, int]:
        return {candidate: i for i, candidate in enumerate(self.candidates)}


@dataclass(frozen=True)
class CountingRules:
    """The differences between the rule sets of a simulator, for the audit of a question's labels.

    Attributes
    ----------
    text
        The name of the rule set that follows the rules of the questions exactly.
    described
        A description of each rule set, by name.
    grounds
        The characteristics of each rule set, e.g. ``double counting``, by the name of the rule set.
        These characteristics explain why two rule sets have different outcomes. If two rule sets
        share a characteristic, both entries use the same words.
    """

    text: str
    described: Mapping[str, str]
    grounds: Mapping[str, tuple[str, ...]]


@runtime_checkable
class Simulator(Protocol):
    """Computes the ground truth of a scenario. ``scenario.toml`` names the simulator.

    The optional attribute ``counting`` contains `CountingRules`. With this attribute, an audit says
    which characteristics of a rule set explain an official answer.

    Attributes
    ----------
    scenario
        The name of the scenario.
    rule_sets
        The names of the scenario's rule sets, at least one. If a caller passes None as the rule
        set, the first one applies.
    """

    scenario: str
    rule_sets: tuple[str, ...]

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the outcomes of all candidates, for each question about a situation."""
        ...

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the situation after a decision, or after no decision if `decision` is None."""
        ...


def counting_of(simulator: Simulator) -> CountingRules | None:
    """Return the `CountingRules` of a simulator; None if the simulator has no `CountingRules`."""
    found = getattr(simulator, "counting", None)
    return found if isinstance(found, CountingRules) else None
