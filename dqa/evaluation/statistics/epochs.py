"""What asking every question several times tells: pass@k, pass^k, and where variance comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import comb, fsum

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.clusters import Estimate, clusters_of
from dqa.evaluation.statistics.shares import clustered_chance

_ALL_UP_TO = 5
"""With as many epochs every k is told; with more the powers of two, and the last."""


def pass_at(k: int, asked: int, right: int) -> float:
    """Return the probability that any of `k` of a question's answers is right: pass@k.

    It is the unbiased estimator of Chen et al. (2021, "Evaluating Large Language Models Trained on
    Code", equation 1): ``1 - C(asked - right, k) / C(asked, k)``.

    Parameters
    ----------
    k
        At least 1, at most `asked`.
    asked, right
        How often the question was answered, and how often rightly.
    """
    return 1.0 - comb(asked - right, k) / comb(asked, k)


def pass_all(k: int, asked: int, right: int) -> float:
    """Return the probability that all `k` of a question's answers are right: pass^k.

    It is the unbiased estimator of Yao et al. (2024, "tau-bench", section 3.2):
    ``C(right, k) / C(asked, k)``. Parameters as in `pass_at`.
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
        pass@k and pass^k, in 0..1, each question counting the same, with the intervals of shares
        (`clustered_chance`): where all were answered equally often, pass@1 is the accuracy, and has
        its interval.
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
    """What epochs tell of one decider on one scenario and database.

    Attributes
    ----------
    epochs
        How many there are.
    questions
        Those with an answer that could be judged.
    pass_rates
        pass@k and pass^k for several k, the first 1.
    within, between
        The variance of one answer (0 or 1), in two parts that add up to it: of answers to the same
        question, and of questions' own probabilities of being solved (Miller, 2024, "Adding Error
        Bars to Evals", section 3.1). More epochs lessen what the first adds to an error; only more
        questions lessen the second. None where no question was answered twice.
    by_epoch
        The accuracy of each epoch.
    spread
        The standard deviation of these accuracies, in 0..1; None of a single epoch.
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
    """Return what epochs tell, by decider, scenario and database, in the order they first appear.

    A group that was asked in one epoch alone is left out. Answers that could not be judged are
    missing from their question's attempts, and never count as wrong.
    """
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.decider, result.scenario, result.database), []).append(result)
    return tuple(
        found
        for group in groups.values()
        if len({result.epoch for result in group}) > 1 and (found := _statistics(group)) is not None
    )


def _statistics(group: Sequence[Result]) -> EpochStatistics | None:
    judged = [result for result in group if result.outcome.judged]
    if not judged:
        return None
    answers: dict[str, list[Result]] = {}
    for result in judged:
        answers.setdefault(result.question, []).append(result)
    situations = dict(
        zip(
            answers,
            clusters_of(attempts[0] for attempts in answers.values()),
            strict=True,
        )
    )
    tallies = {
        question: (len(attempts), sum(a.outcome is Outcome.CORRECT for a in attempts))
        for question, attempts in answers.items()
    }
    within, between = _variance(list(tallies.values()))
    by_epoch = _by_epoch(group)
    shares = [one.accuracy for one in by_epoch if one.accuracy is not None]
    return EpochStatistics(
        decider=group[0].decider,
        scenario=group[0].scenario,
        database=group[0].database,
        epochs=len(by_epoch),
        questions=len(answers),
        pass_rates=_pass_rates(tallies, situations),
        within=within,
        between=between,
        by_epoch=by_epoch,
        spread=_sample_variance(shares) ** 0.5 if len(shares) > 1 else None,
    )


def _pass_rates(
    tallies: Mapping[str, tuple[int, int]], situations: Mapping[str, str]
) -> tuple[PassRate, ...]:
    most = max(asked for asked, _ in tallies.values())
    found = []
    for k in _attempts(most):
        enough = {q: tally for q, tally in tallies.items() if tally[0] >= k}
        clusters = [situations[question] for question in enough]
        any_right = [pass_at(k, *tally) for tally in enough.values()]
        all_right = [pass_all(k, *tally) for tally in enough.values()]
        # So many times could k attempts be made that share none.
        apart = sum(tally[0] for tally in enough.values()) / k
        at_k = clustered_chance(any_right, clusters, apart)
        all_k = clustered_chance(all_right, clusters, apart)
        if at_k is not None and all_k is not None:
            found.append(PassRate(k=k, questions=len(enough), at_k=at_k, all_k=all_k))
    return tuple(found)


def _attempts(most: int) -> list[int]:
    if most <= _ALL_UP_TO:
        return list(range(1, most + 1))
    return [*(2**power for power in range((most - 1).bit_length())), most]


def _variance(tallies: Sequence[tuple[int, int]]) -> tuple[float | None, float | None]:
    """Return the variance within questions and between them, each without bias but not below 0."""
    repeated = [(asked, right / asked) for asked, right in tallies if asked > 1]
    if not repeated:
        return None, None
    own = [share * (1.0 - share) * asked / (asked - 1) for asked, share in repeated]
    within = fsum(own) / len(own)
    if len(repeated) == 1:
        return within, None
    # Shares of few attempts differ by chance, too: that part is not the questions' own.
    chance = fsum(v / asked for v, (asked, _) in zip(own, repeated, strict=True)) / len(own)
    return within, max(0.0, _sample_variance([share for _, share in repeated]) - chance)


def _sample_variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _by_epoch(group: Sequence[Result]) -> tuple[EpochAccuracy, ...]:
    found = []
    for epoch, results in groupby(sorted(group, key=lambda r: r.epoch), lambda r: r.epoch):
        judged = [result for result in results if result.outcome.judged]
        correct = sum(result.outcome is Outcome.CORRECT for result in judged)
        accuracy = correct / len(judged) if judged else None
        found.append(
            EpochAccuracy(epoch=epoch, judged=len(judged), correct=correct, accuracy=accuracy)
        )
    return tuple(found)
