"""The contract of simulators: a situation and a question to the outcome of every candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.core.situation import Situation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Goal: TypeAlias = Literal["maximise", "minimise"]
"""Whether more or less of an outcome is better."""

ROUNDING = 1e-12
"""Values with a smaller relative difference count as equal: it is about a thousand times the
rounding of one operation."""


@dataclass(frozen=True)
class Outcomes:
    """The outcome of every candidate of a question.

    Values within `ROUNDING` of one another count as equal, as the order of a summation decides
    which of them is larger.

    Attributes
    ----------
    candidates
        The n candidates, in table order.
    values
        Shape (n,): the profit or price of each, in the scenario's own unit.
    goal
        Whether more or less is better.
    baseline
        The value without a decision; None where it is unknown.
    """

    candidates: tuple[Candidate, ...]
    values: NDArray[np.float64]
    goal: Goal
    baseline: float | None = None

    def __post_init__(self) -> None:
        if len(self.candidates) != len(self.values) or not len(self.values):
            raise DataError(
                f"{len(self.candidates)} candidates and {len(self.values)} values: a question "
                "needs at least one candidate, and every candidate exactly one value."
            )

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        """The regret of each candidate, shape (n,); 0 within rounding."""
        away = abs(self.values - self.best)
        away[away <= ROUNDING * abs(self.best)] = 0.0
        return away

    @cached_property
    def ties(self) -> tuple[Candidate, ...]:
        """Every candidate as good as the best up to rounding, in table order."""
        return tuple(self.candidates[i] for i in (self._losses == 0.0).nonzero()[0])

    @cached_property
    def best(self) -> float:
        """The value of the answer."""
        return float(self.values.max() if self.goal == "maximise" else self.values.min())

    @cached_property
    def answer(self) -> Candidate:
        """The best candidate to the last bit; of equal ones the first in table order.

        Published labels follow it; every one of `ties` is as good.
        """
        return self.candidates[int((self.values == self.best).argmax())]

    @cached_property
    def decided_by_last_bit(self) -> bool:
        """Whether ties differ by rounding, so that the order of summation decides the answer."""
        tied = self.values[self._losses == 0.0]
        return bool((tied != self.best).any())

    @cached_property
    def margin(self) -> float:
        """How much better the best is than the best one not tied with it; 0 where all tie."""
        behind = self._losses[self._losses > 0.0]
        return float(behind.min()) if behind.size else 0.0

    def best_first(self, chosen: Sequence[Candidate] | None = None) -> list[Candidate]:
        """Return candidates, the best first: `answer`, then its ties and the rest in table order.

        Parameters
        ----------
        chosen
            Some of the candidates, in table order; None for all.
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
        """Return the difference between the best outcome and that of a candidate; 0 for ties."""
        return float(self._losses[self._index(candidate)])

    def relative_regret(self, candidate: Candidate) -> float | None:
        """Return the regret as a share of the best decision's gain over the baseline.

        0 for a best decision, 1 for one as good as the baseline, above 1 for a worse one. Where
        even the best gains nothing, infinity for the others. None without a baseline.
        """
        if self.baseline is None:
            return None
        regret = self.regret(candidate)
        if regret == 0.0:
            return 0.0
        gain = abs(self.best - self.baseline)
        return regret / gain if gain > ROUNDING * abs(self.best) else float("inf")

    def rank(self, candidate: Candidate) -> int:
        """Return 1 for the best; candidates that are equal up to rounding share the better rank."""
        rounding = ROUNDING * abs(self.value(candidate))
        return 1 + int((self._losses < self.regret(candidate) - rounding).sum())

    def __contains__(self, candidate: object) -> bool:
        return candidate in self._positions

    def _index(self, candidate: Candidate) -> int:
        try:
            return self._positions[candidate]
        except KeyError:
            raise DataError(f"'{candidate}' is not a candidate of this question.") from None

    @cached_property
    def _positions(self) -> dict[Candidate, int]:
        return {candidate: i for i, candidate in enumerate(self.candidates)}


class StatedRule(NamedTuple):
    """A rule of a simulator that the scenario's rules text must state.

    Attributes
    ----------
    heading
        The beginning of its numbered paragraph, e.g. ``Demand`` for ``4. Demand. ...``.
    figures
        The constants and words that the paragraph must contain.
    """

    heading: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class CountingRules:
    """The counting rules of a simulator, as data for checks and for people.

    Attributes
    ----------
    stated
        The rules that the scenario's rules text must state.
    text
        The rule set that follows exactly that text.
    described
        A sentence about each rule set.
    grounds
        For each rule set, the grounds of its outcomes that another may lack, in a few words, e.g.
        ``double counting``. Rule sets with the same ground use the same words.
    """

    stated: tuple[StatedRule, ...]
    text: str
    described: Mapping[str, str]
    grounds: Mapping[str, tuple[str, ...]]


@runtime_checkable
class Simulator(Protocol):
    """Ground truth of a scenario under named rule sets; ``scenario.toml`` names it.

    A simulator may also have an attribute ``counting``, its `CountingRules`. Then a rules text that
    lacks a stated rule is refused, and an audit reports the grounds of its labels.

    Attributes
    ----------
    scenario
        The name of the scenario.
    rule_sets
        Names of its rule sets, at least one. None in place of a rule set means the first.
    """

    scenario: str
    rule_sets: tuple[str, ...]

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the outcome of every candidate, for each question on one situation."""
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


def counting_of(simulator: Simulator) -> CountingRules | None:
    """Return the counting rules that a simulator declares; None where it declares none."""
    found = getattr(simulator, "counting", None)
    return found if isinstance(found, CountingRules) else None
