"""Paired tests and intervals for two contestants on the same questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from math import ceil, copysign, inf, sqrt
from typing import Final, TypeAlias, TypeVar

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Result
from dqa.evaluation.statistics.clusters import (
    Estimate,
    effective_number,
    score_interval,
    t_quantile,
)

_POWER: Final = 0.8
_One = TypeVar("_One")


def choose_pairs(
    contestants: Iterable[_One], kind: Callable[[_One], str]
) -> list[tuple[_One, _One]]:
    """Return the pairs of contestants of the same kind. If there are none, return all pairs."""
    pairs = list(combinations(contestants, 2))
    return [(one, other) for one, other in pairs if kind(one) == kind(other)] or pairs


class SignTest(Record):
    """The numbers of questions on which each of two contestants was right more often.

    Attributes
    ----------
    better, worse, equal
        The numbers of questions on which the first contestant was right more often than the second
        (`better`), less often (`worse`) and equally often (`equal`).
    p_value
        Two-sided exact p-value. With one answer per question, this is McNemar's exact test.
    """

    better: int = Field(ge=0)
    worse: int = Field(ge=0)
    equal: int = Field(ge=0)
    p_value: float = Field(ge=0, le=1)


def sign_test(differences: Sequence[float]) -> SignTest:
    """Test whether two contestants are right equally often.

    Parameters
    ----------
    differences
        For each question, the accuracy of the first contestant minus the accuracy of the second, in
        -1..1. Only the sign of a difference counts. A question counts once, even if it was answered
        several times.
    """
    from scipy.special import bdtr  # without scipy.stats, which takes two seconds to import

    better = sum(difference > 0.0 for difference in differences)
    worse = sum(difference < 0.0 for difference in differences)
    equal = len(differences) - better - worse
    differing = better + worse
    p_value = 2.0 * float(bdtr(min(better, worse), differing, 0.5))
    return SignTest(better=better, worse=worse, equal=equal, p_value=min(1.0, p_value))


class Difference(Record):
    """The first contestant's mean minus the second contestant's mean, on the same questions.

    Attributes
    ----------
    value
        The mean of the first contestant minus the mean of the second, over the pairs.
    low, high
        The 95 % interval, clustered by situation. None if there is a single situation, or if the
        measure is unbounded and all pairs have the same difference.
    p_value
        Two-sided p-value of the hypothesis of no difference, by Student's t with clustered errors.
        It is 1 if there are several situations and all differences are 0. Without an interval, it
        can be None.
    pairs, clusters
        Number of pairs of question and database that both contestants answered, and number of
        situations of these questions. If situations are unknown, `clusters` is the number of
        questions.
    degrees_of_freedom
        Degrees of freedom. Below 4, the interval and the test are rough, because there are few
        situations.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float | None = Field(ge=0, le=1)
    pairs: int = Field(ge=1)
    clusters: int = Field(ge=1)
    standard_error: float | None = Field(ge=0)
    degrees_of_freedom: float | None = Field(gt=0)


def paired_difference(
    differences: Sequence[float],
    clusters: Sequence[Hashable],
    bounds: tuple[float, float] | None = None,
) -> Difference | None:
    """Return the mean of paired differences with its interval and test; None if there are no pairs.

    `Estimate.of` calculates the standard error (Miller, 2024, "Adding Error Bars to Evals", section
    4.2). If all differences are equal, the error is 0. For shares, the interval is then
    calculated as for n independent questions, where n is the effective number of clusters.

    Parameters
    ----------
    differences
        For each pair, the value of the first contestant minus the value of the second.
    clusters
        The situation of each pair.
    bounds
        The least and the largest possible mean; (-1, 1) for shares.
    """
    mean = Estimate.of(differences, clusters, *(bounds or (-inf, inf)))
    if mean is None:
        return None
    low, high, p_value = mean.low, mean.high, None
    if mean.standard_error and mean.degrees_of_freedom:
        from scipy.special import stdtr

        t = -abs(mean.value) / mean.standard_error
        p_value = min(1.0, 2.0 * float(stdtr(mean.degrees_of_freedom, t)))
    elif mean.standard_error == 0.0:
        p_value = None if mean.value else 1.0
        if bounds is not None:
            count = effective_number(Counter(clusters).values())
            low, high, p_value = _interval_of_equals(mean.value, count)
    return Difference(
        value=mean.value,
        low=low,
        high=high,
        p_value=p_value,
        pairs=mean.observations,
        clusters=mean.clusters,
        standard_error=mean.standard_error,
        degrees_of_freedom=mean.degrees_of_freedom,
    )


def count_needed(difference: Difference, size: float) -> int | None:
    """Return the number of clusters needed to detect a difference with a power of 80 %.

    The test is a two-sided paired t test at the 5 % level; its power follows from the noncentral t
    distribution. The result is None if all differences are equal.
    """
    if not difference.standard_error:
        return None
    from scipy.special import nctdtr

    effect = size / difference.standard_error / sqrt(difference.clusters)
    count = max(
        2, ceil((1.96 + 0.84) ** 2 / effect**2)
    )  # a first guess from the normal distribution
    while nctdtr(count - 1, effect * sqrt(count), t_quantile(count - 1)) > 1 - _POWER:
        count += 1
    return count


def _interval_of_equals(value: float, count: float) -> tuple[float, float, float]:
    """Return the interval and the p-value for pairs that all have the same difference."""
    if value == 0.0:
        # Newcombe's interval (1998, method 10). It is widest if both accuracies are one half.
        margin = (score_interval(0.5, count)[1] - 0.5) * sqrt(2.0 * min(1.0, 2.0 / count))
        return -margin, margin, 1.0
    low, high = score_interval(abs(value), count)
    ends = sorted((copysign(low, value), copysign(high, value)))
    return ends[0], ends[1], 0.5 ** max(0.0, count - 1.0)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the p-values with Holm's correction (1979), in the same order. None stays None."""
    known = sorted(
        (p_value, index) for index, p_value in enumerate(p_values) if p_value is not None
    )
    corrected: dict[int, float] = {}
    largest = 0.0
    for rank, (p_value, index) in enumerate(known):
        largest = max(largest, min(1.0, p_value * (len(known) - rank)))
        corrected[index] = largest
    return tuple(map(corrected.get, range(len(p_values))))


Content: TypeAlias = tuple[str | None, str | None]
"""The content of a question: the digests of its text, rules and candidates, and its situation."""


def match_questions(
    runs: Sequence[Sequence[Result]], labels: Sequence[str | None]
) -> tuple[list[dict[str, str]], list[str]]:
    """Give questions with the same content the same name in all runs.

    A question gets the name that it has in the first run that contains it.

    Parameters
    ----------
    runs
        The results of each run.
    labels
        The names of the runs.

    Returns
    -------
    list of dict
        For each run, the new name of each question by its old name.
    list of str
        A line for each question whose name belongs to a different question in an earlier run.
    """
    known: dict[Content, list[str]] = {}
    contents: dict[str, Content] = {}
    renamed, differing = [], []
    for results, label in zip(runs, labels, strict=True):
        own: dict[Content, list[str]] = {}
        for result in {result.question: result for result in results}.values():
            if result.content is not None:
                own.setdefault((result.content, result.situation), []).append(result.question)
        names: dict[str, str] = {}
        for content, keys in own.items():
            before = known.setdefault(content, [])
            names |= zip(keys, before, strict=False)
            for name in keys[len(before) :]:
                names[name] = name
                if name in contents:
                    differing.append(
                        f"{name} has {_difference(contents[name], content)} in {label}"
                    )
                    names[name] = f"{name} ({label})"
                before.append(names[name])
                contents[names[name]] = content
        renamed.append(names)
    return renamed, differing


def renamed(result: Result, names: Mapping[str, str]) -> Result:
    """Return a result in which the question has its new name from `match_questions`."""
    name = names.get(result.question, result.question)
    if name == result.question:
        return result
    return result.model_copy(update={"question": name, "scenario": name.partition("/")[0]})


def _difference(one: Content, other: Content) -> str:
    parts = [*zip((one[0] or "").split("."), (other[0] or "").split("."), strict=False)]
    named = zip(("text", "rules", "candidates", "data"), [*parts, (one[1], other[1])], strict=False)
    return " and ".join(f"other {part}" for part, (mine, its) in named if mine != its)
