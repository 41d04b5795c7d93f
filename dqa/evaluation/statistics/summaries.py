"""Counts of judged decisions: accuracy with its interval, means, and pass@k of epochs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import comb, fsum, isfinite
from typing import Any, TypeVar

from pydantic import Field, computed_field

from dqa.core.database import Kind
from dqa.core.records import Record
from dqa.core.truth import MatchRule
from dqa.evaluation.results import OF_QUESTIONS, Outcome, Result
from dqa.evaluation.statistics.clusters import (
    Estimate,
    clustered_share,
    clusters_of,
    effective_number,
    normalised_utility,
    share_of_questions,
    situations_of,
)

_KINDS: tuple[Kind, Kind] = ("graph", "relational")
_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


class Tally(Record):
    """The number of judged answers and the number of right answers.

    Attributes
    ----------
    low, high
        95 % interval of the share of right answers for independent questions
        (`share_of_questions`), in 0..1; None if nothing was judged.
    """

    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    low: float | None = Field(ge=0, le=1, default=None)
    high: float | None = Field(ge=0, le=1, default=None)


class Summary(Record):
    """The figures of one decider on one scenario and one database.

    A decision is not judged if it ended with a server error, a spent budget or a crash, or if the
    question has no known answer. Shares and means include only judged decisions.

    Attributes
    ----------
    questions
        Number of questions that were asked.
    with_ties, by_label
        `with_ties` is the number of right answers if every best candidate counts as right.
        `by_label` is the number if only the official label counts as right. `correct` is one of
        these numbers.
    low, high
        95 % interval of the accuracy, in 0..1; None if nothing was judged. The interval treats
        questions as independent, and counts a repeated question once (`share_of_questions`).
    effective_questions
        Kish's effective number of questions. It is smaller than the number of questions if some
        questions have more answers than others. 0 in older files.
    clustered_low, clustered_high
        95 % interval of the accuracy that takes shared situations and repeated questions into
        account (`clustered_share`). None if there is a single situation.
    situations
        The number of situations of the judged questions; None if unknown.
    degrees_of_freedom
        Degrees of freedom of the clustered interval. Below 4, there are few situations and the
        interval is rough.
    unlabelled
        Number of decisions on questions without a known answer.
    no_decision, ended_by_budget
        `ended_by_budget` is the number of decisions that ended because the budget of the decision
        was spent. `no_decision` is the number of these decisions that have no choice.
    cut
        Number of decisions with a statement whose rows a limit cut.
    regret, relative_regret, rank
        The means of regret, of relative regret and of the rank of the choice (1 is best), each with
        its clustered interval.
    mean_regret, mean_relative_regret
        The mean regret in the scenario's unit, and the mean relative regret as a share. Only
        decisions that chose a candidate count, and infinite values are left out. None if no
        decision remains.
    normalised_utility
        Mean of the normalised utility over the judged decisions. A normalised utility is defined
        only if a larger outcome is better and the baseline is 0. None if no decision has a
        normalised utility.
    mean_tokens, mean_steps
        Mean number of tokens, and mean number of model replies, of the judged decisions. The tokens
        are None if a server did not report all of them.
    match
        The rule for comparing rows, if the answers are statements.
    official_metrics
        Means of `Result.official_metrics` over the judged questions, by name.
    """

    decider: str
    scenario: str
    database: str
    kind: Kind
    model: str
    questions: int = Field(ge=0)
    correct: int = Field(ge=0)
    with_ties: int = Field(ge=0)
    by_label: int = Field(ge=0)
    accuracy: float | None = Field(ge=0, le=1)
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)
    clustered_low: float | None = Field(default=None, ge=0, le=1)
    clustered_high: float | None = Field(default=None, ge=0, le=1)
    effective_questions: float = Field(default=0.0, ge=0)
    situations: int | None = Field(default=None, ge=1)
    degrees_of_freedom: float | None = Field(default=None, gt=0)
    wrong: int = Field(ge=0)
    forbidden: int = Field(default=0, ge=0)
    no_candidate: int = Field(ge=0)
    ambiguous: int = Field(ge=0)
    step_limit: int = Field(ge=0)
    unparsable: int = Field(ge=0)
    infrastructure: int = Field(ge=0)
    budget: int = Field(ge=0)
    stopped: int = Field(default=0, ge=0)
    crashed: int = Field(ge=0)
    unlabelled: int = Field(default=0, ge=0)
    no_decision: int = Field(default=0, ge=0)
    ended_by_budget: int = Field(default=0, ge=0)
    cut: int = Field(default=0, ge=0)
    mean_regret: float | None
    mean_relative_regret: float | None
    regret: Estimate | None = None
    relative_regret: Estimate | None = None
    rank: Estimate | None = None
    normalised_utility: float | None = Field(le=1)
    mean_tokens: float | None
    mean_steps: float | None
    match: MatchRule | None = None
    official_metrics: dict[str, float] = Field(default_factory=dict)

    @property
    def counts(self) -> dict[Outcome, int]:
        """The number of decisions with each outcome, including outcomes that did not occur."""
        return {outcome: getattr(self, outcome.value) for outcome in OF_QUESTIONS}

    @property
    def judged(self) -> int:
        """The number of judged decisions."""
        return sum(count for outcome, count in self.counts.items() if outcome.judged)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval for tables: clustered if possible, otherwise for independent questions."""
        if self.clustered_low is not None and self.clustered_high is not None:
            return self.clustered_low, self.clustered_high
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_clustered(self) -> bool:
        """Whether `interval` takes shared situations or epochs into account."""
        clustered = self.clustered_low, self.clustered_high
        repeated = 0.0 < self.effective_questions < self.judged
        return None not in clustered and (repeated or clustered != (self.low, self.high))


def summarise(results: Iterable[Result]) -> tuple[Summary, ...]:
    """Count results by decider, scenario and database, in order of their first appearance."""
    groups = grouped(results, lambda r: (r.decider, r.scenario, r.database))
    return tuple(map(_summary, groups.values()))


def grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Group items by key, in order of first appearance."""
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def tally(results: Iterable[Result]) -> dict[str, Any]:
    """Return the numbers of judged answers and of right answers, and the limits of the interval.

    The keys of the result are the names of the fields of `Tally`.
    """
    judged = [result for result in results if result.outcome.judged]
    right = [float(result.outcome is Outcome.CORRECT) for result in judged]
    low, high = share_of_questions(right, [r.question for r in judged]) or (None, None)
    return {"judged": len(judged), "correct": int(fsum(right)), "low": low, "high": high}


def estimates(judged: Sequence[Result]) -> dict[str, Any]:
    """Return the means of regret, relative regret and rank, by the name of their field.

    The intervals are clustered by situation. Results without a finite value are left out.
    """
    found = {}
    for name, least in (("regret", 0.0), ("relative_regret", 0.0), ("rank", 1.0)):
        measured = ((result, getattr(result, name)) for result in judged)
        known = [(result, float(v)) for result, v in measured if v is not None and isfinite(v)]
        clusters = clusters_of(result for result, _ in known)
        found[name] = Estimate.of([value for _, value in known], clusters, least)
    return found


def _summary(results: Sequence[Result]) -> Summary:
    first = results[0]
    reached = [r for r in results if r.outcome.judged]
    counts = tally(reached)
    judged = counts.pop("judged")
    right = [float(r.outcome is Outcome.CORRECT) for r in reached]
    share = clustered_share(right, clusters_of(reached))
    of_first = ("decider", "scenario", "database", "kind", "model", "match")
    outcomes = {o.value: sum(r.outcome is o for r in results) for o in OF_QUESTIONS}
    spent = [r.usage.tokens for r in reached]
    return Summary(
        **{name: getattr(first, name) for name in of_first},
        **(outcomes | counts),
        **estimates(reached),
        questions=len(results),
        with_ties=sum(r.choice in r.ties for r in reached),
        by_label=sum(
            r.choice in (r.ties if r.official is None else (r.official,)) for r in reached
        ),
        accuracy=counts["correct"] / judged if judged else None,
        clustered_low=share.low if share else None,
        clustered_high=share.high if share else None,
        effective_questions=effective_number(Counter(r.question for r in reached).values()),
        situations=situations_of(reached),
        degrees_of_freedom=share.degrees_of_freedom if share else None,
        mean_regret=mean_of(r.regret for r in reached),
        mean_relative_regret=mean_of(r.relative_regret for r in reached),
        normalised_utility=mean_of(map(_utility, reached)),
        mean_tokens=mean_of(() if None in spent else spent),
        mean_steps=mean_of(float(r.steps) for r in reached),
        cut=sum(r.cut > 0 for r in results),
        ended_by_budget=sum(r.ended_by is not None for r in results),
        official_metrics=_means(r.official_metrics for r in reached),
    )


class MatchTotal(Tally):
    """The number of a decider's statements that match the gold statements, over all databases.

    Attributes
    ----------
    official_metrics
        The mean of each metric, by its name; see `Summary`.
    """

    decider: str
    official_metrics: dict[str, float] = Field(default_factory=dict)


def total_matches(results: Iterable[Result]) -> tuple[MatchTotal, ...]:
    """Return a total for each decider whose answers are statements."""
    groups = grouped((r for r in results if r.match is not None), lambda r: r.decider)
    return tuple(
        MatchTotal(
            decider=decider,
            **tally(found),
            official_metrics=_means(r.official_metrics for r in found if r.outcome.judged),
        )
        for decider, found in groups.items()
    )


class TagCount(Tally):
    """The figures of a decider on all questions with one tag, on all databases together."""

    tag: str
    decider: str


def count_tags(results: Iterable[Result]) -> tuple[TagCount, ...]:
    """Count results by tag and decider, in order of their first appearance."""
    tagged = ((tag, result) for result in results for tag in result.tags)
    groups = grouped(tagged, lambda pair: (pair[0], pair[1].decider))
    return tuple(
        TagCount(tag=tag, decider=decider, **tally(result for _, result in found))
        for (tag, decider), found in groups.items()
    )


class KindMean(Record):
    """A decider's accuracy on a scenario, averaged over both kinds of database (PlanRAG, Table 4).

    Attributes
    ----------
    relational, graph
        Mean accuracy on the relational databases, and on the graph databases.
    """

    decider: str
    scenario: str
    relational: float = Field(ge=0, le=1)
    graph: float = Field(ge=0, le=1)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def accuracy(self) -> float:
        """The mean of `relational` and `graph`."""
        return (self.relational + self.graph) / 2


def kind_means(summaries: Iterable[Summary]) -> tuple[KindMean, ...]:
    """Return the means over both kinds of database for each decider that was judged on both kinds.

    These means correspond to the figures in PlanRAG's Table 4.
    """
    known = (summary for summary in summaries if summary.accuracy is not None)
    found = []
    for (decider, scenario), group in grouped(known, lambda s: (s.decider, s.scenario)).items():
        kinds = grouped(group, lambda s: s.kind)
        graph, relational = (mean_of(s.accuracy for s in kinds.get(k, ())) for k in _KINDS)
        if graph is not None and relational is not None:
            found.append(
                KindMean(decider=decider, scenario=scenario, relational=relational, graph=graph)
            )
    return tuple(found)


def _means(measured: Iterable[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each metric. A missing value counts as 0."""
    found = list(measured)
    names = dict.fromkeys(name for metrics in found for name in metrics)
    return {name: fsum(one.get(name, 0.0) for one in found) / len(found) for name in names}


def _utility(result: Result) -> float | None:
    """Return the normalised utility of a result. Return None if its outcomes do not define it."""
    if result.best_value is None or result.baseline != 0.0 or result.goal != "maximise":
        return None
    return normalised_utility(result.value, result.best_value)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known, finite values; None if there are none."""
    known = [value for value in values if value is not None and isfinite(value)]
    return fsum(known) / len(known) if known else None


def pass_at(k: int, asked: int, right: int) -> float:
    """Return pass@k: the probability that at least one of `k` answers to a question is right.

    The result is the unbiased estimator of Chen et al. (2021, "Evaluating Large Language Models
    Trained on Code", equation 1).

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

    The result is the unbiased estimator of Yao et al. (2024, "tau-bench", section 3.2). The
    parameters are those of `pass_at`.
    """
    return comb(right, k) / comb(asked, k)


class PassRate(Record):
    """The share of questions solved in at least one of `k` attempts, and the share solved in all.

    Attributes
    ----------
    k
        Number of attempts.
    questions
        Number of questions that were answered at least `k` times.
    at_k, all_k
        pass@k and pass^k in 0..1, with intervals (`clustered_share`). All questions have the same
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
    """Return the statistics of repeated questions by decider, scenario and database.

    A decider with a single epoch on a scenario and database is left out. Answers that were not
    judged are left out, too, so they do not count as wrong attempts.
    """
    found = []
    groups = grouped(results, lambda r: (r.decider, r.scenario, r.database))
    for (decider, scenario, database), group in groups.items():
        answers = grouped((r for r in group if r.outcome.judged), lambda r: r.question)
        epochs = len({result.epoch for result in group})
        if answers and epochs > 1:
            rates = _pass_rates(list(answers.values()))
            found.append(
                EpochStatistics(
                    decider=decider,
                    scenario=scenario,
                    database=database,
                    epochs=epochs,
                    questions=len(answers),
                    pass_rates=rates,
                )
            )
    return tuple(found)


def _pass_rates(answers: Sequence[Sequence[Result]]) -> tuple[PassRate, ...]:
    """Return the pass rates of questions, given the judged answers to each question."""
    situations = clusters_of(attempts[0] for attempts in answers)
    rates = []
    for k in sorted({1, max(map(len, answers))}):
        enough = [
            (a, cluster) for a, cluster in zip(answers, situations, strict=True) if len(a) >= k
        ]
        clusters = [situation for _, situation in enough]
        tallies = [(len(a), sum(r.outcome is Outcome.CORRECT for r in a)) for a, _ in enough]
        groups = sum(total for total, _ in tallies) / k  # each of k different attempts
        any_right = clustered_share([pass_at(k, *tally) for tally in tallies], clusters, groups)
        all_right = clustered_share([pass_all(k, *tally) for tally in tallies], clusters, groups)
        if any_right is not None and all_right is not None:
            rates.append(PassRate(k=k, questions=len(enough), at_k=any_right, all_k=all_right))
    return tuple(rates)
