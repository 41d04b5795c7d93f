"""Make and judge decisions one by one, with one worker for all threads of a process.

An unexpected error of a decider, a plug-in or a driver is a bug. A bug ends one decision, which is
not judged, and the run continues. An error that would end every decision, such as a wrong name,
stops the run.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import NamedTuple, Protocol

from pydantic import TypeAdapter, ValidationError

from dqa.core.database import Database
from dqa.core.decision import Decision, Ending, Usage, ending_of
from dqa.core.errors import DataError, PluginError, StoppedError, UsageError
from dqa.core.events import EndingEvent
from dqa.core.provenance import CurrentDecision, utc_now, while_deciding
from dqa.core.question import Question
from dqa.core.recorder import collect_recorders
from dqa.core.records import problem_of
from dqa.core.spans import Span, start_span
from dqa.evaluation.prepare import Group, Setup, Task
from dqa.evaluation.results import NO_MODEL, DecisionKey, Result
from dqa.evaluation.score import Assessment
from dqa.evaluation.traces import Provenance, Trace
from dqa.models.attempts import attempt_by

_FAILED = frozenset({Ending.INFRASTRUCTURE, Ending.BUDGET, Ending.STOPPED, Ending.CRASHED})
_STOPS = (UsageError, DataError, PluginError)
"""Errors that stop the run, because the user must fix them first."""
_VALID = TypeAdapter(Decision)


def end_decision(decision: Decision, error: Exception) -> Decision:
    """Return a decision that `error` ended. If the error must stop the run, raise the error again.

    The decision contains the evidence, events and usage up to the error, but no answer.
    """
    if isinstance(error, _STOPS):
        raise error
    ending, problem, outage = ending_of(error)
    event = EndingEvent.of(ending, decision.steps, problem)
    if ending is Ending.CRASHED:
        lines = "".join(traceback.format_exception(error))
        event = EndingEvent(kind="crashed", problem=problem, traceback=lines)
    trace = (*decision.trace, event)
    ended = replace(decision, ending=ending, error=problem, outage=outage, trace=trace)
    return replace(ended, answer="", choice=None)


def require_decision(returned: object, decider: str) -> Decision:
    """Return the decision that a decider returned. Raise `TypeError` if it is not valid."""
    if not isinstance(returned, Decision):
        raise TypeError(f"the decider '{decider}' returned {returned!r}, not a Decision")
    given = {field.name: getattr(returned, field.name) for field in fields(returned)}
    try:
        return _VALID.validate_python(given)
    except ValidationError as error:
        problem = problem_of(error)
        raise TypeError(
            f"the decider '{decider}' returned an invalid Decision: {problem}"
        ) from None


def decide_or_end(
    decide: Callable[[], Decision], where: str = "", *, failures: list[Exception] | None = None
) -> Decision:
    """Make a decision. If an error ends it, return the decision as recorded before the error.

    Parameters
    ----------
    decide
        A function that makes the decision.
    where
        Description of the decision, which is added to the traceback of an error.
    failures
        Receives the error that ended the decision.
    """
    began = time.perf_counter()
    with collect_recorders() as recorders:
        try:
            decision = decide()
            # An own decider may not measure its time.
            seconds = decision.seconds or round(time.perf_counter() - began, 3)
            return replace(decision, seconds=seconds)
        except Exception as error:  # noqa: BLE001  (a bug ends one decision)
            if failures is not None and not isinstance(error, StoppedError):
                failures.append(error)
            if where:
                error.add_note(f"It was raised at {where}.")
            parts = [recorder.decision(Ending.CRASHED) for recorder in recorders]
            seconds = time.perf_counter() - began
            return end_decision(Decision.join(parts, Ending.CRASHED, seconds=seconds), error)


class DecisionRecord(NamedTuple):
    """A decision with its result and trace, ready to be stored.

    Attributes
    ----------
    lost
        The tokens and calls of abandoned attempts at this decision.
    """

    result: Result
    trace: Trace
    lost: Usage


class TaskWorker(Protocol):
    """Makes decisions. Several threads may call it at the same time."""

    def decide(self, task: Task) -> DecisionRecord | None:
        """Make and judge one decision. An outage or a bug ends the decision and raises no error.

        If another process makes the decision, return None. The caller must then store nothing.
        """

    def close(self) -> None:
        """Close all databases. Do not call this method while a decision is being made."""


class Worker:
    """Decides questions on their databases.

    Parameters
    ----------
    setup
        The questions, databases, deciders and the judge.
    most_open
        Number of databases that stay open. Databases in use are never closed, so more can be open.
    """

    def __init__(self, setup: Setup, most_open: int) -> None:
        self._setup = setup
        self._judge = setup.judge
        # Add one: between two decisions, a thread does not use its database, but needs it soon.
        self._databases = OpenDatabases(setup.open, most_open + 1)

    def decide(self, task: Task) -> DecisionRecord:
        """Make and judge one decision."""
        return decide_task(task, partial(self._make, task), partial(self._assess, task))

    def close(self) -> None:
        """Close all databases. Do not call this method while a decision is being made."""
        self._databases.close()

    def _make(self, task: Task) -> Decision:
        """Make one decision without judging it."""

        def ask() -> Decision:
            decider = self._setup.deciders[task.epoch - 1][task.decider]
            with self._databases.of(task) as database:
                return require_decision(decider.decide(task.question, database), task.decider)

        with attempt_by(*task.key.requester):
            return decide_or_end(ask, str(task.key))

    def _assess(self, task: Task, decision: Decision) -> Assessment:
        if decision.ending is not Ending.ANSWERED or task.question.answer_form != "statement":
            return self._judge.judge(task.question, decision)
        with self._databases.of(task) as database:
            return self._judge.judge(task.question, decision, database)


def decide_task(
    task: Task,
    make: Callable[[], Decision],
    judge: Callable[[Decision], Assessment] = Assessment.of_ending,
) -> DecisionRecord:
    """Make and judge one decision inside its OpenTelemetry span.

    Parameters
    ----------
    task
        The task.
    make
        A function that makes the decision.
    judge
        A function that judges the decision. By default, the decision is not judged.
    """
    time_asked = utc_now()
    with decision_span(task.key, task.question, task.situation, model=task.model) as span:
        decision = make()
        try:
            assessment = judge(decision)
        except Exception as error:  # noqa: BLE001  (a simulator's bug ends one decision)
            decision = end_decision(decision, error)
            assessment = Assessment.of_ending(decision)
        result = Result.of(task, decision, assessment)
        provenance = Provenance.of(decision, task.key.id, time_asked)
        about = {"kind": task.kind, "model": task.model, "provenance": provenance}
        trace = Trace.of(task.key, decision, **about)
        describe_decision(span, decision)
    return DecisionRecord(result, trace, decision.lost)


def run_span(setup: Setup) -> AbstractContextManager[Span]:
    """Return a context manager that opens the span of a run."""
    name = setup.questions.name
    return start_span(
        f"invoke_workflow {name}",
        {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.agent.name": name,
            "gen_ai.workflow.name": name,  # name in earlier versions of the conventions
        },
    )


@contextmanager
def decision_span(
    key: DecisionKey,
    question: Question,
    situation: str | None = None,
    *,
    decision: str | None = None,
    model: str | None = None,
) -> Iterator[Span]:
    """Open the span of a decision.

    While the span is open, audit records of statements contain the id of the decision.
    """
    named = decision or key.id
    span = start_span(
        f"invoke_agent {key.decider}",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": key.decider,
            "gen_ai.request.model": None if model == NO_MODEL else model,
            "dqa.question": key.question,
            "dqa.scenario": question.scenario,
            "dqa.database": key.database,
            "dqa.epoch": key.epoch,
            "dqa.situation": situation,
        },
    )
    with while_deciding(CurrentDecision(named, key.question, key.decider, model)), span as opened:
        yield opened


def describe_decision(span: Span, decision: Decision) -> None:
    """Add the ending and the usage of a decision to a span."""
    span.set(
        {
            "dqa.ending": decision.ending.value,
            "gen_ai.usage.input_tokens": decision.usage.input_tokens,
            "gen_ai.usage.output_tokens": decision.usage.output_tokens,
        }
    )
    if decision.ending in _FAILED:
        span.fail(decision.ending.value)


@dataclass
class _OpenDatabase:
    """The database of a group of tasks (None until it is open), and the number of its users."""

    database: Database | None = None
    users: int = 0
    opening: threading.Lock = field(default_factory=threading.Lock)


class OpenDatabases:
    """The open databases of a worker. The least recently used databases are closed first.

    Parameters
    ----------
    open_for
        A function that opens the database of a task.
    most
        Number of databases that stay open. Databases in use are never closed, so more can be open.
    """

    def __init__(self, open_for: Callable[[Task], Database], most: int) -> None:
        self._open_for = open_for
        self._most = most
        self._lock = threading.Lock()
        self._open: dict[Group, _OpenDatabase] = {}

    @contextmanager
    def of(self, task: Task) -> Iterator[Database]:
        """Yield the database of a task. If it is not open, open it first."""
        with self._lock:
            one = self._open.pop(task.group, None) or _OpenDatabase()
            self._open[task.group] = one  # the most recently used group is last
            one.users += 1
            unused = [group for group, other in self._open.items() if not other.users]
            excess = max(0, len(self._open) - self._most)
            closing = [self._open.pop(group) for group in unused[:excess]]
        _close(closing)
        try:
            with one.opening:
                if one.database is None:
                    one.database = self._open_for(task)
            yield one.database
        finally:
            with self._lock:
                one.users -= 1

    def close(self) -> None:
        """Close all databases."""
        closing = list(self._open.values())
        self._open.clear()
        _close(closing)


def _close(opened: Iterable[_OpenDatabase]) -> None:
    for one in opened:
        if one.database is not None:
            with suppress(Exception):  # no decision uses the database any more
                one.database.close()
