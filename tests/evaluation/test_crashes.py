"""One bug ends one decision, is never scored, and is told with its traceback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import (
    CrashError,
    DatabaseUnavailableError,
    StatementError,
    UnparsableReplyError,
    UsageError,
)
from dqa.core.events import EndingEvent
from dqa.core.question import Question
from dqa.core.situation import Situation
from dqa.evaluation.crashes import MOST_IN_A_ROW, ended_by
from dqa.evaluation.folder_lines import read_results, read_traces
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.results import Outcome
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.statistics import summarise
from dqa.evaluation.store import FolderStore, RunStore
from tests.evaluation.records import run_record

Answers = Callable[[Question, Database], str]
ONE = RunOptions(workers=1)


def broken_at(wrong: str, official: Answers) -> Answers:
    """Answer rightly, and divide by zero at one question."""

    def answer(question: Question, database: Database) -> str:
        if question.key == wrong:
            raise ZeroDivisionError("hush-hush-1234 is no divisor")
        return official(question, database)

    return answer


def test_a_bug_of_a_decider_ends_one_decision(
    make_setup: Callable[..., Setup],
    official: Answers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is not judged, its traceback is in the trace without secrets, and the run goes on."""
    monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")
    setup = make_setup(one=broken_at("locating/2", official))
    store = FolderStore(tmp_path / "run", run_record())
    results = evaluate(setup, Judge(setup.questions, "paper"), store, RunOptions(workers=3))
    outcomes = {result.question: result.outcome for result in results}
    assert len(outcomes) == 6
    assert outcomes.pop("locating/2") is Outcome.CRASHED
    assert set(outcomes.values()) == {Outcome.CORRECT}
    (summary,) = [row for row in summarise(results) if row.scenario == "locating"]
    assert (summary.crashed, summary.judged, summary.accuracy) == (1, 2, 1.0)
    (trace,) = [found for found in read_traces(tmp_path / "run") if found.ending is Ending.CRASHED]
    (event,) = trace.events
    assert isinstance(event, EndingEvent)
    assert event.traceback is not None
    assert "in answer" in event.traceback
    assert "ZeroDivisionError: *** is no divisor" in event.traceback
    assert trace.error == "ZeroDivisionError: *** is no divisor"
    assert [found.key for found in store.crashed] == [trace.key]
    assert "hush-hush" not in (tmp_path / "run" / "results.jsonl").read_text("utf-8")


def test_a_resumed_run_asks_again_what_crashed(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """And nothing else."""
    setup = make_setup(one=broken_at("locating/2", official))
    judge = Judge(setup.questions, "paper")
    evaluate(setup, judge, FolderStore(tmp_path / "run", run_record()), ONE)
    asked: list[str] = []

    def mended(question: Question, database: Database) -> str:
        asked.append(question.key)
        return official(question, database)

    store = FolderStore(tmp_path / "run", run_record(), resume=True)
    results = evaluate(make_setup(one=mended), judge, store, ONE)
    assert asked == ["locating/2"]
    assert {result.outcome for result in results} == {Outcome.CORRECT}
    assert list(results) == read_results(tmp_path / "run")


def test_the_first_crash_stops_a_run_that_is_to_fail_fast(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """What was decided until then is kept, the crash too."""
    setup = make_setup(one=broken_at("locating/2", official))
    options = RunOptions(workers=1, fail_fast=True)
    store = FolderStore(tmp_path / "run", run_record())
    with pytest.raises(CrashError, match="crashed, the last at locating/2, decided by one"):
        evaluate(setup, Judge(setup.questions, "paper"), store, options)
    kept = {result.question: result.outcome for result in read_results(tmp_path / "run")}
    assert kept["locating/2"] is Outcome.CRASHED
    assert len(kept) < 6


def test_ten_crashes_in_a_row_stop_a_run(make_setup: Callable[..., Setup]) -> None:
    """What is broken for every question is said once, and not asked for ever."""
    asked: list[str] = []

    def broken(question: Question, _: Database) -> str:
        asked.append(question.key)
        raise RuntimeError("no luck")

    setup = make_setup(one=broken, two=broken, three=broken)
    with pytest.raises(CrashError, match=f"{MOST_IN_A_ROW} decisions in a row crashed"):
        evaluate(setup, Judge(setup.questions, "paper"), RunStore(), ONE)
    assert len(asked) == MOST_IN_A_ROW


def test_crashes_that_are_not_in_a_row_stop_nothing(
    make_setup: Callable[..., Setup], official: Answers
) -> None:
    """However many there are."""
    every_other = iter(range(100))

    def flaky(question: Question, database: Database) -> str:
        if next(every_other) % 2:
            raise RuntimeError("no luck")
        return official(question, database)

    setup = make_setup(**{f"d{number}": flaky for number in range(6)})
    results = evaluate(setup, Judge(setup.questions, "paper"), RunStore(), ONE)
    assert sum(result.outcome is Outcome.CRASHED for result in results) == 18


def test_a_bug_of_a_simulator_ends_the_decision_that_it_judges(
    make_setup: Callable[..., Setup], official: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug-in's exception is no verdict."""
    setup = make_setup(one=official)
    judge = Judge(setup.questions, "paper")

    def broken(*_: Any) -> None:
        raise KeyError("goods7")

    monkeypatch.setattr(type(plugins.simulator("building")), "outcomes", broken)
    results = evaluate(setup, judge, RunStore(), ONE)
    outcomes = {(result.scenario, result.outcome) for result in results}
    assert outcomes == {("locating", Outcome.CORRECT), ("building", Outcome.CRASHED)}


class _BrokenTarget:
    """A driver that raises what no driver should, when it is opened or closed."""

    kind = plugins.backend("sqlite").kind

    def __init__(self, where: str) -> None:
        self._where = where

    def load(self, situation: Situation, /) -> Database:
        if self._where == "open":
            raise RuntimeError("the driver broke")
        database = plugins.backend("sqlite").load(situation)

        def broken() -> None:
            raise RuntimeError("the driver broke")

        database.close = broken  # type: ignore[method-assign]
        return database


@pytest.mark.parametrize("where", ["open", "close"])
def test_a_bug_of_a_driver_ends_the_decisions_that_it_meets(
    make_setup: Callable[..., Setup], official: Answers, where: str
) -> None:
    """Opening one breaks all of its questions, closing one the last of them."""
    setup = replace(make_setup(one=official), targets={"broken": _BrokenTarget(where)})
    results = evaluate(setup, Judge(setup.questions, "paper"), RunStore(), ONE)
    crashed = [result for result in results if result.outcome is Outcome.CRASHED]
    assert len(crashed) == (6 if where == "open" else 4)
    assert {result.error for result in crashed} == {"RuntimeError: the driver broke"}


class _Nothing(Decider):
    name = "nothing"

    def decide(self, question: Question, database: Database) -> Decision:
        return None  # type: ignore[return-value]


def test_a_decider_that_returns_no_decision_crashes(make_setup: Callable[..., Setup]) -> None:
    """What breaks the contract is said by what it returned."""
    setup = replace(make_setup(one=lambda *_: ""), deciders={"one": _Nothing()})
    results = evaluate(setup, Judge(setup.questions, "paper"), RunStore(), ONE)
    assert {result.error for result in results} == {
        "TypeError: the decider 'one' returned no Decision but None"
    }


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ZeroDivisionError(), Ending.CRASHED),
        (StatementError("no such table"), Ending.CRASHED),
        (UnparsableReplyError("no action"), Ending.UNPARSABLE),
        (DatabaseUnavailableError("gone"), Ending.INFRASTRUCTURE),
    ],
)
def test_an_error_ends_a_decision_as_what_it_is(error: Exception, ending: Ending) -> None:
    """A bug is a bug, a failing server a failing server."""
    decision = ended_by(error, 1.5)
    assert (decision.ending, decision.seconds) == (ending, 1.5)
    assert bool(decision.trace) is (ending is Ending.CRASHED)


def test_what_a_user_can_mend_stops_the_run() -> None:
    """A wrong key is wrong for every question."""
    with pytest.raises(UsageError, match="the key"):
        ended_by(UsageError("the key is wrong"))
