"""Counting judged decisions: accuracy with its interval, and the means beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, isfinite, sqrt

from pydantic import Field, computed_field

from dqa.core.database import Kind
from dqa.core.records import Record
from dqa.core.truth import MatchRule
from dqa.evaluation.results import Outcome, Result

_NORMAL_975 = 1.959963984540054
"""The quantile of the normal distribution that leaves 2.5 % above it."""


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
        95 % Wilson interval of the accuracy, both in 0..1; None where nothing could be judged.
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
    wrong: int = Field(ge=0)
    no_candidate: int = Field(ge=0)
    ambiguous: int = Field(ge=0)
    step_limit: int = Field(ge=0)
    unparsable: int = Field(ge=0)
    infrastructure: int = Field(ge=0)
    budget: int = Field(ge=0)
    crashed: int = Field(ge=0)
    unlabelled: int = Field(ge=0, default=0, description="where nothing tells what is right")
    mean_regret: float | None
    mean_relative_regret: float | None
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
        return {outcome: line[outcome.value] for outcome in Outcome}

    @property
    def judged(self) -> int:
        """Questions that count."""
        return sum(count for outcome, count in self.counts.items() if outcome.judged)


def wilson(correct: int, judged: int) -> tuple[float, float] | None:
    """Return the 95 % Wilson score interval of `correct` in `judged`, or None for 0 judged.

    By formulas of Newcombe (1998, "Two-sided confidence intervals for the single proportion"),
    method 3. SciPy has them too, behind an import that takes longer than many a run.
    """
    if not judged:
        return None
    share, squared = correct / judged, _NORMAL_975**2
    scale = 2.0 * (judged + squared)
    centre = (2.0 * judged * share + squared) / scale
    reach = _NORMAL_975 / scale * sqrt(4.0 * judged * share * (1.0 - share) + squared)
    low = 0.0 if correct == 0 else centre - reach
    return low, 1.0 if correct == judged else centre + reach


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


def summarise(results: Iterable[Result]) -> tuple[Summary, ...]:
    """Count results by decider, scenario and database, in the order they first appear."""
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.decider, result.scenario, result.database), []).append(result)
    return tuple(_summary(group) for group in groups.values())


def _summary(results: Sequence[Result]) -> Summary:
    first = results[0]
    counts = {outcome.value: sum(r.outcome is outcome for r in results) for outcome in Outcome}
    reached = [r for r in results if r.outcome.judged]
    interval = wilson(counts[Outcome.CORRECT], len(reached))
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
        mean_regret=_mean(r.regret for r in reached),
        mean_relative_regret=_mean(r.relative_regret for r in reached),
        normalised_utility=_mean(_share(r) for r in reached),
        mean_tokens=_mean(float(r.input_tokens + r.output_tokens) for r in reached),
        mean_steps=_mean(float(r.steps) for r in reached),
        match=first.match,
        **counts,
    )


class Total(Record):
    """How often a decider's statements match, on all databases together.

    Attributes
    ----------
    low, high
        95 % Wilson interval of the share; None where nothing could be judged.
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
        low, high = wilson(correct, judged) or (None, None)
        found.append(Total(decider=decider, judged=judged, correct=correct, low=low, high=high))
    return tuple(found)


class TagCount(Record):
    """How a decider did on the questions of a tag, on all databases together.

    Attributes
    ----------
    low, high
        95 % Wilson interval of the share; None where nothing could be judged.
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
    judged = sum(result.outcome.judged for result in tagged)
    correct = sum(result.outcome is Outcome.CORRECT for result in tagged)
    low, high = wilson(correct, judged) or (None, None)
    return TagCount(tag=tag, decider=decider, judged=judged, correct=correct, low=low, high=high)


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
