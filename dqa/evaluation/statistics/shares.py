"""Intervals of shares: of independent answers, and of answers that share situations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, sqrt
from typing import TypeAlias

from dqa.evaluation.statistics.clusters import (
    NORMAL_975,
    ClusteredMean,
    Estimate,
    clustered_mean,
    t_quantile,
)

Interval: TypeAlias = tuple[float, float]
"""The two ends, both in 0..1."""


def wilson(correct: int, judged: int) -> Interval | None:
    """Return the 95 % Wilson score interval of `correct` in `judged`, or None for 0 judged.

    By formulas of Newcombe (1998, "Two-sided confidence intervals for the single proportion"),
    method 3. SciPy has them too, behind an import that takes longer than many a run.
    """
    return interval_of(correct, judged, judged)


def share_of_questions(right: Sequence[float], questions: Sequence[Hashable]) -> Interval | None:
    """Return the 95 % interval of a share that takes questions, and nothing else, for independent.

    It is Wilson's of as many answers as there are questions: a question that was asked in several
    epochs or on several databases is one, however often it was. Answers to one question differ by
    at most as much as answers to different ones do, so this is never too narrow on their account.
    Where questions were answered unequally often, they count by Kish's effective number.

    Parameters
    ----------
    right
        1 for a right answer, 0 for any other.
    questions
        What each answers.

    Returns
    -------
    None of no answer.
    """
    counts = Counter(questions)
    return interval_of(fsum(right), len(right), effective_number(counts.values()))


def effective_number(sizes: Iterable[int]) -> float:
    """Return how many clusters of one size would weigh as those of these sizes (Kish, 1965)."""
    found = tuple(sizes)
    return sum(found) ** 2 / sum(size**2 for size in found) if found else 0.0


def interval_of(correct: float, judged: int, size: float) -> Interval | None:
    """Return the interval of `correct` in `judged` that count as `size`; None of 0 judged."""
    if not judged:
        return None
    low, high = score_interval(correct / judged, size)
    # To the last bit where nothing or everything is right, whatever rounding says.
    return (0.0 if correct == 0 else low), (1.0 if correct == judged else high)


def score_interval(share: float, size: float, quantile: float = NORMAL_975) -> tuple[float, float]:
    """Return the score interval of a share of `size` answers, which may be no whole number."""
    squared = quantile**2
    scale = 2.0 * (size + squared)
    centre = (2.0 * size * share + squared) / scale
    reach = quantile / scale * sqrt(4.0 * size * share * (1.0 - share) + squared)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def clustered_share(right: Sequence[float], clusters: Sequence[Hashable]) -> Estimate | None:
    """Return the share of right answers with an interval that allows for clusters.

    It is Wilson's interval of the *effective* number of answers: as many independent ones as would
    know the share as exactly as these do, ``share (1 - share) / variance``, with the cluster-robust
    variance of `clustered_mean` and Student's t of its degrees of freedom. In surveys, intervals of
    this kind keep their coverage best among the usual ones (Franco, Little, Louis & Slud, 2019,
    "Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys"; Korn &
    Graubard, 1998). Unlike the share plus or minus two errors it stays within 0 and 1.

    - Clusters never count for more than their answers, so the interval is no narrower than
      Wilson's.
    - Where all are right or all wrong, nothing tells how much clusters differ; each is then taken
      for one answer, by Kish's effective number of clusters.
    - Where every answer is a cluster of its own, it is Wilson's.
    - A single cluster has no interval.

    Parameters
    ----------
    right
        1 for a right answer, 0 for any other.
    clusters
        What each belongs to.

    Returns
    -------
    None of no answer.
    """
    return clustered_chance(right, clusters, len(right))


def clustered_chance(
    chances: Sequence[float], clusters: Sequence[Hashable], answers: float
) -> Estimate | None:
    """Return the mean of chances in 0..1 with the interval of `clustered_share`.

    A chance that several answers told of, as that of a question over its epochs, varies less than
    one answer does, so the effective number may be above that of the chances.

    Parameters
    ----------
    chances
        In 0..1, as of questions to be solved.
    clusters
        What each belongs to.
    answers
        How many independent answers all of them can count for at most.

    Returns
    -------
    None of no chance.
    """
    mean = clustered_mean(chances, clusters)
    if mean is None:
        return None
    low, high = _interval(mean, answers) or (None, None)
    return Estimate(
        value=mean.value,
        low=low,
        high=high,
        standard_error=mean.standard_error,
        degrees_of_freedom=mean.degrees_of_freedom,
        observations=mean.observations,
        clusters=mean.clusters,
    )


def _interval(mean: ClusteredMean, answers: float) -> tuple[float, float] | None:
    if mean.variance is None or mean.degrees_of_freedom is None:
        return None
    if mean.clusters == mean.observations == answers:
        return wilson(round(mean.value * mean.observations), mean.observations)
    spread = mean.value * (1.0 - mean.value)
    if mean.value in {0.0, 1.0}:
        low, high = score_interval(mean.value, mean.effective_clusters)
        return (0.0 if mean.value == 0.0 else low), (1.0 if mean.value == 1.0 else high)
    size = answers
    if mean.variance > 0.0:
        size = min(size, spread / mean.variance)
    return score_interval(mean.value, size, t_quantile(mean.degrees_of_freedom))


def normalised_utility(value: float | None, best: float) -> float:
    """Return the share of the best outcome that a decision reached (DeLLMa, appendix B).

    Parameters
    ----------
    value
        What the choice led to, counted from nothing; None where nothing was chosen.
    best
        What the best choice would have led to.

    Returns
    -------
    At most 1, and below 0 for a loss. 0 without a choice: that leads to nothing. Of a best outcome
    that is no gain there are no shares: then 1 for the best choice, and 0 for any other.
    """
    if value is None:
        return 0.0
    return value / best if best > 0.0 else float(value >= best)
