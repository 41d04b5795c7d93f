"""Means whose observations are no independent draws: their errors by clusters.

Many questions stand on one situation (the content of one database), and every question is asked
again in every epoch. What such answers share makes them alike, and an interval that takes them for
independent is too narrow. Epochs and databases are nested in questions, and questions in
situations, so errors are clustered by situation, which allows for whatever is alike within one
(Cameron & Miller, 2015, "A Practitioner's Guide to Cluster-Robust Inference", section IV.D; Miller,
2024, "Adding Error Bars to Evals", section 2.2). Where situations are not known, questions are the
clusters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import frexp, fsum, inf, ldexp, sqrt
from typing import TYPE_CHECKING, Self

from pydantic import Field

from dqa.core.records import Record

if TYPE_CHECKING:
    from dqa.evaluation.results import Result

NORMAL_975 = 1.959963984540054
"""The quantile of the normal distribution that leaves 2.5 % above it."""

_SAFE_EXPONENT = 400
"""Of the power of two below which sums of very many observations' squares stay numbers."""
NO_VARIANCE = 1e-24
"""A variance below this share of the largest observation's square is rounding."""


def clusters_of(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the cluster of every result: the situation that its question stands on.

    Where the situation of any is not known, as in older runs, all are clustered by question.
    """
    found = tuple(results)
    if any(result.situation is None for result in found):
        return tuple(result.question for result in found)
    # Each scenario names its situations by itself.
    return tuple(f"{result.scenario}/{result.situation}" for result in found)


def situations_of(results: Iterable[Result]) -> int | None:
    """Return how many situations results stand on; None where that is not known of all."""
    found = tuple(results)
    if not found or any(result.situation is None for result in found):
        return None
    return len(set(clusters_of(found)))


@dataclass(frozen=True, slots=True)
class ClusteredMean:
    """A mean with the error that clusters give it.

    Attributes
    ----------
    value
        The mean of all observations, each of which counts the same.
    variance
        Of the mean, by the "CR2" estimator; None of a single cluster, or beyond 1e308.
    degrees_of_freedom
        Of that estimate (Bell & McCaffrey), for Student's t; None of a single cluster.
    observations, clusters
        How many there are.
    effective_clusters
        As many clusters of one size would weigh as these do: ``N**2 / sum(n_g**2)`` (Kish, 1965).
    """

    value: float
    variance: float | None
    degrees_of_freedom: float | None
    observations: int
    clusters: int
    effective_clusters: float

    @property
    def standard_error(self) -> float | None:
        """The square root of the variance."""
        return None if self.variance is None else sqrt(self.variance)

    @property
    def reach(self) -> float | None:
        """Half the width of the 95 % interval; None of a single cluster, and where nothing varies.

        Observations that are all the same tell nothing of how far others may be from them.
        """
        if not self.variance or self.degrees_of_freedom is None:
            return None
        return t_quantile(self.degrees_of_freedom) * sqrt(self.variance)


def clustered_mean(values: Sequence[float], clusters: Sequence[Hashable]) -> ClusteredMean | None:
    """Return the mean of `values` with its cluster-robust error, or None of no value.

    The variance is the bias-reduced sandwich "CR2" with the degrees of freedom of Satterthwaite's
    approximation (Bell & McCaffrey, 2002; Pustejovsky & Tipton, 2018, "Small-Sample Methods for
    Cluster-Robust Variance Estimation", section 2), which hold up where clusters are few or differ
    much in size. For a mean, a cluster of ``n_g`` of ``N`` observations has the leverage
    ``n_g / N``, and both are sums over clusters. With clusters of one size they are the usual
    (Liang & Zeger, 1986) with G/(G - 1) and G - 1 degrees of freedom.

    Parameters
    ----------
    values
        The observations, in any unit.
    clusters
        What each belongs to.
    """
    if not values:
        return None
    count = len(values)
    largest = max(map(abs, values))
    # A power of two changes no digit.
    shift = max(0, frexp(largest)[1] - _SAFE_EXPONENT)
    if shift:
        values, largest = [ldexp(value, -shift) for value in values], ldexp(largest, -shift)
    mean = fsum(values) / count
    members: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value - mean)
    sizes = [len(residuals) for residuals in members.values()]
    effective = count**2 / sum(size**2 for size in sizes)
    if len(members) == 1:
        return ClusteredMean(ldexp(mean, shift), None, None, count, 1, effective)
    variance = fsum(
        fsum(residuals) ** 2 / (1.0 - len(residuals) / count) for residuals in members.values()
    )
    if variance <= NO_VARIANCE * (count * largest) ** 2:
        variance = 0.0
    freedom = _degrees_of_freedom(sizes)
    of_mean = _shifted(variance / count**2, 2 * shift)
    return ClusteredMean(ldexp(mean, shift), of_mean, freedom, count, len(members), effective)


def _shifted(variance: float, exponent: int) -> float | None:
    """Return a variance times a power of two; None where no number is as large."""
    try:
        return ldexp(variance, exponent)
    except OverflowError:
        return None


def _degrees_of_freedom(sizes: Sequence[int]) -> float:
    """Return Satterthwaite's degrees of freedom of CR2 for a mean of clusters of these sizes.

    With ``M[g, h] = cov(e_g, e_h) / sqrt((1 - w_g) (1 - w_h))`` under independence, where ``e_g``
    is a cluster's sum of residuals and ``w_g`` its weight, they are ``trace(M)**2 / trace(M**2)``.
    """
    count = sum(sizes)
    terms = [(size / count) ** 2 / (1.0 - size / count) for size in sizes]
    across = fsum(terms) ** 2 - fsum(term**2 for term in terms)
    found = 1.0 / (fsum((size / count) ** 2 for size in sizes) + across)
    # 5 clusters of one size have 4, and not a rounding less, which would be few.
    return round(found, 10)


@lru_cache(maxsize=4096)
def t_quantile(degrees_of_freedom: float) -> float:
    """Return the quantile of Student's t that leaves 2.5 % above it."""
    if degrees_of_freedom == inf:
        return NORMAL_975
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, 0.975))


def t_test(value: float, standard_error: float, degrees_of_freedom: float) -> float:
    """Return the two-sided p-value of `value` against 0 by Student's t."""
    if standard_error == 0.0:
        return 1.0 if value == 0.0 else 0.0
    from scipy.special import stdtr

    return min(1.0, 2.0 * float(stdtr(degrees_of_freedom, -abs(value) / standard_error)))


class Estimate(Record):
    """A figure with its 95 % interval, clustered by the situations that questions stand on.

    Attributes
    ----------
    value
        The figure, in the unit of what was measured.
    low, high
        Its interval; None where a single situation leaves nothing to tell it from, and where what
        was measured is the same everywhere.
    observations, clusters
        What it was taken from: decisions (or questions, or pairs of decisions), and the situations
        that these stand on; questions where situations are not known.
    degrees_of_freedom
        Of the interval's Student's t. Below 4 it rests on few situations, and is rough.
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
        """Return the mean of values with its interval, or None of no value.

        Parameters
        ----------
        values, clusters
            As `clustered_mean` takes them.
        least, most
            What no such mean can go beyond: ends of the interval are cut there.
        """
        mean = clustered_mean(values, clusters)
        return None if mean is None else cls.around(mean, least, most)

    @classmethod
    def around(cls, mean: ClusteredMean, least: float = -inf, most: float = inf) -> Self:
        """Return a mean with the interval of its error by Student's t."""
        reach = mean.reach
        return cls(
            value=mean.value,
            low=None if reach is None else max(least, mean.value - reach),
            high=None if reach is None else min(most, mean.value + reach),
            standard_error=mean.standard_error,
            degrees_of_freedom=mean.degrees_of_freedom,
            observations=mean.observations,
            clusters=mean.clusters,
        )


def clustered_ratio(
    amounts: Sequence[float], counts: Sequence[float], clusters: Sequence[Hashable]
) -> Estimate | None:
    """Return how much there is of one thing for one of another, as tokens for a right answer.

    It is the ratio of the sums, with the error of its Taylor linearisation by clusters, G/(G - 1)
    and G - 1 degrees of freedom (Cochran, 1977, "Sampling Techniques", chapter 6; R's
    ``survey::svyratio``).

    Parameters
    ----------
    amounts, counts
        By observation; none is negative.
    clusters
        What each observation belongs to.

    Returns
    -------
    None where nothing was counted.
    """
    total = fsum(counts)
    if not total:
        return None
    ratio = fsum(amounts) / total
    sums: dict[Hashable, list[float]] = {}
    for amount, count, cluster in zip(amounts, counts, clusters, strict=True):
        sums.setdefault(cluster, []).append(amount - ratio * count)
    found = len(sums)
    if found == 1:
        return Estimate(value=ratio, observations=len(amounts), clusters=1)
    squares = fsum(fsum(residuals) ** 2 for residuals in sums.values())
    error = sqrt(squares * found / (found - 1)) / total
    reach = t_quantile(found - 1.0) * error
    return Estimate(
        value=ratio,
        low=max(0.0, ratio - reach) if error else None,
        high=ratio + reach if error else None,
        standard_error=error,
        degrees_of_freedom=found - 1.0,
        observations=len(amounts),
        clusters=found,
    )
