"""The runs to measure: every result of a folder with the trace that led to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from pydantic import Field

from dqa.core.distribution import shell_command
from dqa.core.errors import UsageError
from dqa.core.events import ENDING_KINDS
from dqa.core.records import Record
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.statistics import share_of_questions, wilson
from dqa.evaluation.stores.places import FolderPlace
from dqa.evaluation.stores.reading import FolderReader, RunReader
from dqa.evaluation.traces import Trace


class Share(Record):
    """A part of a whole, such as the correct runs among the judged ones.

    Attributes
    ----------
    rate
        The share, in 0..1; None of nothing.
    low, high
        The ends of its 95 % interval: Wilson's of as many answers as there are questions, however
        many epochs and databases each was asked in and on (`share_of_questions`).
    """

    count: int = Field(ge=0)
    of: int = Field(ge=0)
    rate: float | None = Field(ge=0, le=1)
    low: float | None = Field(ge=0, le=1)
    high: float | None = Field(ge=0, le=1)

    @classmethod
    def counted(cls, count: int, of: int) -> Self:
        """Return the share that `count` is of `of` questions, each of which was asked once."""
        low, high = wilson(count, of) or (None, None)
        return cls(count=count, of=of, rate=count / of if of else None, low=low, high=high)

    @classmethod
    def among(cls, told: Iterable[tuple[str, bool]]) -> Self:
        """Return how many runs have something, of each of which its question is told as well."""
        runs = tuple(told)
        having = [float(has) for _, has in runs]
        low, high = share_of_questions(having, [question for question, _ in runs]) or (None, None)
        count, of = int(sum(having)), len(runs)
        return cls(count=count, of=of, rate=count / of if of else None, low=low, high=high)


@dataclass(frozen=True)
class Case:
    """One decision: what it is worth, and how it was made."""

    result: Result
    trace: Trace

    @property
    def key(self) -> DecisionKey:
        """Question, database, decider and epoch: unique in a run."""
        return self.result.key

    @property
    def group(self) -> tuple[str, str]:
        """Scenario and decider: what tables have a row for."""
        return self.result.scenario, self.result.decider

    @property
    def correct(self) -> bool:
        """Whether it was right."""
        return self.result.outcome is Outcome.CORRECT

    @cached_property
    def told(self) -> bool:
        """Whether the trace tells how the decision was made; a baseline's does not."""
        kinds = {event.kind for event in self.trace.events}
        return bool(self.trace.evidence) or not kinds <= ENDING_KINDS


@dataclass(frozen=True, slots=True)
class Cases:
    """A folder's runs, in the order of its results.

    Attributes
    ----------
    judged
        Decisions that say something about their decider, each with its trace.
    unjudged
        Decisions that a failing server or a spent budget ended.
    without_trace
        Judged decisions whose trace is missing.
    without_result
        Traces whose result is missing.
    """

    judged: tuple[Case, ...]
    unjudged: int = 0
    without_trace: int = 0
    without_result: int = 0


def read_cases(run: RunReader | Path) -> Cases:
    """Join a run's results and traces by question, database and decider.

    Raises
    ------
    UsageError
        The folder holds no run, or none of its decisions has a result yet.
    ParseError
        A whole line is no result, or no trace. A half-written last line is only left out.
    """
    reader = FolderReader(FolderPlace(run)) if isinstance(run, Path) else run
    results = reader.results()
    traces = {trace.key: trace for trace in reader.traces()}
    if not results:
        raise UsageError(
            f"{reader.place} holds no finished decision: "
            f"'{shell_command('eval', '--resume', str(reader.place))}' goes on."
        )
    judged = [result for result in results if result.outcome.judged]
    return Cases(
        judged=tuple(Case(r, traces[r.key]) for r in judged if r.key in traces),
        unjudged=len(results) - len(judged),
        without_trace=sum(result.key not in traces for result in judged),
        without_result=len(set(traces) - {result.key for result in results}),
    )
