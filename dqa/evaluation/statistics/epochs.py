"""Figures of repeated questions: pass@k, pass^k, and the sources of variance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb, fsum
from statistics import stdev, variance

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.clusters import Estimate, clustered_chance, clusters_of
from dqa.evaluation.statistics.summaries import grouped

_ALL_UP_TO = 5
"""Up to this number of epochs every k is shown; with more, the powers of two and the last."""


def pass_at(k: int, asked: int, right: int) -> float:
    """Return the probability that any of `k` answers to a question is right: pass@k.

    It is the unbiased estimator of Chen et al. (2021, "Evaluating Large Language Models Trained on
    Code", equation 1).

    Parameters
    ----------
    k
        At least 1, at most `asked`.
    asked, right
        How often the question was answered, and how often rightly.
    """
    return 1.0 - comb(asked - right, k) / comb(asked, k)


def pass_all(k: int, asked: int, right: int) -> float:
    """Return the probability that all `k` answers to a question are right: pass^k.

    It is the unbiased estimator of Yao et al. (2024, "tau-bench", section 3.2). Parameters as in
    `pass_at`.
    """
    return comb(right, k) / comb(asked, k)


class PassRate(Record):
    """How many questions are solved by any, and by all, of `k` attempts.

    Attributes
    ----------
    k
        Attempts.
    questions
        Those that were answered at least `k` times.
    at_k, all_k
        pass@k and pass^k, in 0..1, with equal weight for each question and the intervals of shares
        (`clustered_chance`). If all were answered equally often, pass@1 is the accuracy.
    """

    k: int = Field(ge=1)
    questions: int = Field(ge=1)
    at_k: Estimate
    all_k: Estimate


class EpochAccuracy(Record):
    """How often a decider was right in one epoch."""

    epoch: int = Field(ge=1)
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    accuracy: float | None = Field(ge=0, le=1)


class EpochStatistics(Record):
    """The epochs of one decider on one scenario and database.

    Attributes
    ----------
    epochs
        Their number.
    questions
        Those with a judged answer.
    pass_rates
        pass@k and pass^k for several k, the first 1.
    within, between
        The variance of one answer (0 or 1), in two parts that add up to it: of answers to the same
        question, and of the questions' probabilities of being solved (Miller, 2024, "Adding Error
        Bars to Evals", section 3.1). More epochs reduce only the first part, more questions both.
        None if no question was answered twice.
    by_epoch
        The accuracy of each epoch.
    spread
        The standard deviation of these accuracies, in 0..1; None for a single epoch.
    """

    decider: str
    scenario: str
    database: str
    epochs: int = Field(ge=1)
    questions: int = Field(ge=1)
    pass_rates: tuple[PassRate, ...]
    within: float | None = Field(ge=0)
    between: float | None = Field(ge=0)
    by_epoch: tuple[EpochAccuracy, ...]
    spread: float | None = Field(ge=0)


def count_epochs(results: Iterable[Result]) -> tuple[EpochStatistics, ...]:
    """Return the figures of epochs by decider, scenario and database.

    A group with one epoch is left out. Answers that were not judged are missing from their
    question's attempts, and never count as wrong.
    """
    groups = grouped(results, lambda r: (r.decider, r.scenario, r.database)).values()
    return tuple(
        _statistics(group)
        for group in groups
        if len({result.epoch for result in group}) > 1 and any(r.outcome.judged for r in group)
    )


def _statistics(group: Sequence[Result]) -> EpochStatistics:
    answers = grouped((r for r in group if r.outcome.judged), lambda r: r.question)
    situations = clusters_of(attempts[0] for attempts in answers.values())
    tallies = {question: (len(a), sum(map(_right, a))) for question, a in answers.items()}
    within, between = _variance(list(tallies.values()))
    by_epoch = tuple(
        _epoch(number, results)
        for number, results in sorted(grouped(group, lambda r: r.epoch).items())
    )
    shares = [one.accuracy for one in by_epoch if one.accuracy is not None]
    return EpochStatistics(
        decider=group[0].decider,
        scenario=group[0].scenario,
        database=group[0].database,
        epochs=len(by_epoch),
        questions=len(answers),
        pass_rates=_pass_rates(tallies, dict(zip(answers, situations, strict=True))),
        within=within,
        between=between,
        by_epoch=by_epoch,
        spread=stdev(shares) if len(shares) > 1 else None,
    )


def _right(result: Result) -> bool:
    return result.outcome is Outcome.CORRECT


def _epoch(number: int, results: Iterable[Result]) -> EpochAccuracy:
    judged = [result for result in results if result.outcome.judged]
    correct = sum(map(_right, judged))
    accuracy = correct / len(judged) if judged else None
    return EpochAccuracy(epoch=number, judged=len(judged), correct=correct, accuracy=accuracy)


def _pass_rates(
    tallies: Mapping[str, tuple[int, int]], situations: Mapping[str, str]
) -> tuple[PassRate, ...]:
    most = max(asked for asked, _ in tallies.values())
    found = []
    for k in range(1, most + 1):
        if most > _ALL_UP_TO and k != most and k.bit_count() != 1:
            continue
        enough = {q: tally for q, tally in tallies.items() if tally[0] >= k}
        clusters = [situations[question] for question in enough]
        apart = sum(asked for asked, _ in enough.values()) / k  # groups of k different attempts
        any_right = clustered_chance([pass_at(k, *t) for t in enough.values()], clusters, apart)
        all_right = clustered_chance([pass_all(k, *t) for t in enough.values()], clusters, apart)
        if any_right is not None and all_right is not None:
            found.append(PassRate(k=k, questions=len(enough), at_k=any_right, all_k=all_right))
    return tuple(found)


def _variance(tallies: Sequence[tuple[int, int]]) -> tuple[float | None, float | None]:
    """Return the variance within questions and between them, each unbiased but at least 0."""
    repeated = [(asked, right / asked) for asked, right in tallies if asked > 1]
    if not repeated:
        return None, None
    own = [share * (1.0 - share) * asked / (asked - 1) for asked, share in repeated]
    within = fsum(own) / len(own)
    if len(repeated) == 1:
        return within, None
    # Shares of few attempts also differ by chance, which is subtracted.
    chance = fsum(v / asked for v, (asked, _) in zip(own, repeated, strict=True)) / len(own)
    return within, max(0.0, variance(share for _, share in repeated) - chance)
