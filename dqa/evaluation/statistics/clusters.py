"""Means, ratios and shares with cluster-robust errors.

Many questions are about the same situation (the content of a database), and every question is
repeated in each epoch. Answers about one situation are correlated, so an interval that treats them
as independent is too narrow. The answers to a question in all epochs and on all databases belong to
the situation of the question. Errors are therefore clustered by situation (Cameron & Miller,
2015, "A Practitioner's Guide to Cluster-Robust Inference", section IV.D; Miller, 2024, "Adding
Error Bars to Evals", section 2.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from math import fsum, inf, sqrt
from typing import TYPE_CHECKING, Self, TypeAlias

from pydantic import Field

from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.evaluation.results import Result

Interval: TypeAlias = tuple[float, float]
"""Lower and upper end of an interval, in 0..1."""
NO_VARIANCE = 1e-24
"""A variance below this share of the square of the largest observation is a rounding error."""


def clusters_of(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the cluster of every result: the situation of its question.

    If the situation of any result is unknown, as in older runs, the questions are the clusters.
    """
    found = tuple(results)
    if any(result.situation is None for result in found):
        return tuple(result.question for result in found)
    return tuple(f"{result.scenario}/{result.situation}" for result in found)


def situations_of(results: Iterable[Result]) -> int | None:
    """Return the number of situations of results; None if it is unknown."""
    found = tuple(results)
    if not found or any(result.situation is None for result in found):
        return None
    return len(set(clusters_of(found)))


class Estimate(Record):
    """A figure with its 95 % interval, clustered by the situations of the questions.

    Attributes
    ----------
    value
        The figure, in the unit of the measure.
    low, high
        The interval; None if there is a single situation, or if all observations are equal.
    observations, clusters
        The number of observations (decisions, questions, or pairs of decisions), and the number of
        situations. If situations are unknown, `clusters` is the number of questions.
    degrees_of_freedom
        Degrees of freedom of the interval. Below 4, the interval is rough, because there are few
        situations.
    """

    value: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = Field(default=None, ge=0)
    degrees_of_freedom: float | None = Field(default=None, gt=0)
    observations: int = Field(ge=1)
    clusters: int = Field(ge=1)

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        clusters: Sequence[Hashable],
        least: float = -inf,
        most: float = inf,
    ) -> Self | None:
        """Return the mean of values with its 95 % interval; None if there are no values.

        The variance is the bias-reduced sandwich "CR2" with the degrees of freedom of
        Satterthwaite's approximation (Bell & McCaffrey, 2002; Pustejovsky & Tipton, 2018,
        "Small-Sample Methods for Cluster-Robust Variance Estimation", section 2), which are valid
        for few clusters and for clusters of different sizes. For G clusters of equal size, this is
        the usual estimator (Liang & Zeger, 1986) with the factor G/(G - 1) and G - 1 degrees of
        freedom.

        Parameters
        ----------
        values
            The observations, in any unit.
        clusters
            The cluster of each observation.
        least, most
            The least and the largest possible mean. The interval is cut at these limits.
        """
        if not values:
            return None
        count, mean = len(values), fsum(values) / len(values)
        residuals: dict[Hashable, list[float]] = {}
        for value, cluster in zip(values, clusters, strict=True):
            residuals.setdefault(cluster, []).append(value - mean)
        groups = list(residuals.values())
        if len(groups) == 1:
            return cls(value=mean, observations=count, clusters=1)
        squares = fsum(fsum(group) ** 2 / (1.0 - len(group) / count) for group in groups)
        if squares <= NO_VARIANCE * (count * max(map(abs, values))) ** 2:
            squares = 0.0
        error, freedom = sqrt(squares / count**2), _degrees_of_freedom(list(map(len, groups)))
        return cls.around(mean, error, freedom, (count, len(groups)), (least, most))

    @classmethod
    def around(
        cls,
        value: float,
        error: float,
        freedom: float,
        sizes: tuple[int, int],
        limits: tuple[float, float] = (-inf, inf),
    ) -> Self:
        """Return a figure with its Student's t interval. If the error is 0, there is no interval.

        Parameters
        ----------
        value, error, freedom
            The figure, its standard error, and the degrees of freedom of the standard error.
        sizes
            The number of observations, and the number of clusters.
        limits
            The least and the largest possible figure. The interval is cut at these limits.
        """
        reach = t_quantile(freedom) * error
        return cls(
            value=value,
            low=max(limits[0], value - reach) if error else None,
            high=min(limits[1], value + reach) if error else None,
            standard_error=error,
            degrees_of_freedom=freedom,
            observations=sizes[0],
            clusters=sizes[1],
        )


Case: TypeAlias = tuple[float, float, Hashable]
"""One observation of a ratio of sums: the amount (numerator), the count (denominator), the cluster.
For tokens per right answer, the amount of a decision is its number of tokens. Its count is 1 if the
decision is right, and 0 otherwise.
"""


def mean_of_ratios(
    ratios: Iterable[Sequence[Case]], least: float = -inf, most: float = inf
) -> Estimate | None:
    """Return the mean of several ratios with its 95 % interval.

    The same cluster may occur in several ratios.

    The standard error comes from the Taylor linearisation, whose terms are summed by cluster over
    all ratios. For G clusters, the variance is multiplied by G/(G - 1), and there are G - 1 degrees
    of freedom (Cochran, 1977, "Sampling Techniques", section 6.4; R's ``survey::svyratio`` for one
    ratio). For a single ratio whose counts are 1 and whose clusters have equal sizes, the interval
    is Student's interval of the clusters' means. There is no interval if all clusters are equal, or
    if a ratio has a single cluster.

    Parameters
    ----------
    ratios
        The cases of each ratio. All ratios have the same weight in the mean. A ratio whose counts
        are all 0 is left out.
    least, most
        The least and the largest possible mean. The interval is cut at these limits.

    Returns
    -------
    The mean with its interval; None if all counts are 0.
    """
    counted = [cases for cases in ratios if fsum(count for _, count, _ in cases)]
    if not counted:
        return None
    shares: dict[Hashable, list[float]] = {}
    values, largest, is_known = [], 0.0, True
    for cases in counted:
        total = fsum(count for _, count, _ in cases)
        values.append(fsum(amount for amount, _, _ in cases) / total)
        largest = max(largest, max(abs(amount) for amount, _, _ in cases) * len(cases) / total)
        is_known &= len({cluster for amount, count, cluster in cases if count or amount}) > 1
        for amount, count, cluster in cases:
            share = (amount - values[-1] * count) / (total * len(counted))
            shares.setdefault(cluster, []).append(share)
    mean, observations, clusters = fsum(values) / len(values), sum(map(len, counted)), len(shares)
    if not is_known:
        return Estimate(value=mean, observations=observations, clusters=clusters)
    squares = fsum(fsum(share) ** 2 for share in shares.values())
    if squares <= NO_VARIANCE * largest**2:
        squares = 0.0
    error = sqrt(squares * clusters / (clusters - 1))
    sizes = (observations, clusters)
    return Estimate.around(mean, error, clusters - 1.0, sizes, (least, most))


def effective_number(sizes: Iterable[int]) -> float:
    """Return Kish's effective number of clusters (Kish, 1965) for clusters of these sizes."""
    found = tuple(sizes)
    return sum(found) ** 2 / sum(size**2 for size in found) if found else 0.0


@lru_cache(maxsize=4096)
def t_quantile(degrees_of_freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, 0.975))


def _degrees_of_freedom(sizes: Sequence[int]) -> float:
    """Return Satterthwaite's degrees of freedom of CR2 for a mean of clusters of these sizes.

    The result is ``trace(M)**2 / trace(M**2)`` for independent observations, with
    ``M[g, h] = cov(e_g, e_h) / sqrt((1 - w_g) (1 - w_h))``. In this formula, ``e_g`` is the sum of
    residuals of cluster g, and ``w_g`` is the weight of cluster g.
    """
    count = sum(sizes)
    terms = [(size / count) ** 2 / (1.0 - size / count) for size in sizes]
    across = fsum(terms) ** 2 - fsum(term**2 for term in terms)
    found = 1.0 / (fsum((size / count) ** 2 for size in sizes) + across)
    return round(found, 10)  # 5 clusters of equal size must have exactly 4


def wilson(correct: float, judged: int, size: float | None = None) -> Interval | None:
    """Return the 95 % Wilson score interval of a share; None if no answer was judged.

    Parameters
    ----------
    correct, judged
        The number of right answers, and the number of judged answers.
    size
        The effective number of independent answers; None if all are independent.
    """
    return score_interval(correct / judged, judged if size is None else size) if judged else None


def score_interval(share: float, size: float, level: float = 0.05) -> Interval:
    """Return the Wilson interval of a share of `size` answers. `size` may be fractional."""
    from scipy.special import ndtri

    # Equals `statsmodels.stats.proportion.proportion_confint`, which is slow to import.
    z = -float(ndtri(level / 2.0))
    scale = 1.0 + z * z / size
    centre = (share + z * z / (2.0 * size)) / scale
    half = z * sqrt(share * (1.0 - share) / size + z * z / (4.0 * size * size)) / scale
    low, high = centre - half, centre + half
    # Avoid rounding errors if no answer or every answer is right.
    return (0.0 if share == 0.0 else max(0.0, low), 1.0 if share == 1.0 else min(1.0, high))


def share_of_questions(right: Sequence[float], questions: Sequence[Hashable]) -> Interval | None:
    """Return the 95 % interval of a share. Only answers to different questions are independent.

    The interval is the Wilson interval for the number of different questions. A question that was
    asked in several epochs or on several databases counts once. If some questions have more answers
    than others, the number of questions is Kish's effective number. Without answers, the result is
    None.

    Parameters
    ----------
    right
        1 for a right answer, 0 for any other.
    questions
        The question of each answer.
    """
    return wilson(fsum(right), len(right), effective_number(Counter(questions).values()))


def clustered_share(
    right: Sequence[float], clusters: Sequence[Hashable], answers: float | None = None
) -> Estimate | None:
    """Return the share of right answers with a cluster-robust interval.

    The interval is the Wilson interval for the *effective* number of answers, with Student's t. The
    effective number is the number of independent answers that would have the same variance: ``share
    (1 - share) / variance``. The variance is the cluster-robust variance of `Estimate.of`. In
    surveys such intervals keep their coverage best (Franco, Little, Louis & Slud, 2019,
    "Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys"; Korn &
    Graubard, 1998). All limits are between 0 and 1.

    - The effective number is at most the number of answers.
    - If all answers are right, or all are wrong, the effective number is Kish's effective number of
    clusters.
    - If every answer is its own cluster, the interval is the plain Wilson interval.
    - A single cluster has no interval. Without answers, the result is None.

    Parameters
    ----------
    right
        For each answer, 1 if it is right, else 0; or for each question, the probability that it is
        solved. A probability that is estimated from several answers, such as the epochs of a
        question, varies less than a single answer. The effective number may therefore exceed the
        number of questions.
    clusters
        The cluster of each answer or question.
    answers
        The maximum effective number of answers; by default, the number of answers in `right`.
    """
    mean = Estimate.of(right, clusters)
    if mean is None or mean.standard_error is None or mean.degrees_of_freedom is None:
        return mean
    size, level = len(right) if answers is None else answers, 0.05
    if mean.clusters != mean.observations or mean.observations != size:
        if mean.value in {0.0, 1.0}:
            size = effective_number(Counter(clusters).values())
        else:
            from scipy.special import ndtr

            level = 2.0 * float(ndtr(-t_quantile(mean.degrees_of_freedom)))
            if mean.standard_error > 0.0:
                size = min(size, mean.value * (1.0 - mean.value) / mean.standard_error**2)
    low, high = score_interval(mean.value, size, level)
    return mean.changed(low=low, high=high)


def normalised_utility(value: float | None, best: float) -> float:
    """Return the share of the best outcome that a decision reached (DeLLMa, appendix B).

    The share is at most 1, negative for a loss, and 0 without a choice. If even the best outcome is
    not a gain, the share is 1 for the best choice and 0 for any other choice.

    Parameters
    ----------
    value
        The outcome of the choice; None if there is no choice.
    best
        The outcome of the best choice.
    """
    if value is None:
        return 0.0
    return value / best if best > 0.0 else float(value >= best)
