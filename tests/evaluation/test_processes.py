"""Processes of this machine decide what one process decides, whoever of them dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import InfrastructureError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.results import Outcome, Result
from tests.models.model_server import ModelServer

TWO = RunOptions(workers=2, processes=2)
ENDS = 10.0
"""Seconds within which the system has taken away what was killed."""


class Noting(Decider):
    """Notes in a folder which process decides what; what it does besides, its method says.

    Parameters
    ----------
    folder
        Where notes are kept.
    does
        ``"decide"``, ``"die"`` of the first decision, ``"die again"`` of each, or ``"wait"`` at
        every decision but one.
    """

    name = "noting"

    def __init__(self, folder: Path, does: str = "decide") -> None:
        self._folder, self._does = folder, does

    def decide(self, question: Question, database: Database) -> Decision:
        """Take the first candidate."""
        del database
        is_first = self._is_first()
        if self._does == "die again" or (is_first and self._does == "die"):
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60.0)
        (self._folder / f"{os.getpid()} {question.id}").touch()
        if not is_first and self._does == "wait":
            time.sleep(60.0)
        assert question.candidates
        return Decision(Ending.ANSWERED, choice=question.candidates[0])

    def _is_first(self) -> bool:
        try:
            (self._folder / "begun").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class Meeting(Decider):
    """Decides only while another decision is made at the same time in the same process."""

    name = "meeting"

    def decide(self, question: Question, database: Database) -> Decision:
        """Wait for the other decision, and take the first candidate."""
        del database
        _TOGETHER.wait(ENDS)
        assert question.candidates
        return Decision(Ending.ANSWERED, choice=question.candidates[0])


_TOGETHER = threading.Barrier(2)


def decided_by(folder: Path) -> list[list[str]]:
    """Return process and question of every decision that was made."""
    return [path.name.split() for path in sorted(folder.iterdir()) if path.name != "begun"]


@pytest.fixture
def asked() -> QuestionSet:
    """Give six questions about three databases."""
    return dqa.generate(("locating",), count=6, seed=1, per_database=2)


@pytest.mark.slow
def test_the_threads_of_a_process_decide_questions_about_several_databases() -> None:
    """Each question has its own database, and each process decides two at the same time."""
    asked = dqa.generate(("locating",), count=4, seed=1, per_database=1)
    options = RunOptions(workers=4, processes=2)
    run = dqa.evaluate(asked, Meeting(), databases="sqlite", options=options)
    assert {result.outcome for result in run.results} <= {Outcome.CORRECT, Outcome.WRONG}


@pytest.mark.slow
def test_two_processes_make_what_one_makes(asked: QuestionSet, tmp_path: Path) -> None:
    """Results, traces and hash, one run from a recording of the other."""
    cassette = tmp_path / "replies.jsonl"
    how: dict[str, Any] = {"deciders": "zero-shot", "databases": "sqlite"}
    recorded = CallOptions(record=cassette)
    one = dqa.evaluate(asked, **how, calls=recorded, out=tmp_path / "one")
    two = dqa.evaluate(
        asked, **how, calls=CallOptions(replay=cassette), options=TWO, out=tmp_path / "two"
    )
    assert two.results == one.results
    assert two.content_hash == one.content_hash
    for traced, again in zip(one.traces, two.traces, strict=True):
        assert traced.key == again.key
        assert [event.kind for event in traced.events] == [event.kind for event in again.events]
        assert traced.usage == again.usage


def budget_ends_run(questions: QuestionSet, options: RunOptions) -> bool:
    """Return whether the tokens that one worker spends end the run of all workers."""
    calls = CallOptions(budget_tokens=10, max_concurrency=options.processes)
    with ModelServer(lambda request: "Thought: done\nFinal Answer: nowhere") as server:
        model = dqa.ModelSpec(name="openai:test", base_url=server.url)
        about: dict[str, Any] = {"databases": "sqlite", "model": model, "calls": calls}
        run = dqa.evaluate(questions, "zero-shot", options=options, **about)
    is_named = "budget of 10 tokens is spent" in (run.stopped_by or "")
    return is_named and len(run.results) < len(questions.questions)


@pytest.mark.slow
def test_a_budget_holds_over_processes(asked: QuestionSet) -> None:
    assert budget_ends_run(asked, TWO)


@pytest.mark.slow
def test_the_decisions_of_a_dead_process_are_made_once(asked: QuestionSet, tmp_path: Path) -> None:
    """By another process."""
    run = dqa.evaluate(asked, Noting(tmp_path, "die"), databases="sqlite", options=TWO)
    assert [result.outcome.judged for result in run.results] == [True] * 6
    noted = decided_by(tmp_path)
    assert {question for _, question in noted} == {question.id for question in asked.questions}
    assert str(os.getpid()) not in {process for process, _ in noted}
    assert run.results == dqa.evaluate(asked, Noting(tmp_path), databases="sqlite").results


class Unready(Noting):
    """Kills its process before it is ready."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


@pytest.mark.slow
def test_what_kills_every_process_is_reported(tmp_path: Path) -> None:
    """By the signal, because memory is only one of its causes; a run without workers stops."""
    asked = dqa.generate(("locating",), count=1, seed=1)
    decider = Noting(tmp_path, "die again")
    (result,) = dqa.evaluate(asked, decider, databases="sqlite", options=TWO).results
    assert result.outcome is Outcome.CRASHED
    assert "3 workers died" in str(result.error)
    assert "it was killed by SIGKILL" in str(result.error)
    with pytest.raises(InfrastructureError, match="3 workers in a row died before they were ready"):
        dqa.evaluate(asked, Unready(tmp_path), databases="sqlite", options=TWO)


@pytest.mark.slow
def test_whoever_interrupts_a_run_ends_its_processes(asked: QuestionSet, tmp_path: Path) -> None:
    """What they wait for is not awaited, and what was decided is kept."""

    class Interrupting(dqa.Watcher):
        def decided(self, result: Result) -> None:
            del result
            raise KeyboardInterrupt

    folder = tmp_path / "notes"
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        dqa.evaluate(
            *(asked, Noting(folder, "wait")),
            databases="sqlite",
            options=TWO,
            watcher=Interrupting(),
            out=tmp_path / "run",
        )
    assert len(dqa.read_run(tmp_path / "run").results) == 1
    deciding = {int(process) for process, _ in decided_by(folder)}
    assert deciding
    until = time.monotonic() + ENDS
    while any(_is_there(number) for number in deciding):
        assert time.monotonic() < until
        time.sleep(0.02)


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True
