"""Contestants: deciders with what they decided, paired by what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum, isfinite
from typing import TypeAlias

from dqa.core.decision import Usage
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome, Result

Asked: TypeAlias = tuple[str, str]
"""A question and the database that it was asked on: what two contestants are paired by. Epochs are
averaged first, since the third attempt of one has nothing to do with the third of another."""

Measure: TypeAlias = Callable[[Result], float | None]


@dataclass(frozen=True)
class Contestant:
    """A decider of a run, with what it decided.

    Attributes
    ----------
    name
        What tells it from the others.
    results
        Its decisions, all of one decider.
    run
        What the run is called, where there are several.
    cost
        What usage costs in money, where prices are known.
    seconds
        How long each decision took, by its result's key, where traces tell.
    """

    name: str
    results: tuple[Result, ...]
    run: str | None = None
    cost: Callable[[Usage], float] | None = None
    seconds: Mapping[DecisionKey, float] | None = None
    _means: dict[Measure, Mapping[Asked, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def decider(self) -> str:
        """The decider, which others of several runs may be, too."""
        return self.results[0].decider

    @cached_property
    def asked(self) -> Mapping[Asked, tuple[Result, ...]]:
        """Its decisions by question and database, in order."""
        found: dict[Asked, list[Result]] = {}
        for result in self.results:
            found.setdefault((result.question, result.database), []).append(result)
        return {key: tuple(results) for key, results in found.items()}

    def means(self, measure: Measure) -> Mapping[Asked, float]:
        """Return a measure by question and database, as the mean over judged epochs."""
        if measure not in self._means:
            self._means[measure] = {
                key: fsum(known) / len(known)
                for key, results in self.asked.items()
                if (known := _known(results, measure))
            }
        return self._means[measure]


def _known(results: Iterable[Result], measure: Measure) -> list[float]:
    values = [measure(result) for result in results if result.outcome.judged]
    return [value for value in values if value is not None and isfinite(value)]


def right(result: Result) -> float:
    """Return 1 for a right decision and 0 for any other."""
    return float(result.outcome is Outcome.CORRECT)
