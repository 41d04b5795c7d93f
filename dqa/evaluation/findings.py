"""The findings of an analysis: measures of each decision, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from pydantic import Field

from dqa.core.distribution import shell_command
from dqa.core.errors import UsageError
from dqa.core.events import ENDING_KINDS
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.text import counted
from dqa.evaluation.location import locate_run
from dqa.evaluation.results import DecisionKey, Outcome, Result
from dqa.evaluation.statistics.clusters import share_of_questions
from dqa.evaluation.stored_runs import RunReader
from dqa.evaluation.traces import Trace


class FindingShare(Record):
    """A share, such as the share of correct decisions among judged decisions.

    Attributes
    ----------
    rate
        The share, in 0..1; None if `of` is 0.
    low, high
        The 95 % interval. Repeats of a question count as one question (`share_of_questions`).
    """

    count: int = Field(ge=0)
    of: int = Field(ge=0)
    rate: float | None = Field(ge=0, le=1)
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)

    @classmethod
    def among(cls, runs: Sequence[tuple[str, bool]]) -> Self:
        """Return the share of decisions that have a property.

        `runs` contains the question of each decision, and whether the decision has the property.
        """
        having = [float(has) for _, has in runs]
        low, high = share_of_questions(having, [question for question, _ in runs]) or (None, None)
        count, of = int(sum(having)), len(runs)
        return cls(count=count, of=of, rate=count / of if of else None, low=low, high=high)


@dataclass(frozen=True)
class Case:
    """One judged decision: its result and its trace."""

    result: Result
    trace: Trace

    @property
    def correct(self) -> bool:
        """Whether the decision was right."""
        return self.result.outcome is Outcome.CORRECT

    @cached_property
    def has_steps(self) -> bool:
        """Whether the trace has steps. The traces of baselines have no steps."""
        kinds = {event.kind for event in self.trace.events}
        return bool(self.trace.evidence) or not kinds <= ENDING_KINDS


@dataclass(frozen=True, slots=True)
class Cases:
    """The decisions to analyse, in the order of their results.

    Attributes
    ----------
    judged
        Judged decisions with their traces.
    unjudged
        Number of decisions that were not judged.
    """

    judged: tuple[Case, ...]
    unjudged: int = 0

    def notes(self) -> list[str]:
        """Return lines about the decisions that an analysis leaves out."""
        without_steps = Counter(case.result.decider for case in self.judged if not case.has_steps)
        deciders = ", ".join(f"{decider} {count}" for decider, count in without_steps.items())
        left_out = {
            "Not judged, because of a failure, a spent budget or an unknown answer": self.unjudged,
            "Without steps in the trace, and counted only in tables of accuracies "
            f"({deciders})": without_steps.total(),
        }
        return [f"{words}: {counted(n, 'decision')}." for words, n in left_out.items() if n]


def read_cases(run: RunReader | Path) -> Cases:
    """Return the decisions of a run. A result and a trace belong together if their keys are equal.

    Raises
    ------
    UsageError
        There is no run, or it has no finished decision.
    """
    reader = RunReader(locate_run(run)) if isinstance(run, Path) else run
    results = reader.results()
    traces = {trace.key: trace for trace in reader.traces()}
    if not results:
        where = shell_command("runs", reader.location.around)
        raise UsageError(
            f"{reader.location} has no finished decision: '{where}' prints how to resume the run."
        )
    judged = [result for result in results if result.outcome.judged]
    return Cases(
        judged=tuple(Case(r, traces[r.key]) for r in judged if r.key in traces),
        unjudged=len(results) - len(judged),
    )


class Finding(NamedTuple):
    """A decision, and whether it has the property that a table's column counts (`holds`).

    The scenario "" stands for all scenarios together.
    """

    scenario: str
    decider: str
    column: str
    question: str
    holds: bool


class FindingRow(Record):
    """The row of a decider and a scenario, with a share for each column."""

    scenario: str
    decider: str
    shares: dict[str, FindingShare]


class FindingTable(Record):
    """A table of one measure.

    Attributes
    ----------
    measure
        Name of the measure in tables of papers.
    title
        Title of the table.
    """

    measure: str
    title: str
    rows: tuple[FindingRow, ...]

    @classmethod
    def of(cls, measure: str, title: str, findings: Iterable[Finding]) -> Self:
        """Count findings by scenario, decider and column."""
        found: dict[tuple[str, str], dict[str, list[tuple[str, bool]]]] = {}
        for one in findings:
            columns = found.setdefault((one.scenario, one.decider), {})
            columns.setdefault(one.column, []).append((one.question, one.holds))
        rows = tuple(
            FindingRow(
                scenario=scenario,
                decider=decider,
                shares={
                    column: FindingShare.among(runs) for column, runs in sorted(columns.items())
                },
            )
            for (scenario, decider), columns in found.items()
        )
        return cls(measure=measure, title=title, rows=rows)


class AnalysedRun(Record):
    """One judged decision with its measures.

    Attributes
    ----------
    failure, reason
        The class of the failure, and the rule that assigned it; None for a right decision.
    measures
        The other measures, by name.
    """

    question: str
    scenario: str
    database: str
    decider: str
    epoch: int
    model: str
    outcome: Outcome
    failure: str | None = None
    reason: str | None = None
    measures: dict[str, Any] = Field(default_factory=dict)

    @property
    def key(self) -> DecisionKey:
        """The question, database, decider and epoch of the decision."""
        return DecisionKey(self.question, self.database, self.decider, self.epoch)


class Analysis(Record):
    """The measures of a run.

    Attributes
    ----------
    reference
        The decider whose traces classify the questions as single-retrieval or multiple-retrieval;
        None if the run has no such decider.
    without_data
        Number of decisions whose questions are not available. For these decisions, all retrieved
        data counts as needed.
    lacking
        Reason why the questions are not available.
    models
        The models that answered.
    tables
        The tables of all measures.
    notes
        Lines about decisions that the tables leave out.
    runs
        The judged decisions with a trace, in the order of the results.
    """

    reference: str | None = None
    without_data: int = Field(ge=0, default=0)
    lacking: str | None = None
    models: tuple[str, ...] = ()
    tables: tuple[FindingTable, ...]
    notes: tuple[str, ...] = ()
    runs: tuple[AnalysedRun, ...]


Analyse: TypeAlias = Callable[[Cases, str | None, QuestionSet | None], Analysis]
"""A function that analyses a run. A `Publication` names it as ``package.module:function``.

Its arguments are the decisions, the reference decider, and the questions with their data if they
are available. It raises `UnknownNameError` if no trace of the reference decider has steps.
"""
