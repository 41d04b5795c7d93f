"""A report as data: every number of its page is a field of one of these records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.evaluation.results import Goal, Outcome
from dqa.evaluation.statistics import EpochStatistics, PairComparison, Summary
from dqa.evaluation.statistics.comparing import Standing
from dqa.evaluation.traces import Alternative
from dqa.report.counts import RunCounts


class Reference(Record):
    """The accuracy of a scenario's best heuristic, and of chance, on the questions of a run."""

    scenario: str
    shortcut: str | None
    shortcut_share: float | None
    chance: float | None


Chart = Literal["failures", "regret"]


class Share(Record):
    """A part of a contestant's decisions in one of the stacked charts.

    Attributes
    ----------
    count, of
        How many, of how many decisions of the contestant in this chart.
    """

    chart: Chart
    part: str
    count: int = Field(ge=0)
    of: int = Field(ge=0)


class Contestant(Record):
    """A decider of a run with its figures.

    Attributes
    ----------
    name
        Its name in the report: the decider, and its run if several runs have one of that name.
    run
        The place of its run in `Report.runs`.
    scripted
        Whether a program answered.
    figures
        All its decisions together, as ``dqa compare`` has them; money if the run has prices.
    situations
        The number of situations of the judged questions; None if unknown.
    steps
        The mean of the judged decisions.
    accuracies
        By scenario and database.
    epochs
        By scenario and database; empty of a single epoch.
    shares
        The parts of its bars in the charts.
    """

    name: str
    run: int = Field(ge=0)
    scripted: bool
    figures: Standing
    situations: int | None = Field(ge=1)
    steps: float | None
    pareto: bool = Field(
        default=False, description="whether no other is as right for less, or more for as much"
    )
    accuracies: tuple[Summary, ...]
    epochs: tuple[EpochStatistics, ...]
    shares: tuple[Share, ...]

    @property
    def accuracy(self) -> float | None:
        """The share of right answers among the judged ones; None of nothing."""
        return None if self.figures.accuracy is None else self.figures.accuracy.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval by situations, or by questions if all are about one situation."""
        for one in (self.figures.accuracy, self.figures):
            if one is not None and one.low is not None and one.high is not None:
                return one.low, one.high
        return None

    @property
    def spent(self) -> Mapping[str, float | None]:
        """The cost, the tokens and the replies of a question."""
        efficiency = self.figures.efficiency
        means = {
            name: None if rate is None or rate.per_question is None else rate.per_question.value
            for name, rate in (("cost", efficiency.money), ("tokens", efficiency.tokens))
        }
        return {**means, "steps": self.steps}


class DecisionRow(Record):
    """A decision in the list."""

    contestant: int = Field(ge=0)
    database: str
    epoch: int = Field(default=1, ge=1)
    outcome: Outcome
    choice: Candidate | None
    value: float | None
    regret: float | None
    relative_regret: float | None
    rank: int | None
    steps: int
    statements: int
    plans: int
    tokens: int
    error: str | None
    ended_by: str | None


class QuestionRow(Record):
    """A question in the list, with every decision on it.

    Attributes
    ----------
    id
        Unique in the report.
    key
        What commands call it.
    text
        As deciders read it; None where the questions are not at hand.
    official, ties
        The official answer, and the best decisions, of very many the first.
    """

    id: str
    key: str
    scenario: str
    text: str | None
    tags: tuple[str, ...]
    official: Candidate | None
    ties: tuple[Candidate, ...]
    tied: int = Field(ge=0, description="how many are as good as the best")
    best_value: float | None
    baseline: float | None
    goal: Goal | None
    unit: str
    judged: int = Field(ge=0)
    correct: int = Field(ge=0)
    mean_relative_regret: float | None
    decisions: tuple[DecisionRow, ...]


class RunFacts(Record):
    """A run of the report: its name, its progress and its settings.

    Attributes
    ----------
    facts
        Its settings, by name, in words.
    notes
        Notes on its figures: how answers were scored, which models answered.
    references
        What heuristics and chance reach, by scenario.
    """

    name: str
    counts: RunCounts
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    references: tuple[Reference, ...]


class Report(Record):
    """A report.

    Attributes
    ----------
    headline
        Its result in one or two sentences; empty where nothing was judged.
    intervals
        The clusters that the intervals allow for, in words.
    pairs
        Every two contestants that were judged by one measure on questions that they share, as
        ``dqa compare`` has them; their p-values are corrected for all of them.
    best
        The contestant that is right most often among those of `pairs`; None where there is none.
    outcomes
        Why the outcomes of candidates are missing, where they are.
    traces
        Why some traces are left out of the page, where some are.
    """

    version: Literal[2] = 2
    title: str
    headline: str = ""
    runs: tuple[RunFacts, ...]
    contestants: tuple[Contestant, ...]
    databases: tuple[str, ...]
    scenarios: tuple[str, ...]
    intervals: tuple[str, ...]
    pairs: tuple[PairComparison, ...]
    best: str | None
    questions: tuple[QuestionRow, ...]
    outcomes: str | None = None
    traces: str | None = None


class QuestionTruth(Record):
    """The outcome of every candidate of a question.

    Attributes
    ----------
    text, rules
        The question and its rules, as deciders read them; None where they are not at hand.
    outcomes
        The best first; of very many the best, the worst and all that were chosen.
    total
        How many candidates there are.
    values
        Those of all candidates, in the order of their ranks; of very many, evenly picked ones.
    """

    text: str | None = None
    rules: str | None = None
    outcomes: tuple[Alternative, ...] = ()
    total: int | None = None
    values: tuple[float, ...] = ()
