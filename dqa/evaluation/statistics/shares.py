"""Intervals of shares: of independent answers, and of answers that share situations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import fsum, sqrt
from typing import TypeAlias

from dqa.evaluation.statistics.clusters import Estimate, effective_number, t_quantile

Interval: TypeAlias = tuple[float, float]
"""Both ends of an interval, in 0..1."""


def wilson(correct: float, judged: int, size: float | None = None) -> Interval | None:
    """Return the 95 % Wilson score interval of `correct` in `judged`, or None for 0 judged.

    Parameters
    ----------
    correct, judged
        The right answers, and all of them.
    size
        The number of independent answers that they count for; None for all.
    """
    return score_interval(correct / judged, judged if size is None else size) if judged else None


def score_interval(share: float, size: float, level: float = 0.05) -> Interval:
    """Return the Wilson interval of a share of `size` answers, which need not be a whole number."""
    from scipy.special import ndtri

    # As `statsmodels.stats.proportion.proportion_confint`, whose import takes longer than a run.
    z = -float(ndtri(level / 2.0))
    scale = 1.0 + z * z / size
    centre = (share + z * z / (2.0 * size)) / scale
    half = z * sqrt(share * (1.0 - share) / size + z * z / (4.0 * size * size)) / scale
    low, high = centre - half, centre + half
    # Exact if nothing or everything is right.
    return (
        0.0 if share == 0.0 else max(0.0, low),
        1.0 if share == 1.0 else min(1.0, high),
    )


def share_of_questions(right: Sequence[float], questions: Sequence[Hashable]) -> Interval | None:
    """Return the 95 % interval of a share that takes only different questions as independent.

    It is the Wilson interval for the number of questions: a question that was asked in several
    epochs or on several databases counts once. If questions were answered unequally often, Kish's
    effective number counts. None without answers.

    Parameters
    ----------
    right
        1 for a right answer, 0 for any other.
    questions
        The question of each answer.
    """
    return wilson(fsum(right), len(right), effective_number(Counter(questions).values()))


def clustered_share(right: Sequence[float], clusters: Sequence[Hashable]) -> Estimate | None:
    """Return the share of right answers with an interval that allows for clusters.

    It is the Wilson interval of the *effective* number of answers: the number of independent
    answers with the same variance, ``share (1 - share) / variance``, with the cluster-robust
    variance of `Estimate.of` and Student's t. In surveys such intervals keep their coverage best
    (Franco, Little, Louis & Slud, 2019, "Comparative Study of Confidence Intervals for Proportions
    in Complex Sample Surveys"; Korn & Graubard, 1998). They stay within 0 and 1.

    - The effective number is at most the number of answers.
    - If all are right, or all wrong, each cluster counts as one answer, by Kish's number.
    - If every answer is its own cluster, it is the plain Wilson interval.
    - A single cluster has no interval; no answer gives None.

    Parameters
    ----------
    right
        1 for a right answer, 0 for any other.
    clusters
        The cluster of each answer.
    """
    return clustered_chance(right, clusters, len(right))


def clustered_chance(
    chances: Sequence[float], clusters: Sequence[Hashable], answers: float
) -> Estimate | None:
    """Return the mean of chances in 0..1 with the interval of `clustered_share`.

    A chance from several answers, such as that of a question over its epochs, varies less than one
    answer does, so the effective number may exceed the number of chances.

    Parameters
    ----------
    chances
        In 0..1, such as the chance that a question is solved.
    clusters
        The cluster of each.
    answers
        The most independent answers that all of them can count for.
    """
    mean = Estimate.of(chances, clusters)
    if mean is None or mean.standard_error is None or mean.degrees_of_freedom is None:
        return mean
    low, high = _interval(mean, clusters, answers, mean.standard_error**2, mean.degrees_of_freedom)
    return mean.changed(low=low, high=high)


def _interval(
    mean: Estimate, clusters: Sequence[Hashable], answers: float, variance: float, freedom: float
) -> Interval:
    if mean.clusters == mean.observations == answers:
        return score_interval(mean.value, answers)
    if mean.value in {0.0, 1.0}:
        return score_interval(mean.value, effective_number(Counter(clusters).values()))
    from scipy.special import ndtr

    size = answers
    if variance > 0.0:
        size = min(size, mean.value * (1.0 - mean.value) / variance)
    return score_interval(mean.value, size, 2.0 * float(ndtr(-t_quantile(freedom))))


def normalised_utility(value: float | None, best: float) -> float:
    """Return the share of the best outcome that a decision reached (DeLLMa, appendix B).

    It is at most 1, negative for a loss, and 0 without a choice. If even the best outcome is not a
    gain, it is 1 for the best choice and 0 for any other.

    Parameters
    ----------
    value
        The outcome of the choice; None without a choice.
    best
        The outcome of the best choice.
    """
    if value is None:
        return 0.0
    return value / best if best > 0.0 else float(value >= best)
