"""Runs share databases, lose nothing and call failures what they are."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa import plugins
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.evaluation.execution import compare_statements
from dqa.evaluation.games import GameSetup
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.prepare import PreparedRun
from dqa.evaluation.results import Outcome
from dqa.loaders.reading import read_questions
from tests.evaluation.conftest import Rule
from tests.evaluation.store_contract import Answer
from tests.text_to_sql import write_bird


class Loading(dqa.Watcher):
    """Counts what a run loads into SQLite and has open; refuses while the server is away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = False
        self.loaded: Counter[str] = Counter()
        self.open_now = self.most_open = 0
        self.is_away = False
        self._lock = threading.Lock()
        kind: Any = type(plugins.backend("sqlite"))
        self._load = kind.load

        def load(*given: Any, **named: Any) -> dqa.Database:
            return self.load(*given, **named)

        monkeypatch.setattr(kind, "load", load)

    def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
        """Count from now on."""
        self.begun = True

    def load(self, backend: Any, situation: Situation, *given: Any, **named: Any) -> dqa.Database:
        """Load, and count."""
        if not self.begun:
            return self._load(backend, situation, *given, **named)  # type: ignore[no-any-return]
        with self._lock:
            self.loaded[situation.content_hash] += 1
        if self.is_away:
            raise DatabaseUnavailableError("the server is away")
        database: Any = self._load(backend, situation, *given, **named)
        close = database.close

        def closing() -> None:
            with self._lock:
                self.open_now -= 1
            close()

        with self._lock:
            self.open_now += 1
            self.most_open = max(self.most_open, self.open_now)
        database.close = closing
        return database  # type: ignore[no-any-return]


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> Loading:
    """Watch what SQLite loads."""
    return Loading(monkeypatch)


def test_each_situation_is_loaded_once_and_closed(loading: Loading, questions: QuestionSet) -> None:
    """However many deciders and threads share it; no more are open than needed."""
    deciders = [Rule(name, lambda *_: "") for name in ("one", "two")]
    options, frozen = RunOptions(workers=2), gc.get_freeze_count()
    run = dqa.evaluate(questions, deciders, databases="sqlite", options=options, watcher=loading)
    assert len({result.key for result in run.results}) == 12
    assert list(loading.loaded.values()) == [1] * 4
    assert loading.open_now == 0
    assert loading.most_open <= 3
    assert gc.get_freeze_count() <= frozen  # the collection of the tests freezes objects


def test_a_server_that_is_away_is_no_wrong_answer_and_is_asked_again_by_a_resumed_run(
    loading: Loading, questions: QuestionSet, official: Answer, tmp_path: Path
) -> None:
    """Each decision tries the database once."""
    loading.is_away = True
    how: dict[str, Any] = {"databases": "sqlite", "out": tmp_path / "run", "watcher": loading}
    run = dqa.evaluate(questions, Rule("one", official), **how)
    assert {r.outcome for r in run.results} == {Outcome.INFRASTRUCTURE}
    assert {r.error for r in run.results} == {"the server is away"}
    assert loading.loaded.total() == len(run.results)
    loading.is_away = False
    run = dqa.evaluate(questions, Rule("one", official), retry_failed=True, **how)
    assert {result.outcome for result in run.results} == {Outcome.CORRECT}


class Stumbling(Decider):
    """Uses ten tokens and finds the database away, so many times; then answers."""

    name = "stumbling"

    def __init__(self, times: int) -> None:
        self.left = times

    def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
        """Answer with the first candidate."""
        ending, outage = Ending.ANSWERED, None
        if self.left:
            self.left -= 1
            ending, outage = Ending.INFRASTRUCTURE, "database"
        choice = (question.candidates or ("x",))[0]
        used = Usage(10, 1, 1)
        return Decision(ending, choice=choice, usage=used, outage=outage)  # type: ignore[arg-type]


def test_the_time_of_a_decider_that_does_not_measure_it_is_measured(
    questions: QuestionSet, tmp_path: Path
) -> None:
    """From the call to the returned decision."""

    class Slow(Decider):
        name = "slow"

        def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
            threading.Event().wait(0.05)
            return Decision(Ending.ANSWERED, answer="x")

    questions = questions.select(limit=1)
    run = dqa.evaluate(questions, [Slow()], databases="sqlite", out=tmp_path / "run")
    assert run.seconds
    assert min(run.seconds.values()) >= 0.05


def test_what_a_run_used_before_it_was_resumed_is_spent(
    questions: QuestionSet, tmp_path: Path
) -> None:
    """What was given up, and is decided again, was paid for, too."""
    decider = Stumbling(2)
    calls = CallOptions(price_input=1_000_000.0, price_output=0.0)
    how: dict[str, Any] = {
        "out": tmp_path / "run",
        "options": RunOptions(workers=1),
        "calls": calls,
    }
    first = dqa.evaluate(questions, decider, databases="sqlite", **how)
    assert (first.counts.failed, first.spent.calls) == (2, 6)
    with pytest.raises(dqa.UsageError):  # an own decider is needed again
        dqa.evaluate(resume=True, **how)
    again = dqa.evaluate(questions, decider, resume=True, **how)
    assert (again.counts.failed, again.spent.calls) == (0, 8)
    assert again.spent.cost == 80.0
    assert dqa.read_run(tmp_path / "run").spent == again.spent


def test_a_judge_whose_database_fails_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outage is that of the decision."""
    left = iter([True, True])

    class Asking(Decider):
        name = "asking"
        answer_forms = ("statement",)

        def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
            return Decision(Ending.ANSWERED, "SELECT 1")

    def fail(*arguments: Any) -> Any:
        if next(left, False):
            raise DatabaseUnavailableError("the server is away")
        return compare_statements(*arguments)

    questions = read_questions(write_bird(tmp_path / "bird"))
    how: dict[str, Any] = {"options": RunOptions(workers=1, isolation="none")}
    undisturbed = dqa.evaluate(questions, Asking(), **how)
    monkeypatch.setattr("dqa.evaluation.score.compare_statements", fail)
    first, second, *others = dqa.evaluate(questions, Asking(), **how).results
    assert {first.outcome, second.outcome} == {Outcome.INFRASTRUCTURE}
    assert others == list(undisturbed.results[2:])
    assert {result.outcome for result in undisturbed.results} <= {Outcome.CORRECT, Outcome.WRONG}
