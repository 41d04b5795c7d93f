"""Two contestants on the same questions: tests and intervals that use the pairing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import ceil, copysign, inf, sqrt
from typing import Final, TypeAlias

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
_NORMAL_975: Final = 1.96
_NORMAL_80: Final = 0.84


class SignTest(Record):
    """On how many questions each of two contestants was right more often.

    Attributes
    ----------
    better, worse, equal
        The questions on which the first was right more often than the second, less often, and
        equally often.
    p_value
        Two-sided and exact: for one answer per question this is McNemar's exact test.
    """

    better: int = Field(ge=0)
    worse: int = Field(ge=0)
    equal: int = Field(ge=0)
    p_value: float = Field(ge=0, le=1)


def sign_test(differences: Sequence[float]) -> SignTest:
    """Test by question whether two contestants are right equally often.

    Parameters
    ----------
    differences
        By question, how much more often the first was right, in -1..1. Over several databases or
        epochs a question counts once, by the sign of its difference.
    """
    from scipy.special import bdtr  # without scipy.stats, which takes two seconds to import

    better = sum(difference > 0.0 for difference in differences)
    worse = sum(difference < 0.0 for difference in differences)
    equal = len(differences) - better - worse
    differing = better + worse
    p_value = 2.0 * float(bdtr(min(better, worse), differing, 0.5))
    return SignTest(better=better, worse=worse, equal=equal, p_value=min(1.0, p_value))


class Difference(Record):
    """How much the first of two contestants is above the second, on the same questions.

    Attributes
    ----------
    value
        The mean of the first minus the mean of the second, over the pairs.
    low, high
        Its 95 % interval, clustered by situation; None for a single situation, and if all pairs
        differ equally in a measure without bounds.
    p_value
        Of no difference, two-sided, by Student's t with clustered errors; None as the interval is,
        but 1 if no pair differs at all.
    pairs, clusters
        The questions on a database that both answered, and their situations (questions if
        situations are unknown).
    degrees_of_freedom
        Below 4 the interval and the test rest on few situations and are rough.
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
    """Return the mean of paired differences with its interval and test, or None without pairs.

    Errors are those of `Estimate.of` (Miller, 2024, "Adding Error Bars to Evals", section 4.2). If
    nothing varies, shares get an interval for as many independent questions as there are effective
    clusters.

    Parameters
    ----------
    differences
        By pair, the first minus the second.
    clusters
        The situation of each pair.
    bounds
        The limits of such a mean; (-1, 1) for shares.
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
            low, high, p_value = _of_equals(mean.value, count)
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
    """Return how many clusters show a difference of a size with a power of 80 %.

    By the noncentral t of a two-sided paired test at the 5 % level; None if nothing varies.
    """
    if not difference.standard_error:
        return None
    from scipy.special import nctdtr

    effect = size / difference.standard_error / sqrt(difference.clusters)
    count = max(2, ceil((_NORMAL_975 + _NORMAL_80) ** 2 / effect**2))
    while nctdtr(count - 1, effect * sqrt(count), t_quantile(count - 1)) > 1 - _POWER:
        count += 1
    return count


def _of_equals(value: float, count: float) -> tuple[float, float, float]:
    """Return interval and p-value if every pair differs equally."""
    if value == 0.0:
        # Newcombe's interval (1998, method 10), which is widest if both are right on a half.
        margin = (score_interval(0.5, count)[1] - 0.5) * sqrt(2.0 * min(1.0, 2.0 / count))
        return -margin, margin, 1.0
    low, high = score_interval(abs(value), count)
    ends = sorted((copysign(low, value), copysign(high, value)))
    return ends[0], ends[1], 0.5 ** max(0.0, count - 1.0)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values corrected for the number of known ones (Holm, 1979), in the same order."""
    known = sorted(
        (p_value, place) for place, p_value in enumerate(p_values) if p_value is not None
    )
    corrected: dict[int, float] = {}
    largest = 0.0
    for rank, (p_value, place) in enumerate(known):
        largest = max(largest, min(1.0, p_value * (len(known) - rank)))
        corrected[place] = largest
    return tuple(map(corrected.get, range(len(p_values))))


Content: TypeAlias = tuple[str | None, str | None]
"""The content of a question: digests of text, rules and candidates, and its data."""


def match_questions(
    runs: Sequence[Sequence[Result]],
    labels: Sequence[str | None],
    unknown: Sequence[str | None] = (),
) -> tuple[list[dict[str, str]], list[str]]:
    """Return each run's new names of questions, and how questions of one name differ.

    A question has the name that the first run with its content gives it.

    Parameters
    ----------
    runs
        The results of each run.
    labels
        The names of the runs.
    unknown
        By run, the content of its questions if results of older versions have none; without it
        the names of these stay.
    """
    known: dict[Content, list[str]] = {}
    contents: dict[str, Content] = {}
    renamed, differing = [], []
    for place, (results, label) in enumerate(zip(runs, labels, strict=True)):
        own: dict[Content, list[str]] = {}
        for result in {result.question: result for result in results}.values():
            if result.content is not None:
                own.setdefault((result.content, result.situation), []).append(result.question)
            elif unknown:
                own.setdefault((unknown[place], result.question), []).append(result.question)
        names: dict[str, str] = {}
        for content, asked in own.items():
            before = known.setdefault(content, [])
            names |= zip(asked, before, strict=False)
            for name in asked[len(before) :]:
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
    """Return a result with the name that its question has in all runs."""
    name = names.get(result.question, result.question)
    if name == result.question:
        return result
    return result.model_copy(update={"question": name, "scenario": name.partition("/")[0]})


def _difference(one: Content, other: Content) -> str:
    parts = [*zip((one[0] or "").split("."), (other[0] or "").split("."), strict=False)]
    named = zip(("text", "rules", "candidates", "data"), [*parts, (one[1], other[1])], strict=False)
    return " and ".join(f"other {part}" for part, (mine, its) in named if mine != its)
