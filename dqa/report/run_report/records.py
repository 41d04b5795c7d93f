"""The data of a report. Every number on the page is a field of one of these records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dqa.core.question import Candidate
from dqa.core.records import Record
from dqa.evaluation.results import Goal, Outcome
from dqa.evaluation.shortcuts import Chance, Shortcut
from dqa.evaluation.statistics.comparing import PairComparison, Standing
from dqa.evaluation.statistics.summaries import EpochStatistics, Summary
from dqa.report.counts import RunCounts


class Contestant(Record):
    """A decider of a run with its figures.

    Attributes
    ----------
    name
        The name of the contestant in the report: the decider's name, with the run's name if several
        runs have this decider.
    run
        Index of the contestant's run in `Report.runs`.
    scripted
        Whether a scripted program answered instead of a language model.
    figures
        Figures of all decisions of the contestant. ``dqa compare`` prints the same figures. Costs
        are included only if the run has prices.
    situations
        Number of situations of the judged questions; None if unknown.
    steps
        Mean number of model replies of the judged decisions.
    accuracies
        Accuracies by scenario and database.
    epochs
        Statistics of repeated questions by scenario and database; empty for a single epoch.
    """

    name: str
    run: int = Field(ge=0)
    scripted: bool
    figures: Standing
    situations: int | None = Field(ge=1)
    steps: float | None
    accuracies: tuple[Summary, ...]
    epochs: tuple[EpochStatistics, ...]

    @property
    def accuracy(self) -> float | None:
        """Share of right answers among judged answers; None if none was judged."""
        return None if self.figures.accuracy is None else self.figures.accuracy.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval by situations.

        If there is only one situation, return the interval for independent questions instead.
        """
        for one in (self.figures.accuracy, self.figures):
            if one is not None and one.low is not None and one.high is not None:
                return one.low, one.high
        return None


class DecisionRow(Record):
    """A row in the list of questions: one decision."""

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
    tokens: int | None
    error: str | None
    ended_by: str | None


class QuestionRow(Record):
    """A question in the list, with all decisions on it.

    Attributes
    ----------
    key
        Name of the question in commands.
    text
        Text of the question that deciders read; None if the questions are not available.
    official, ties
        `official` is the official answer. `ties` contains the best decisions, or only the first of
        them if there are many.
    """

    key: str
    scenario: str
    text: str | None
    tags: tuple[str, ...]
    official: Candidate | None
    ties: tuple[Candidate, ...]
    tied: int = Field(ge=0, description="number of best decisions")
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
        Names and values of the run's settings.
    notes
        Notes on the figures of the run: the rule of scoring and the models.
    shortcuts, chance
        For each scenario, the best heuristic, and the accuracy of random choices on the questions
        of the run.
    """

    name: str
    counts: RunCounts
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    shortcuts: tuple[Shortcut, ...]
    chance: tuple[Chance, ...]


class Report(Record):
    """A report on one or more runs.

    Attributes
    ----------
    headline
        Main result in one or two sentences; empty if nothing was judged.
    intervals
        Sentences that explain which clusters of questions the intervals take into account.
    pairs
        Comparisons of all pairs of contestants that share questions and the rule of scoring. ``dqa
        compare`` calculates the same figures. The p-values are corrected for all these pairs.
    best
        Contestant in `pairs` with the highest accuracy; None if there are no pairs.
    outcomes
        Reason why the outcomes of candidates are missing; None if they are available.
    traces
        Reason why traces are missing in the page; None if they are available.
    """

    version: Literal[3] = 3
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
