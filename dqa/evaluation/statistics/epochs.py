"""Statistics of repeated questions: pass@k and pass^k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb

from pydantic import Field

from dqa.core.records import Record
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics.clusters import (
    Estimate,
    clustered_chance,
    clusters_of,
)
from dqa.evaluation.statistics.summaries import grouped


def pass_at(k: int, asked: int, right: int) -> float:
    """Return pass@k: the probability that at least one of `k` answers to a question is right.

    It is the unbiased estimator of Chen et al. (2021, "Evaluating Large Language Models Trained on
    Code", equation 1).

    Parameters
    ----------
    k
        The number of attempts, from 1 to `asked`.
    asked, right
        The number of answers to the question, and the number of right answers.
    """
    return 1.0 - comb(asked - right, k) / comb(asked, k)


def pass_all(k: int, asked: int, right: int) -> float:
    """Return pass^k: the probability that all of `k` answers to a question are right.

    It is the unbiased estimator of Yao et al. (2024, "tau-bench", section 3.2). The parameters are
    those of `pass_at`.
    """
    return comb(right, k) / comb(asked, k)


class PassRate(Record):
    """The shares of questions that any, and that all, of `k` attempts solve.

    Attributes
    ----------
    k
        Number of attempts.
    questions
        Number of questions that were answered at least `k` times.
    at_k, all_k
        pass@k and pass^k in 0..1, with intervals (`clustered_chance`). All questions have the same
        weight. If all questions were answered equally often, pass@1 is the accuracy.
    """

    k: int = Field(ge=1)
    questions: int = Field(ge=1)
    at_k: Estimate
    all_k: Estimate


class EpochStatistics(Record):
    """The epochs of one decider on one scenario and database.

    Attributes
    ----------
    epochs
        Number of epochs.
    questions
        Number of questions with a judged answer.
    pass_rates
        pass@k and pass^k for k = 1, and for k = the number of epochs.
    """

    decider: str
    scenario: str
    database: str
    epochs: int = Field(ge=1)
    questions: int = Field(ge=1)
    pass_rates: tuple[PassRate, ...]


def count_epochs(results: Iterable[Result]) -> tuple[EpochStatistics, ...]:
    """Return the figures of epochs by decider, scenario and database.

    A group with one epoch is left out. Answers that were not judged are left out, too: they do not
    count as wrong attempts.
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
    return EpochStatistics(
        decider=group[0].decider,
        scenario=group[0].scenario,
        database=group[0].database,
        epochs=len({result.epoch for result in group}),
        questions=len(answers),
        pass_rates=_pass_rates(tallies, dict(zip(answers, situations, strict=True))),
    )


def _right(result: Result) -> bool:
    return result.outcome is Outcome.CORRECT


def _pass_rates(
    tallies: Mapping[str, tuple[int, int]], situations: Mapping[str, str]
) -> tuple[PassRate, ...]:
    most = max(asked for asked, _ in tallies.values())
    found = []
    for k in sorted({1, most}):
        enough = {q: tally for q, tally in tallies.items() if tally[0] >= k}
        clusters = [situations[question] for question in enough]
        apart = sum(asked for asked, _ in enough.values()) / k  # groups of k different attempts
        any_right = clustered_chance([pass_at(k, *t) for t in enough.values()], clusters, apart)
        all_right = clustered_chance([pass_all(k, *t) for t in enough.values()], clusters, apart)
        if any_right is not None and all_right is not None:
            found.append(PassRate(k=k, questions=len(enough), at_k=any_right, all_k=all_right))
    return tuple(found)
