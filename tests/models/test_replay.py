"""Whole runs, of questions in the same words, are played byte for byte as they were recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from dqa import plugins
from dqa.api.stored import read_run
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Situation
from dqa.deciders.base import Settings
from dqa.evaluation.options import RunOptions
from dqa.evaluation.prepare import Setup
from dqa.evaluation.results import Result
from dqa.evaluation.score import Judge
from dqa.loaders.generator.generate import generate
from dqa.models.cassette import Cassette, RecordedModel
from dqa.models.policy import Budget, CallPolicy, Clock, Retry
from dqa_simulators.building.generator import BuildingSize
from tests.evaluation.records import decide_all, open_store
from tests.models.conftest import NAME, Speaking
from tests.models.scripts import Moody

TIMES = ("seconds", "provenance")
DECIDERS = ("iterrag", "self-consistency")
THREADS = 8
STEADY: Mapping[str, Any] = {n: plugins.backend(n) for n in ("sqlite", "duckdb")}
Left = tuple[bytes, dict[str, Any]]
"""What a run leaves behind: its results to the byte, and its traces."""


class Unsteady:
    """SQLite whose server goes away at some statements that a model wrote, each time for one."""

    kind: Kind = "relational"

    def __init__(self, *outages: int) -> None:
        self.struck = self._asked = 0
        self._outages = outages
        self._lock = threading.Lock()

    def load(self, situation: Situation, /) -> Database:
        """Load a situation into a database that is away now and then."""
        database = plugins.backend("sqlite").load(situation)
        query = database.query

        def querying(statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
            with self._lock:
                written = statement.removeprefix("SELECT ").isdigit()
                self._asked += written
                away = written and self._asked in self._outages
                self.struck += away
            if away:
                raise DatabaseUnavailableError("the server is away")
            return query(statement, limits)

        database.query = querying  # type: ignore[method-assign]
        return database


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    """Four questions in the same words, on four worlds."""
    made = generate(("building",), count=4, seed=3, sizes=(BuildingSize(6, 8, 6, 9),))
    text = made.questions[0].text
    return replace(made, questions=tuple(replace(q, text=text) for q in made.questions))


def run(
    questions: QuestionSet,
    cassette: Cassette,
    folder: Path,
    workers: int,
    *,
    inner: BaseChatModel | None = None,
    targets: Mapping[str, Any] = STEADY,
    tokens: int | None = None,
    resume: bool = False,
) -> tuple[Result, ...]:
    """Make every decision and keep it in a folder."""
    budget = None if tokens is None else Budget(tokens)
    policy = CallPolicy(Retry(0), budget=budget, clock=Clock(sleep=lambda _: None))
    model = RecordedModel(model=NAME, cassette=cassette, inner=inner, parameters={"temperature": 0})
    settings = Settings(calls=policy)
    setup = Setup(
        questions,
        targets,
        ({name: plugins.decider(name)(model, settings) for name in DECIDERS},),
        dict.fromkeys(DECIDERS, NAME),
        Judge(questions, "paper"),
    )
    store = open_store(folder, retry_failed=resume)
    options = RunOptions(workers=workers)
    results = decide_all(setup, store, options)
    cassette.close()
    return results


def outcome(folder: Path) -> Left:
    """A run's results to the byte, and its traces without times; the last one of a decision."""
    traces = {}
    for line in (folder / "traces.jsonl").read_text("utf-8").splitlines():
        trace = json.loads(line, object_hook=lambda o: {k: o[k] for k in o if k not in TIMES})
        traces[f"{trace['question']} {trace['database']} {trace['decider']}"] = trace
    return (folder / "results.jsonl").read_bytes(), traces


def assert_played(
    questions: QuestionSet, tape: Path, made: Left, counts: Sequence[int] = (THREADS,)
) -> None:
    """Assert that a cassette gives the same run with these numbers of workers."""
    for workers in counts:
        folder = tape.with_name(f"played {workers}")
        run(questions, Cassette.replay(tape, [NAME]), folder, workers)
        played = outcome(folder)
        assert played[0] == made[0]
        assert played[1] == made[1]


def entries(tape: Path) -> list[dict[str, Any]]:
    """The requests on a cassette."""
    lines = map(json.loads, tape.read_text("utf-8").splitlines())
    return [line for line in lines if "request" in line]


def test_questions_in_the_same_words_keep_their_replies_apart(
    questions: QuestionSet, tmp_path: Path
) -> None:
    """Recorded with few threads or many, played with few or many."""
    tape, mood = tmp_path / "tape.jsonl", Moody()
    cassette = Cassette.record(tape, [NAME])
    run(questions, cassette, tmp_path / "made", THREADS, inner=Speaking(say=mood.reply))
    askers: dict[str, set[str]] = {}
    for entry in entries(tape):
        askers.setdefault(entry["request"], set()).add(" ".join(entry["asker"]))
    assert max(map(len, askers.values())) >= 2
    assert len(entries(tape)) == mood.said
    assert_played(questions, tape, outcome(tmp_path / "made"), (1, THREADS))


@pytest.mark.slow
def test_outages_are_not_on_a_cassette_and_cost_no_reply(
    questions: QuestionSet, tmp_path: Path
) -> None:
    """A resumed run does not ask again what was asked before, and plays it as asked."""
    tape, mood, unsteady = tmp_path / "tape.jsonl", Moody(), Unsteady(1, 2, 4)
    away: Mapping[str, Any] = {"sqlite": unsteady, "duckdb": unsteady}
    for is_again in (False, True):
        run(
            questions,
            Cassette.record(tape, [NAME], resume=is_again),
            tmp_path / "made",
            THREADS,
            inner=Speaking(say=mood.reply),
            targets=away,
            resume=is_again,
        )
        assert unsteady.struck == 3
    made = read_run(tmp_path / "made")
    assert made.counts.judged == len(made.results)
    assert mood.said == len(entries(tape)) == sum(one.usage.calls for one in made.results)
    steady = {name: plugins.backend("sqlite") for name in away}
    folder = tmp_path / "played"
    run(questions, Cassette.replay(tape, [NAME]), folder, 1, targets=steady)
    assert outcome(folder) == outcome(tmp_path / "made")
