"""Two contestants on the same questions: tests and intervals that use the pairing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil, copysign, inf, sqrt

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.statistics.clusters import (
    NORMAL_975,
    ClusteredMean,
    clustered_mean,
    t_test,
)
from dqa.evaluation.statistics.shares import score_interval

SMALLEST_DIFFERENCE = 0.05
"""The difference in accuracy that `power_of_pairs` asks about: 5 points."""

_NORMAL_80 = 0.8416212335729143
"""The quantile of the normal distribution that leaves 20 % above it: a power of 80 %."""


class SignTest(Record):
    """On how many questions each of two contestants was right more often.

    Attributes
    ----------
    better, worse, equal
        Questions on which the first was right more often than the second, less often, and as often.
    p_value
        Two-sided and exact: with one answer to a question this is McNemar's exact test.
    """

    better: int = Field(ge=0)
    worse: int = Field(ge=0)
    equal: int = Field(ge=0)
    p_value: float = Field(ge=0, le=1)


def sign_test(differences: Sequence[float]) -> SignTest:
    """Test by question whether two contestants are right equally often.

    Where each answered every question once, `differences` are -1, 0 and 1, and the test is
    McNemar's in its exact form: of the questions that one alone got right, each is as likely to be
    the one's as the other's (McNemar, 1947; Fagerland, Lydersen & Laake, 2013). Over several
    databases or epochs a question still counts once, by the sign of its difference.

    Parameters
    ----------
    differences
        By question: how much more often the first was right, in -1..1.
    """
    from scipy.special import bdtr

    better = sum(difference > 0.0 for difference in differences)
    worse = sum(difference < 0.0 for difference in differences)
    discordant = better + worse
    tail = float(bdtr(min(better, worse), discordant, 0.5)) if discordant else 1.0
    return SignTest(
        better=better,
        worse=worse,
        equal=len(differences) - discordant,
        p_value=min(1.0, 2.0 * tail),
    )


def newcombe(both: float, first: float, second: float, neither: float) -> tuple[float, float]:
    """Return the 95 % interval of a difference between two shares of the same questions.

    It is the score-based "method 10" of Newcombe (1998, "Improved confidence intervals for the
    difference between binomial proportions based on paired data"), which Fagerland, Lydersen &
    Laake (2014, "Recommended tests and confidence intervals for paired binomial proportions")
    recommend. It takes questions for independent of each other.

    Parameters
    ----------
    both, first, second, neither
        Questions that both got right, the first alone, the second alone, and neither; together more
        than 0.

    Returns
    -------
    The ends of the interval of (share of the first) - (share of the second), in -1..1.
    """
    count = both + first + second + neither
    one, other = (both + first) / count, (both + second) / count
    low_1, high_1 = score_interval(one, count)
    low_2, high_2 = score_interval(other, count)
    product = both * neither - first * second
    if product > 0.0:
        product = max(product - count / 2.0, 0.0)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    phi = product / sqrt(margins) if margins else 0.0
    down, up = one - low_1, high_2 - other
    low = one - other - sqrt(max(0.0, down**2 - 2.0 * phi * down * up + up**2))
    up, down = high_1 - one, other - low_2
    high = one - other + sqrt(max(0.0, up**2 - 2.0 * phi * up * down + down**2))
    return max(-1.0, low), min(1.0, high)


class Difference(Record):
    """By how much the first of two contestants is above the second, on the same questions.

    Attributes
    ----------
    value
        Mean of the first minus mean of the second, over the pairs.
    low, high
        Its 95 % interval, clustered by situation; None where all pairs stand on a single one, and
        where all differ by the same amount of something without bounds.
    p_value
        Of no difference, two-sided, by Student's t with clustered errors; None as the interval is,
        but 1 where no pair differs at all.
    pairs, clusters
        Questions on a database that both answered, and the situations that these stand on
        (questions where situations are not known).
    degrees_of_freedom
        Below 4 the interval and the test rest on few situations, and are rough.
    design_effect
        How many times the variance is that of independent pairs; None where nothing varies.
    """

    value: float
    low: float | None
    high: float | None
    p_value: float | None = Field(ge=0, le=1)
    pairs: int = Field(ge=1)
    clusters: int = Field(ge=1)
    standard_error: float | None = Field(ge=0)
    degrees_of_freedom: float | None = Field(gt=0)
    design_effect: float | None = Field(ge=0)


def paired_difference(
    differences: Sequence[float],
    clusters: Sequence[Hashable],
    bounds: tuple[float, float] | None = None,
) -> Difference | None:
    """Return the mean of paired differences with its interval and test, or None of no pair.

    Errors are those of `clustered_mean` (Miller, 2024, "Adding Error Bars to Evals", section 4.2).
    Where nothing differs at all, there is no variance to take an interval from; shares then get
    `newcombe`'s for as many independent questions as there are effective clusters.

    Parameters
    ----------
    differences
        By pair, the first minus the second.
    clusters
        The situation that each stands on.
    bounds
        What no such mean can go beyond; of shares (-1, 1).
    """
    mean = clustered_mean(differences, clusters)
    if mean is None:
        return None
    reach, error, freedom = mean.reach, mean.standard_error, mean.degrees_of_freedom
    low = high = p_value = None
    if reach is not None and error is not None and freedom is not None:
        least, most = bounds or (-inf, inf)
        low, high = max(least, mean.value - reach), min(most, mean.value + reach)
        p_value = t_test(mean.value, error, freedom)
    elif error == 0.0:
        # Pairs that all differ by the same tell nothing of how much they vary.
        p_value = None if mean.value else 1.0
        if bounds is not None:
            low, high, p_value = _of_equals(mean)
    return Difference(
        value=mean.value,
        low=low,
        high=high,
        p_value=p_value,
        pairs=mean.observations,
        clusters=mean.clusters,
        standard_error=error,
        degrees_of_freedom=freedom,
        design_effect=design_effect(differences, mean),
    )


def _of_equals(mean: ClusteredMean) -> tuple[float, float, float]:
    """Return interval and p-value where every pair differs by the same."""
    count = mean.effective_clusters
    if mean.value == 0.0:
        # With nothing known of how often both are right, the interval is widest at a half.
        low, high = newcombe(count / 2.0, 0.0, 0.0, count / 2.0)
        return low, high, 1.0
    low, high = score_interval(abs(mean.value), count)
    ends = sorted((copysign(low, mean.value), copysign(high, mean.value)))
    return ends[0], ends[1], 0.5 ** max(0.0, count - 1.0)


def design_effect(values: Sequence[float], mean: ClusteredMean) -> float | None:
    """Return how many times a mean's clustered variance is that of independent observations."""
    if mean.variance is None or mean.observations < 2:
        return None
    squares = sum((value - mean.value) ** 2 for value in values)
    alone = squares / (mean.observations - 1) / mean.observations
    return mean.variance / alone if alone > 0.0 else None


class Power(Record):
    """How many questions it takes to see a difference, given the discordance seen.

    Attributes
    ----------
    difference
        The smallest difference in accuracy that matters, in 0..1.
    power
        The probability of seeing it at the 5 % level.
    discordance
        The mean square of the differences seen: with one answer to a question, the share that one
        contestant alone got right.
    questions
        How many such questions on a database are needed, on as many times more situations.
    questions_seen
        How many there are.
    detectable
        The smallest difference that the questions at hand show with that power; None where all
        stand on a single situation, or every pair differs by the same, so that nothing tells how
        much they vary.
    """

    difference: float = Field(gt=0, lt=1)
    power: float = Field(gt=0, lt=1)
    discordance: float = Field(ge=0, le=1)
    questions: int = Field(ge=1)
    questions_seen: int = Field(ge=1)
    detectable: float | None = Field(ge=0)


def power_of_pairs(
    differences: Sequence[float],
    clusters: Sequence[Hashable],
    difference: float = SMALLEST_DIFFERENCE,
) -> Power | None:
    """Return how many questions it takes to see a difference with a power of 80 %.

    By Connor (1987, "Sample size for testing differences in proportions for the paired-sample
    design"): ``(z_a sqrt(d) + z_b sqrt(d - delta**2))**2 / delta**2`` for a discordance ``d``,
    times the design effect of the pairs at hand, where that is above 1. A difference needs at least
    as much discordance, so less than that is taken for it.

    Parameters
    ----------
    differences, clusters
        By pair, as `paired_difference` takes them; each in -1..1.
    difference
        What is to be seen, in 0..1.
    """
    mean = clustered_mean(differences, clusters)
    if mean is None:
        return None
    seen = sum(value**2 for value in differences) / len(differences)
    inflated = max(1.0, design_effect(differences, mean) or 1.0)
    error = mean.standard_error
    return Power(
        difference=difference,
        power=0.8,
        discordance=seen,
        questions=ceil(questions_needed(seen, difference) * inflated),
        questions_seen=len(differences),
        detectable=(NORMAL_975 + _NORMAL_80) * error if error else None,
    )


def questions_needed(discordance: float, difference: float) -> float:
    """Return how many independent questions show a difference with a power of 80 %.

    Parameters
    ----------
    discordance, difference
        As in `power_of_pairs`.
    """
    spread = max(discordance, difference)
    root = NORMAL_975 * sqrt(spread) + _NORMAL_80 * sqrt(spread - difference**2)
    return root**2 / difference**2


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values corrected for how many there are, in the same order.

    By Holm (1979, "A simple sequentially rejective multiple test procedure"): the chance of any
    wrong rejection stays below the level, whatever the tests share.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [0.0] * len(p_values)
    reached = 0.0
    for rank, place in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = reached
    return tuple(corrected)
