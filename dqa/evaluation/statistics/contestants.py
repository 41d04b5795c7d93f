"""Contestants: deciders with their decisions, which are paired by question and database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isfinite
from operator import attrgetter
from typing import TypeAlias

from dqa.core.decision import Usage
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome, Result

Asked: TypeAlias = tuple[str, str]
"""A question and its database, by which contestants are paired. Epochs are averaged first, because
the third attempt of one has no relation to the third attempt of another."""


def right(result: Result) -> float:
    """Return 1 for a right decision and 0 for any other."""
    return float(result.outcome is Outcome.CORRECT)


def tokens(result: Result) -> float:
    """Return the input and output tokens of a decision."""
    return float(result.input_tokens + result.output_tokens)


MEASURES: Mapping[str, Callable[[Result], float | None]] = {
    "accuracy": right,
    "tokens": tokens,
    "regret": attrgetter("regret"),
    "relative_regret": attrgetter("relative_regret"),
    "rank": attrgetter("rank"),
}
"""The measures of a comparison, by the name of their field."""


@dataclass(frozen=True)
class Contestant:
    """A decider of a run with its decisions.

    Attributes
    ----------
    name
        Its name in the comparison.
    results
        Its decisions, all of one decider.
    run
        The name of the run, if there are several.
    cost
        Returns the cost of usage in money, if prices are known.
    seconds
        The duration of each decision by its key, if traces have been read.
    """

    name: str
    results: tuple[Result, ...]
    run: str | None = None
    cost: Callable[[Usage], float] | None = None
    seconds: Mapping[DecisionKey, float] | None = None

    @property
    def decider(self) -> str:
        """The decider, which may take part in several runs."""
        return self.results[0].decider

    @cached_property
    def asked(self) -> Mapping[Asked, tuple[Result, ...]]:
        """Its decisions by question and database, in order."""
        found: dict[Asked, list[Result]] = {}
        for result in self.results:
            found.setdefault((result.question, result.database), []).append(result)
        return {key: tuple(results) for key, results in found.items()}

    @cached_property
    def means(self) -> Mapping[str, Mapping[Asked, float]]:
        """By measure, its mean over the judged epochs of each question and database."""
        return {
            name: {
                key: fsum(known) / len(known)
                for key, results in self.asked.items()
                if (known := _known(results, measure))
            }
            for name, measure in MEASURES.items()
        }


def _known(results: Iterable[Result], measure: Callable[[Result], float | None]) -> list[float]:
    values = [measure(result) for result in results if result.outcome.judged]
    return [value for value in values if value is not None and isfinite(value)]
