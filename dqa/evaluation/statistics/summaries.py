"""Counting judged decisions: accuracy with its interval, and the means beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum, inf, isfinite, sqrt

from pydantic import Field, computed_field

from dqa.core.database import Kind
from dqa.core.records import Record
from dqa.core.truth import MatchRule
from dqa.evaluation.results import OF_QUESTIONS, Outcome, Result
from dqa.evaluation.statistics.clusters import Estimate, clusters_of, situations_of
from dqa.evaluation.statistics.shares import (
    clustered_share,
    effective_number,
    interval_of,
    normalised_utility,
    share_of_questions,
)


class Summary(Record):
    """How one decider did on one scenario and one database.

    Decisions that a failing server, a spent budget or a crash ended are counted and not judged, nor
    those of which nothing tells what is right: no share and no mean has them.

    Attributes
    ----------
    with_ties, by_label
        Right answers where every tie of the best counts, and where the official label alone does;
        one of the two is `correct`.
    low, high
        95 % interval of the accuracy, both in 0..1; None where nothing could be judged. It takes
        questions for independent, so it speaks of these situations alone. Where each was asked
        once it is Wilson's; asked several times it counts as one (`share_of_questions`).
    effective_questions
        As how many questions, answered equally often, the judged ones count; in older files 0.
    clustered_low, clustered_high
        95 % interval that allows for the situations which questions share, and for questions asked
        several times (`clustered_share`); None where all stand on a single one.
    situations
        How many situations the judged questions stand on; None where that is not known.
    degrees_of_freedom
        Of the clustered interval; below 4 it rests on few situations.
    regret, relative_regret, rank
        `mean_regret`, `mean_relative_regret` and the mean rank of the choice (1 for the best), each
        with its clustered interval.
    mean_regret, mean_relative_regret
        Over the decisions that chose a candidate, in the scenario's unit and as a share; an
        infinite share is left out. None where there is none.
    normalised_utility
        Mean of `normalised_utility` over the judged questions whose outcomes count from nothing,
        and of which more is better; None where there is none.
    mean_tokens, mean_steps
        Over all judged questions.
    """

    decider: str
    scenario: str
    database: str
    kind: Kind
    model: str
    questions: int = Field(ge=0, description="questions asked")
    correct: int = Field(ge=0)
    with_ties: int = Field(ge=0, description="right where every tie of the best counts")
    by_label: int = Field(ge=0, description="right where the official label alone counts")
    accuracy: float | None = Field(ge=0, le=1, description="share of the judged questions")
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)
    clustered_low: float | None = Field(default=None, ge=0, le=1)
    clustered_high: float | None = Field(default=None, ge=0, le=1)
    effective_questions: float = Field(default=0.0, ge=0)
    situations: int | None = Field(default=None, ge=1)
    degrees_of_freedom: float | None = Field(default=None, gt=0)
    wrong: int = Field(ge=0)
    no_candidate: int = Field(ge=0)
    ambiguous: int = Field(ge=0)
    step_limit: int = Field(ge=0)
    unparsable: int = Field(ge=0)
    infrastructure: int = Field(ge=0)
    budget: int = Field(ge=0)
    stopped: int = Field(default=0, ge=0)
    crashed: int = Field(ge=0)
    unlabelled: int = Field(ge=0, default=0, description="where nothing tells what is right")
    no_decision: int = Field(
        ge=0, default=0, description="whose own budget was spent before anything was stated"
    )
    ended_by_budget: int = Field(
        ge=0, default=0, description="whose own budget ended them, with a decision or without"
    )
    mean_regret: float | None
    mean_relative_regret: float | None
    regret: Estimate | None = None
    relative_regret: Estimate | None = None
    rank: Estimate | None = None
    normalised_utility: float | None = Field(
        le=1, description="mean share of the best outcome that was reached, 0 without a choice"
    )
    mean_tokens: float | None
    mean_steps: float | None
    match: MatchRule | None = Field(
        default=None, description="how rows were compared, where statements are the answers"
    )

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Decisions by outcome, every outcome named."""
        line = self.model_dump()
        return {outcome: line[outcome.value] for outcome in OF_QUESTIONS}

    @property
    def judged(self) -> int:
        """Questions that count."""
        return sum(count for outcome, count in self.counts.items() if outcome.judged)

    @property
    def interval(self) -> tuple[float, float] | None:
        """What a table prints: the clustered interval, or that by questions of one situation."""
        if self.clustered_low is not None and self.clustered_high is not None:
            return self.clustered_low, self.clustered_high
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def is_clustered(self) -> bool:
        """Whether that interval allows for situations, or epochs, that answers share."""
        clustered = self.clustered_low, self.clustered_high
        repeated = 0.0 < self.effective_questions < self.judged
        return None not in clustered and (repeated or clustered != (self.low, self.high))


def summarise(results: Iterable[Result]) -> tuple[Summary, ...]:
    """Count results by decider, scenario and database, in the order they first appear."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.decider, result.scenario, result.database), []).append(result)
    return tuple(_summary(group) for group in groups.values())


def _summary(results: Sequence[Result]) -> Summary:
    first = results[0]
    counts = {o.value: sum(r.outcome is o for r in results) for o in OF_QUESTIONS}
    reached = [r for r in results if r.outcome.judged]
    right = [float(r.outcome is Outcome.CORRECT) for r in reached]
    interval = share_of_questions(right, [r.question for r in reached])
    share = clustered_share(right, clusters_of(reached))
    return Summary(
        decider=first.decider,
        scenario=first.scenario,
        database=first.database,
        kind=first.kind,
        model=first.model,
        questions=len(results),
        with_ties=sum(r.choice in r.ties for r in reached),
        by_label=sum(
            r.choice in (r.ties if r.official is None else (r.official,)) for r in reached
        ),
        accuracy=counts[Outcome.CORRECT] / len(reached) if reached else None,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        clustered_low=share.low if share else None,
        clustered_high=share.high if share else None,
        effective_questions=effective_number(Counter(r.question for r in reached).values()),
        situations=situations_of(reached),
        degrees_of_freedom=share.degrees_of_freedom if share else None,
        mean_regret=_mean(r.regret for r in reached),
        mean_relative_regret=_mean(r.relative_regret for r in reached),
        regret=estimate(reached, lambda r: r.regret),
        relative_regret=estimate(reached, lambda r: r.relative_regret),
        rank=estimate(reached, lambda r: r.rank, least=1.0),
        normalised_utility=_mean(_share(r) for r in reached),
        mean_tokens=_mean(float(r.input_tokens + r.output_tokens) for r in reached),
        mean_steps=_mean(float(r.steps) for r in reached),
        match=first.match,
        ended_by_budget=sum(r.ended_by is not None for r in results),
        **counts,
    )


def estimate(
    results: Iterable[Result],
    measured: Callable[[Result], float | None],
    least: float = 0.0,
    most: float = inf,
) -> Estimate | None:
    """Return the mean of what is measured of results, with an interval that clusters situations.

    Results without that measure, or with an infinite one, are left out.

    Parameters
    ----------
    results
        Judged ones.
    measured
        Takes the figure from a result.
    least, most
        What it cannot go beyond.
    """
    known = [
        (result, value)
        for result in results
        if (value := measured(result)) is not None and isfinite(value)
    ]
    clusters = clusters_of(result for result, _ in known)
    return Estimate.of([float(value) for _, value in known], clusters, least, most)


class Total(Record):
    """How often a decider's statements match, on all databases together.

    Attributes
    ----------
    low, high
        95 % interval of the share by questions (`share_of_questions`); None where nothing could be
        judged.
    """

    decider: str
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)


def total_matches(summaries: Iterable[Summary]) -> tuple[Total, ...]:
    """Return the totals of deciders whose answers are statements, in their order."""
    groups: dict[str, list[Summary]] = {}
    for summary in summaries:
        if summary.match is not None:
            groups.setdefault(summary.decider, []).append(summary)
    found = []
    for decider, of_one in groups.items():
        correct, judged = sum(s.correct for s in of_one), sum(s.judged for s in of_one)
        low, high = interval_of(correct, judged, _questions_of(of_one)) or (None, None)
        found.append(Total(decider=decider, judged=judged, correct=correct, low=low, high=high))
    return tuple(found)


def _questions_of(summaries: Iterable[Summary]) -> float:
    """Return as how many questions those of several scenarios and databases count together.

    The questions of a scenario are the same on each of its databases.
    """
    roots: dict[str, float] = {}
    judged = [summary for summary in summaries if summary.judged]
    for one in judged:
        # A group counts as N**2 / sum(n**2): this is the root of that sum.
        root = one.judged / sqrt(one.effective_questions or one.judged)
        roots[one.scenario] = roots.get(one.scenario, 0.0) + root
    squares = fsum(root**2 for root in roots.values())
    return sum(one.judged for one in judged) ** 2 / squares if judged else 0.0


class TagCount(Record):
    """How a decider did on the questions of a tag, on all databases together.

    Attributes
    ----------
    low, high
        95 % interval of the share by questions (`share_of_questions`); None where nothing could be
        judged.
    """

    tag: str
    decider: str
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    low: float | None = Field(ge=0, le=1, default=None)
    high: float | None = Field(ge=0, le=1, default=None)


def count_tags(results: Iterable[Result]) -> tuple[TagCount, ...]:
    """Count results by tag and decider, in the order they first appear."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        for tag in result.tags:
            groups.setdefault((tag, result.decider), []).append(result)
    return tuple(_tag_count(tag, decider, tagged) for (tag, decider), tagged in groups.items())


def _tag_count(tag: str, decider: str, tagged: Sequence[Result]) -> TagCount:
    judged = [result for result in tagged if result.outcome.judged]
    right = [float(result.outcome is Outcome.CORRECT) for result in judged]
    interval = share_of_questions(right, [result.question for result in judged])
    low, high = interval or (None, None)
    return TagCount(
        tag=tag,
        decider=decider,
        judged=len(judged),
        correct=int(fsum(right)),
        low=low,
        high=high,
    )


class KindMean(Record):
    """A decider's accuracy on a scenario, as a mean over both kinds of database (Table 4).

    Attributes
    ----------
    relational, graph
        Accuracy on the databases of that kind; of several the mean.
    accuracy
        The mean of the two.
    """

    decider: str
    scenario: str
    relational: float = Field(ge=0, le=1)
    graph: float = Field(ge=0, le=1)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def accuracy(self) -> float:
        """The mean of the two."""
        return (self.relational + self.graph) / 2


def kind_means(summaries: Iterable[Summary]) -> tuple[KindMean, ...]:
    """Return the means over both kinds of database, where a decider was judged on both.

    So are the figures of PlanRAG's Table 4.
    """
    groups: dict[tuple[str, str], dict[Kind, list[float]]] = {}
    for summary in summaries:
        if summary.accuracy is not None:
            kinds = groups.setdefault((summary.decider, summary.scenario), {})
            kinds.setdefault(summary.kind, []).append(summary.accuracy)
    return tuple(
        KindMean(
            decider=decider,
            scenario=scenario,
            relational=fsum(kinds["relational"]) / len(kinds["relational"]),
            graph=fsum(kinds["graph"]) / len(kinds["graph"]),
        )
        for (decider, scenario), kinds in groups.items()
        if {"relational", "graph"} <= kinds.keys()
    )


def _share(result: Result) -> float | None:
    """Return a result's normalised utility, or None where its outcomes have none."""
    if result.best_value is None or result.baseline != 0.0 or result.goal != "maximise":
        return None
    return normalised_utility(result.value, result.best_value)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and isfinite(value)]
    return fsum(known) / len(known) if known else None
