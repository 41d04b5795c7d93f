"""What every place that stores runs guarantees: a folder, a file, a server's database."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

import dqa
from dqa.core.database import Database
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.evaluation.games import GameSetup
from dqa.evaluation.prepare import PreparedRun
from dqa.evaluation.results import Outcome
from tests.evaluation.conftest import Rule

Answer = Callable[[Question, Database], str]
ONE = dqa.RunOptions(workers=1)


class StoreContract:
    """The contract; a subclass gives the place of a run that does not exist yet."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        """Return the place of a new run."""
        raise NotImplementedError

    @pytest.fixture
    def make(self, place: str, questions: QuestionSet) -> Callable[..., dqa.Run]:
        """Make the run of a decider, in the place unless another one is named."""

        def make(answer: Answer, **how: Any) -> dqa.Run:
            given = {"databases": "sqlite", "out": place, "options": ONE, **how}
            return dqa.evaluate(questions, Rule("one", answer), **given)

        return make

    def test_a_run_is_read_back_as_it_was_made(
        self, make: Callable[..., dqa.Run], place: str
    ) -> None:
        """Results in the plan's order and traces, to the letter, however many workers made them."""
        text = "no\x00thing 🂡 \ud800 é"
        made = make(lambda *_: text, epochs=2, options=dqa.RunOptions(workers=4))
        alone = make(lambda *_: text, epochs=2, out=None)
        read = dqa.read_run(place)
        assert read.results == made.results == alone.results
        assert read.content_hash == alone.content_hash
        assert {result.answer for result in read.results} == {text}
        assert [trace.key for trace in read.traces] == [result.key for result in read.results]
        for trace in read.traces:
            assert (trace.answer, trace.steps, trace.usage.calls) == (text, 2, 1)
            assert trace.evidence[0].statement == "SELECT 1"
        assert set(read.seconds.values()) == {0.25}
        assert read.spent == made.spent
        assert read.shortcuts == made.shortcuts
        listed = {one.folder: one for one in dqa.find_runs(place.partition("#")[0])}[place]
        assert listed.counts == made.counts

    def test_an_interrupted_run_resumes_and_ends_the_same(
        self, make: Callable[..., dqa.Run], place: str, official: Answer
    ) -> None:
        """No decision is made twice, and a finished run is not made again."""
        asked: list[str] = []

        def stop(question: Question, database: Database) -> str:
            asked.append(question.key)
            if len(asked) == 4:
                assert is_running()
                raise KeyboardInterrupt
            return official(question, database)

        def is_running() -> bool:
            return any(one.running for one in dqa.find_runs(place.partition("#")[0]))

        with pytest.raises(KeyboardInterrupt):
            make(stop)
        assert not is_running()
        assert len(dqa.read_run(place).results) == 3
        resumed = make(stop, resume=True)
        assert len(asked) == 7
        assert resumed.content_hash == make(official, out=None).content_hash
        assert make(stop, resume=True).made == 0
        assert len(asked) == 7

    def test_only_what_failed_or_crashed_is_asked_again(
        self, make: Callable[..., dqa.Run], place: str, official: Answer
    ) -> None:
        """Neither is a wrong answer; what both used was spent all the same."""
        asked: list[str] = []
        errors: dict[str, Exception] = {
            "locating/1": DatabaseUnavailableError("the server is away"),
            "building/2": ZeroDivisionError("hush"),
        }

        def fail(question: Question, database: Database) -> str:
            asked.append(question.key)
            if question.key in errors:
                raise errors[question.key]
            return official(question, database)

        first = make(fail, options=dqa.RunOptions(workers=1))
        ended = {result.question: result.outcome for result in first.results}
        assert ended.pop("locating/1") is Outcome.INFRASTRUCTURE
        assert ended.pop("building/2") is Outcome.CRASHED
        assert set(ended.values()) == {Outcome.CORRECT}
        (crashed,) = first.crashed
        assert "ZeroDivisionError" in crashed.events[0].data["traceback"]
        failed, asked[:] = set(errors), []
        errors.clear()
        again = make(fail, resume=True)
        assert set(asked) == failed
        assert {result.outcome for result in again.results} == {Outcome.CORRECT}
        read = dqa.read_run(place)
        assert read.results == again.results
        assert len(read.traces) == len(again.results)
        assert read.spent.calls >= len(again.results)

    def test_another_run_is_not_resumed(
        self, make: Callable[..., dqa.Run], place: str, official: Answer, questions: QuestionSet
    ) -> None:
        """The error names the settings that differ, or that the questions do; nothing is lost."""
        before = make(official)
        with pytest.raises(dqa.UsageError, match="max_steps was 20 and is now 3"):
            make(official, max_steps=3, resume=True)
        with pytest.raises(dqa.UsageError):
            dqa.evaluate(questions.select(limit=1), Rule("one", official), out=place, resume=True)
        assert dqa.read_run(place).results == before.results

    def test_a_copy_is_the_same_run(
        self, make: Callable[..., dqa.Run], place: str, official: Answer, tmp_path: Path
    ) -> None:
        """In a folder and in a file; no copy overwrites a run."""
        make(official)
        read = dqa.read_run(place)
        places = (str(tmp_path / "copied"), f"{tmp_path / 'copied.db'}#copy")
        for source, copy in zip((place, places[0]), places, strict=True):
            assert str(dqa.copy_run(source, copy)) == copy
            copied = dqa.read_run(copy)
            assert copied.results == read.results
            assert copied.traces == read.traces
            assert copied.record == read.record
            with pytest.raises(dqa.UsageError):
                dqa.copy_run(source, copy)

    def test_no_secret_is_stored(
        self, make: Callable[..., dqa.Run], place: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither a key of the environment nor the password of an address."""
        monkeypatch.setenv("SOME_API_KEY", "hush-hush-1234")
        address = "https://me:pass-word@host/v1"
        make(
            lambda *_: f"hush-hush-1234 at {address}",
            model=dqa.ModelSpec(name="openai:m", base_url=address),
        )
        read = dqa.read_run(place)
        assert read.record is not None
        told = [*read.results, *read.traces, read.record]
        stored = "".join(json.dumps(one.to_json()) for one in told).encode()
        path = Path(place.partition("#")[0])
        if path.exists():
            files = path.iterdir() if path.is_dir() else [path]
            stored += b"".join(file.read_bytes() for file in files)
            assert path.stat().st_mode & 0o077 == 0
        assert b"hush-hush" not in stored
        assert b"pass-word" not in stored
        assert b"***" in stored

    def test_a_run_in_which_nothing_was_decided_leaves_nothing(
        self, place: str, questions: QuestionSet
    ) -> None:
        """So the same call can be repeated."""
        nowhere = dqa.ModelSpec(name="openai:m", base_url="http://127.0.0.1:1/v1")
        with pytest.raises(dqa.DqaError, match=r"127\.0\.0\.1:1"):
            dqa.evaluate(questions, "zero-shot", databases="sqlite", model=nowhere, out=place)
        with pytest.raises(dqa.UsageError):
            dqa.read_run(place)
        assert Path(place.partition("#")[0]).exists() == ("#" in place)


class SharedStoreContract(StoreContract):
    """What a store guarantees besides: several processes write one run."""

    def test_two_at_once_make_one_run(
        self, make: Callable[..., dqa.Run], place: str, official: Answer
    ) -> None:
        """Each decision is made once, both take part, and both return the whole run."""
        asked: list[str] = []
        together = threading.Barrier(2, timeout=60)

        def answer(question: Question, database: Database) -> str:
            asked.append(question.key)
            if len(asked) <= 2:
                together.wait()
            return official(question, database)

        with ThreadPoolExecutor(2) as pool:
            runs = [one.result() for one in [pool.submit(make, answer) for _ in range(2)]]
        assert sorted(asked) == sorted({result.question for result in runs[0].results})
        assert sum(run.made or 0 for run in runs) == 6
        assert all(run.made for run in runs)
        assert {run.content_hash for run in runs} == {make(official, out=None).content_hash}
        assert make(answer).made == 0

    def test_a_database_that_goes_away_for_a_moment_costs_nothing(
        self, make: Callable[..., dqa.Run], official: Answer
    ) -> None:
        """Whatever the run is doing: claiming, storing, looking what others have made."""
        failed: set[str] = set()
        left = [0]

        def fail_once(*given: Any) -> None:
            statement = str(given[2])
            if left[0] and statement not in failed:
                failed.add(statement)
                raise OperationalError(statement, None, ConnectionError("the server is away"))

        class Counting(dqa.Watcher):
            def started(self, setup: PreparedRun | GameSetup, done: int) -> None:
                left[0] = len(setup.tasks)

            def decided(self, result: dqa.Result) -> None:
                left[0] -= 1

        event.listen(Engine, "before_cursor_execute", fail_once)
        try:
            run = make(official, watcher=Counting())
        finally:
            event.remove(Engine, "before_cursor_execute", fail_once)
        assert [result.outcome for result in run.results] == [Outcome.CORRECT] * 6
        assert len(failed) > 3
