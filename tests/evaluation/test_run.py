"""Runs share databases, lose nothing and call failures what they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import dqa
from dqa import plugins
from dqa.core.database import Database, Kind
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.outages import Patience
from dqa.evaluation.plan import Setup, Task, plan
from dqa.evaluation.results import Outcome
from dqa.evaluation.run import carry_out, evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore, RunStore
from tests.evaluation.records import run_record

Answers = Callable[[Question, Database], str]


class CountingBackend:
    """SQLite that remembers what it loaded and how many databases were open at once."""

    name = "counting"
    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL (SQLite)"

    def __init__(self, refuse: bool = False) -> None:
        self.loaded: list[str] = []
        self.open_now = self.most_open = 0
        self._refuse = refuse
        self._lock = threading.Lock()

    def recover(self) -> None:
        self._refuse = False

    def accepts(self, location: str) -> bool:
        return bool(location)

    def open(self, location: str) -> Database:
        return plugins.backend("sqlite").open(location)

    def load(self, situation: Situation, location: str | None = None) -> Database:
        if self._refuse:
            raise DatabaseUnavailableError("the server is away")
        database = plugins.backend("sqlite").load(situation, location)
        with self._lock:
            self.loaded.append(situation.content_hash)
            self.open_now += 1
            self.most_open = max(self.most_open, self.open_now)
        close = database.close

        def closing() -> None:
            with self._lock:
                self.open_now -= 1
            close()

        database.close = closing  # type: ignore[method-assign]
        return database


def test_each_situation_is_loaded_once_and_closed(make_setup: Callable[..., Setup]) -> None:
    """However many deciders and threads share it, and no more are open than needed."""
    backend = CountingBackend()
    setup = replace(make_setup(one=lambda *_: "", two=lambda *_: ""), targets={"counting": backend})
    done: list[Task] = []
    carry_out(plan(setup), setup, lambda task, _: done.append(task), RunOptions(workers=2))
    assert len(backend.loaded) == len(set(backend.loaded)) == 4
    assert len(done) == 12
    assert backend.open_now == 0
    assert backend.most_open <= 3


def test_a_failing_server_is_no_wrong_answer(make_setup: Callable[..., Setup]) -> None:
    """A database that cannot be had ends its runs as infrastructure failures, with the reason."""
    backend = CountingBackend(refuse=True)
    setup = replace(make_setup(one=lambda *_: ""), targets={"counting": backend})
    judge = Judge(setup.questions, "paper")
    results = evaluate(setup, judge, RunStore(), RunOptions(workers=1, patience=0.0))
    assert {r.outcome for r in results} == {Outcome.INFRASTRUCTURE}
    assert {r.error for r in results} == {"the server is away"}


def test_any_number_of_workers_leaves_the_same_results(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """Results stand in the order of the plan, whoever was faster."""
    files = []
    for workers in (1, 4):
        setup = make_setup(one=official, two=lambda *_: "none")
        store = FolderStore(tmp_path / str(workers), run_record())
        results = evaluate(
            setup, Judge(setup.questions, "paper"), store, RunOptions(workers=workers)
        )
        assert [r.key for r in results] == [t.key for t in plan(setup)]
        files.append((tmp_path / str(workers) / "results.jsonl").read_bytes())
    assert files[0] == files[1]
    assert b"seconds" not in files[0]


def test_a_run_that_is_kept_nowhere_writes_no_lines(make_setup: Callable[..., Setup]) -> None:
    """They would be worked out, and held, for nobody."""
    setup = make_setup(one=lambda *_: "none")
    results = evaluate(setup, Judge(setup.questions, "paper"), RunStore())
    assert len(results) == 6
    assert not any("json_line" in vars(result) for result in results)


def test_an_interrupted_run_goes_on_where_it_stopped(
    make_setup: Callable[..., Setup], official: Answers, tmp_path: Path
) -> None:
    """What was decided is not asked again, and the end is the same as without the interrupt."""
    asked: list[str] = []

    def stopping(question: Question, _: Database) -> str:
        asked.append(question.key)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return official(question, _)

    setup = make_setup(one=stopping)
    judge = Judge(setup.questions, "paper")
    with pytest.raises(KeyboardInterrupt):
        evaluate(setup, judge, FolderStore(tmp_path / "a", run_record()))
    results = evaluate(setup, judge, FolderStore(tmp_path / "a", run_record(), resume=True))
    assert len(results) == 6
    assert len(asked) == 7
    evaluate(setup, judge, FolderStore(tmp_path / "b", run_record()))
    assert (tmp_path / "a/results.jsonl").read_bytes() == (
        tmp_path / "b/results.jsonl"
    ).read_bytes()


def test_a_database_that_comes_back_is_asked_again(
    make_setup: Callable[..., Setup], official: Answers
) -> None:
    """A restarted server costs time, no decision."""
    backend = CountingBackend(refuse=True)
    setup = replace(make_setup(one=official), targets={"counting": backend})
    threading.Timer(0.6, backend.recover).start()
    judge = Judge(setup.questions, "paper")
    results = evaluate(setup, judge, RunStore(), RunOptions(workers=2, patience=30.0))
    assert {result.outcome for result in results} == {Outcome.CORRECT}


def test_a_database_that_stays_away_is_waited_for_once() -> None:
    """Patience belongs to the database, not to each question."""
    patience, attempts = Patience(0.3, threading.Event()), []

    def attempt() -> bool:
        attempts.append(1)
        return False

    patience.retried(attempt)
    assert len(attempts) >= 2
    attempts.clear()
    patience.retried(attempt)
    assert len(attempts) == 1


def test_patience_is_renewed_by_an_answer() -> None:
    """A database that was given up and answers again is waited for at its next outage."""
    patience = Patience(0.3, threading.Event())
    patience.retried(lambda: False)
    patience.retried(lambda: True)
    answers = iter([False, True])
    patience.retried(lambda: next(answers))
    assert next(answers, None) is None


class Stumbling(Decider):
    """Uses ten tokens and finds the database away, as often as it is told; then answers."""

    name = "stumbling"

    def __init__(self, times: int) -> None:
        self.left = times

    def decide(self, question: Question, database: Database) -> Decision:
        """Answer with the first candidate."""
        del database
        ending, outage = Ending.ANSWERED, None
        if self.left:
            self.left -= 1
            ending, outage = Ending.INFRASTRUCTURE, "database"
        choice = (question.candidates or ("x",))[0]
        used = Usage(10, 1, 1)
        return Decision(ending, choice=choice, usage=used, outage=outage)  # type: ignore[arg-type]


def test_what_attempts_used_that_an_outage_ended_is_spent(questions: QuestionSet) -> None:
    """The provider was paid for each."""
    one = questions.select(limit=1)
    options = RunOptions(patience=30.0, workers=1)
    run = dqa.evaluate(one, Stumbling(2), options=options, databases=("sqlite",))
    assert run.counts.judged == len(run.results) == 2
    assert {result.usage.calls for result in run.results} == {1}, "each as if nothing had happened"
    assert (run.spent.input_tokens, run.spent.output_tokens, run.spent.calls) == (40, 4, 4)


def test_what_a_run_used_before_it_went_on_is_spent(questions: QuestionSet, tmp_path: Path) -> None:
    """What was given up, and is decided again, was paid for, too."""
    decider = Stumbling(2)
    calls = CallOptions(price_input=1_000_000.0, price_output=0.0)
    kept = {"out": tmp_path / "run", "options": RunOptions(patience=0.0, workers=1), "calls": calls}
    first = dqa.evaluate(questions, decider, databases=("sqlite",), **kept)  # type: ignore[arg-type]
    assert (first.counts.failed, first.spent.calls) == (2, 6)
    again = dqa.evaluate(questions, decider, resume=True, **kept)  # type: ignore[arg-type]
    assert (again.counts.failed, again.spent.calls) == (0, 8)
    assert again.spent.cost == 80.0
    assert dqa.read_run(tmp_path / "run").spent == again.spent
    assert "Spent: 80 tokens in, 8 out, 8 calls; cost 80.0000." in again.lines()
