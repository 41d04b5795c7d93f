"""A store with several processes, broken connections and batches that end with an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

import dqa
from dqa.core.decision import Usage
from dqa.core.question_set import QuestionSet
from dqa.databases.store_locations import write
from dqa.evaluation.decide import DecisionRecord
from dqa.evaluation.location import RunLocation
from dqa.evaluation.prepare import Task
from dqa.evaluation.results import DecisionKey
from dqa.evaluation.stored_runs import RunReader
from tests.evaluation.conftest import Rule
from tests.evaluation.records import open_store


@pytest.fixture
def made(questions: QuestionSet, tmp_path: Path) -> dict[DecisionKey, DecisionRecord]:
    """Return six decisions that were made elsewhere."""
    run = dqa.evaluate(questions, Rule("one", lambda *_: "x"), databases="sqlite", out=tmp_path)
    traces = {trace.key: trace for trace in run.traces}
    return {
        result.key: DecisionRecord(result, traces[result.key], Usage()) for result in run.results
    }


@pytest.fixture
def tasks(questions: QuestionSet) -> list[Task]:
    """Return their tasks."""
    return [Task(question, "sqlite", "one", "world") for question in questions.questions]


def test_a_run_that_another_process_makes_is_not_discarded(
    made: dict[DecisionKey, DecisionRecord], tasks: list[Task], tmp_path: Path
) -> None:
    """The first process begins it and fails before its first decision."""
    first, second = (open_store(tmp_path / "run") for _ in range(2))
    second.plan(tasks)
    ((task,),) = second.claim(1)
    second.add(*made[task.key])
    first.close(discard=True)
    second.close()
    stored = RunReader(RunLocation.of_folder(tmp_path / "run"))
    assert [result.key for result in stored.results()] == [task.key]


def test_a_commit_without_a_reply_loses_and_doubles_nothing(
    made: dict[DecisionKey, DecisionRecord],
    tasks: list[Task],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The connection breaks between each commit and its reply; the transaction is repeated."""
    store = open_store(tmp_path / "run")
    store.plan(tasks)
    breaks = [False]

    @contextmanager
    def breaking(engine: Engine) -> Iterator[Connection]:
        breaks[0] = not breaks[0]
        with write(engine) as connection:
            yield connection
        if breaks[0]:
            raise OperationalError("COMMIT", None, ConnectionError("gone"))

    monkeypatch.setattr("dqa.evaluation.store.write", breaking)
    monkeypatch.setattr("dqa.evaluation.store._PAUSE_SECONDS", 0.0)
    while batches := store.claim(2, 2):
        for task in chain(*batches):
            store.add(*made[task.key])
    assert store.is_finished()
    assert {result.key for result in store.results()} == set(made)
    assert (store.added, store.lost) == (len(made), Usage())
    store.close()


def test_batches_are_shared_out_in_the_order_of_the_plan(tmp_path: Path) -> None:
    """Three workers get tasks of seven databases."""
    asked = dqa.generate(("locating",), count=7, seed=1, per_database=1).questions
    store = open_store(tmp_path / "run")
    store.plan([Task(question, "sqlite", "one", question.situation) for question in asked])
    batches = store.claim(32, 3)
    assert list(map(len, batches)) == [3, 3, 1]
    assert [task.key.question for task in chain(*batches)] == [one.key for one in asked]
    assert not store.claim(32)
    store.close(discard=True)
