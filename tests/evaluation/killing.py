"""Kills runs, each in a process of its own, and finishes them: a program for a fresh Python."""

from __future__ import annotations

import io
import json
import os
import posix
import random
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from itertools import count
from types import FrameType
from typing import Any

import dqa
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.evidence import Evidence
from dqa.evaluation import store
from dqa_simulators.locating.generator import LocatingSize

FILE_STEPS = frozenset({"write", "fsync", "rename", "replace"})
DATABASE_STEPS = frozenset({"execute", "executemany", "commit"})


class Reading(Decider):
    """Chooses the first candidate after one statement and a moment."""

    def __init__(self, name: str) -> None:
        self.name = name

    def decide(self, question: dqa.Question, database: dqa.Database) -> Decision:
        """Read, wait, choose."""
        evidence = Evidence.of("SELECT 1", database.query("SELECT 1"))
        time.sleep(0.005)
        choice = (question.candidates or ())[0]
        return Decision(
            Ending.ANSWERED, str(choice), choice, (evidence,), usage=Usage(10, 5, 1), steps=2
        )


@cache
def questions() -> dqa.QuestionSet:
    """Return six small questions about three worlds."""
    size = LocatingSize(12, 20, 20, 60)
    return dqa.generate(("locating",), count=6, seed=7, sizes=(size,), per_database=2)


def evaluate(place: str | None, **how: Any) -> dqa.Run:
    """Make the run, or what it lacks, without isolation: a kill is to meet the run itself."""
    options = dqa.RunOptions(isolation="none", **how.get("options", {}))
    deciders = [Reading("one"), Reading("two")]
    how |= {"databases": "sqlite", "options": options}
    return dqa.evaluate(questions(), deciders, out=place, **how)


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killer(dqa.Watcher):
    """Kills the process some time after a number of decisions."""

    def __init__(self, after: int, seconds: float) -> None:
        self._left, self._seconds = after, seconds

    def decided(self, result: dqa.Result) -> None:
        """Count one."""
        self._left -= 1
        if self._left == 0:
            threading.Timer(self._seconds, _kill).start()


def loads_questions(frame: FrameType | None) -> bool:
    """Whether a frame is below the code of databases: what that writes is in memory."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("dqa.databases."):
            return True
        frame = frame.f_back
    return False


def is_step(frame: FrameType, called: Any) -> bool:
    """Whether a function in C changes a file of the run or its store."""
    if called.__name__ not in FILE_STEPS | DATABASE_STEPS or loads_questions(frame):
        return False
    owner = getattr(called, "__self__", None)
    if called.__name__ in DATABASE_STEPS and isinstance(owner, sqlite3.Cursor | sqlite3.Connection):
        return not str(frame.f_locals.get("statement", "")).startswith(("SELECT", "PRAGMA"))
    is_file = owner is posix or isinstance(owner, io.FileIO | io.BufferedWriter | io.TextIOWrapper)
    return is_file and called.__name__ in FILE_STEPS


def kill_at_step(last: int) -> None:
    """Kill this process just before its step of this number."""
    left = count(1)

    def look(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and is_step(frame, called) and next(left) == last:
            _kill()

    threading.setprofile(look)
    sys.setprofile(look)


def killed(work: Callable[[], object]) -> bool:
    """Do something in a process of its own; True where that was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  (the parent goes on in its place)
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("an evaluation failed")
    return False


def made(place: str) -> int:
    """Return how many decisions of a run are stored; each of them has its trace."""
    try:
        run = dqa.read_run(place)
    except dqa.UsageError:  # nothing is there yet
        return 0
    assert not run.results or len(run.traces) == len(run.results)
    return len(run.results)


def kill_at_random(place: str, kills: int, processes: int, seed: int, epochs: int) -> int:
    """Make a run that is killed so often; return how often it was."""
    drawn, times = random.Random(seed), 0  # noqa: S311
    how: dict[str, Any] = {
        "epochs": epochs,
        "options": {"workers": 2, "processes": processes},
    }
    while times < kills:
        watcher = Killer(drawn.randint(1, 3), drawn.random() * 0.01)
        if not killed(lambda w=watcher: evaluate(place, watcher=w, **how)):  # type: ignore[misc]
            return times
        times += 1
        assert not killed(lambda p=place: made(p))  # type: ignore[misc]
    assert not killed(lambda: evaluate(place, **how))
    return times


def kill_at_every_step(prefix: str) -> int:
    """Make a run for every step, that is killed there and once more; return how many there are."""

    def work(place: str, last: int) -> None:
        kill_at_step(last)
        evaluate(place, options={"workers": 1})

    for step in count(1):
        place = f"{prefix}{step}"
        if not killed(lambda p=place, s=step: work(p, s)):  # type: ignore[misc]
            return step
        assert not killed(lambda p=place: made(p))  # type: ignore[misc]
        killed(lambda p=place, s=step: work(p, 1 + 7 * s % 23))  # type: ignore[misc]
        assert not killed(lambda p=place: made(p))  # type: ignore[misc]
        assert not killed(lambda p=place: evaluate(p, options={"workers": 1}))  # type: ignore[misc]
    raise AssertionError


def main(moments: str, processes: str, seed: str, epochs: str, *places: str) -> None:
    """Make the run of each place, and print as JSON how often each was killed.

    Parameters
    ----------
    moments
        How often to kill it, at random moments; or ``every``: then each place is a prefix, and
        there is a run for every step that writes.
    processes, seed, epochs
        How many processes decide, what draws the moments, and how often each question is asked.
    places
        Where the runs are stored.
    """
    store.LEASE_SECONDS = 3600.0  # type: ignore[misc]  # no run waits until claims expire
    evaluate(None)  # so that no process has to import anything
    if moments == "every":
        found = [kill_at_every_step(place) for place in places]
    else:
        numbers = [int(one) for one in (moments, processes, seed, epochs)]
        found = [kill_at_random(place, *numbers) for place in places]
    sys.stdout.write(json.dumps(found))
