"""One bug ends one decision, is never scored, and is reported with its traceback."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import plugins
from dqa.core.decision import Ending, Usage
from dqa.core.errors import DatabaseUnavailableError, StatementError, UnparsableReplyError
from dqa.core.question_set import QuestionSet
from dqa.evaluation.results import Outcome
from dqa.evaluation.runner import MOST_IN_A_ROW
from dqa.models.scripted.steps import Step
from dqa.testing import query
from dqa.testing.models import PreparedReplies, Request
from tests.evaluation.conftest import Rule
from tests.evaluation.store_contract import ONE, Answer


@pytest.fixture
def outcomes(questions: QuestionSet) -> Callable[..., list[Outcome]]:
    """Evaluate a decider, and return how each decision ended."""

    def outcomes(answer: Answer, **how: Any) -> list[Outcome]:
        given = {"databases": "sqlite", "options": ONE, **how}
        run = dqa.evaluate(questions, Rule("one", answer), **given)
        return [result.outcome for result in run.results]

    return outcomes


def test_a_bug_of_a_decider_ends_one_decision(
    questions: QuestionSet, official: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not judged, its traceback is in the trace without secrets, and the run continues.

    The report counts the other decisions, whose rows a limit cut.
    """
    monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")

    def answer(question: dqa.Question, database: dqa.Database) -> str:
        if question.key == "locating/2":
            raise ZeroDivisionError("hush-hush-1234 is no divisor")
        return official(question, database)

    many = "WITH v(x) AS (VALUES (1), (2), (3)) SELECT 1 FROM v a, v b, v c, v d, v e"
    rule = Rule("one", answer, many)
    run = dqa.evaluate(questions, rule, databases="sqlite", out=tmp_path / "run")
    assert {row.scenario: row.cut for row in run.summaries} == {"locating": 2, "building": 3}
    assert "dqa.Limits(rows=" in run.report()
    ended = {result.question: result.outcome for result in run.results}
    assert ended.pop("locating/2") is Outcome.CRASHED
    assert list(ended.values()) == [Outcome.CORRECT] * 5
    (summary,) = [row for row in run.summaries if row.scenario == "locating"]
    assert (summary.crashed, summary.judged, summary.accuracy) == (1, 2, 1.0)
    (trace,) = run.select("locating/2")
    assert "in answer" in trace.events[0].data["traceback"]
    assert "ZeroDivisionError: *** is no divisor" in trace.events[0].data["traceback"]
    assert trace.error == "ZeroDivisionError: *** is no divisor"
    assert "one at locating/2 on sqlite: ZeroDivisionError: *** is no divisor" in run.report()


def test_a_decision_with_a_field_of_a_wrong_type_is_a_bug_of_its_decider(
    questions: QuestionSet, official: Answer, tmp_path: Path
) -> None:
    """It ends one decision; the problem names the decider and the field."""

    def answer(question: dqa.Question, database: dqa.Database) -> Any:
        return 7 if question.key == "locating/2" else official(question, database)

    run = dqa.evaluate(questions, Rule("one", answer), databases="sqlite", out=tmp_path / "run")
    assert [result.outcome for result in run.results].count(Outcome.CORRECT) == 5
    (trace,) = run.select("locating/2")
    assert trace.ending is Ending.CRASHED
    assert "'one' returned an invalid Decision: answer" in (trace.error or "")


def test_only_crashes_in_a_row_stop_a_run(questions: QuestionSet, official: Answer) -> None:
    """What is broken for every question is reported once, and not asked for ever."""
    numbers = count()

    def broken(*_: object) -> str:
        next(numbers)
        raise RuntimeError("no luck")

    def flaky(question: dqa.Question, database: dqa.Database) -> str:
        return broken() if next(numbers) % 3 else official(question, database)

    def evaluate(answer: Answer) -> dqa.Run:
        deciders = [Rule(f"d{number}", answer) for number in range(4)]
        return dqa.evaluate(questions, deciders, databases="sqlite", options=ONE)

    with pytest.raises(dqa.CrashError, match=f"{MOST_IN_A_ROW} decisions in a row crashed"):
        evaluate(broken)
    assert next(numbers) == MOST_IN_A_ROW
    assert evaluate(flaky).counts.failed > MOST_IN_A_ROW


def test_a_bug_of_a_simulator_ends_the_decisions_that_it_judges(
    outcomes: Callable[..., list[Outcome]], official: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plug-in's exception is no verdict."""

    def broken(*_: object) -> None:
        raise KeyError("goods7")

    monkeypatch.setattr(type(plugins.simulator("building")), "outcomes", broken)
    found = outcomes(official)
    assert (found.count(Outcome.CORRECT), found.count(Outcome.CRASHED)) == (3, 3)


def test_a_failure_after_paid_replies_loses_none_of_them(
    questions: QuestionSet, official: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage, evidence and events stay, whether the model or the judge failed; an outage may end."""

    def reply(request: Request) -> Step:
        if request.number % 2 == 0:
            return query("SELECT 1")
        raise ZeroDivisionError("a bug of the model's own class")

    asked = dqa.evaluate(
        questions,
        "planrag",
        model=PreparedReplies(reply),
        databases="sqlite",
        options=ONE,
        out=tmp_path / "run",
    )
    for trace in asked.traces:
        assert (trace.ending, trace.steps, trace.usage.calls) == (Ending.CRASHED, 1, 1)
        assert [one.statement for one in trace.evidence] == ["SELECT 1"]
        assert [event.kind for event in trace.events][-2:] == ["retrieval", "crashed"]

    def fail(*_: object) -> None:
        raise DatabaseUnavailableError("The judge's database went away.")

    monkeypatch.setattr(type(plugins.simulator("building")), "outcomes", fail)
    options = dqa.RunOptions()
    run = dqa.evaluate(questions, Rule("one", official), databases="sqlite", options=options)
    judged = [result for result in run.results if result.scenario == "building"]
    assert {result.outcome for result in judged} == {Outcome.INFRASTRUCTURE}
    assert {(result.usage, result.statements) for result in judged} == {(Usage(10, 5, 1), 1)}
    assert not any(result.answer for result in judged)


def test_an_error_ends_a_decision_as_what_it_is(outcomes: Callable[..., list[Outcome]]) -> None:
    """A bug is a bug, a failing server a failing server; what a user can mend stops the run."""
    errors: dict[Exception, Outcome] = {
        ZeroDivisionError(): Outcome.CRASHED,
        StatementError("no such table"): Outcome.CRASHED,
        UnparsableReplyError("no action"): Outcome.UNPARSABLE,
        DatabaseUnavailableError("away"): Outcome.INFRASTRUCTURE,
    }

    raised = iter([*errors, *errors])

    def fail(*_: object) -> str:
        raise next(raised)

    def stop(*_: object) -> str:
        raise dqa.UsageError("the key is wrong")

    options = dqa.RunOptions(workers=1)
    assert outcomes(fail, options=options) == [*errors.values(), *errors.values()][:6]
    with pytest.raises(dqa.UsageError, match="the key"):
        outcomes(stop)
