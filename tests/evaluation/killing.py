"""Kills runs, each in a process of its own, and finishes them: a program for a fresh Python."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import dqa
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending, Usage
from dqa.core.evidence import Evidence
from dqa.evaluation import store
from dqa_simulators.locating.generator import LocatingSize


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
    how: dict[str, Any] = {"epochs": epochs, "options": {"workers": 2, "processes": processes}}
    while times < kills:
        watcher = Killer(drawn.randint(1, 3), drawn.random() * 0.01)
        if not killed(lambda w=watcher: evaluate(place, watcher=w, **how)):  # type: ignore[misc]
            return times
        times += 1
        assert not killed(lambda p=place: made(p))  # type: ignore[misc]
    assert not killed(lambda: evaluate(place, **how))
    return times


def main(moments: str, processes: str, seed: str, epochs: str, *places: str) -> None:
    """Make the run of each place, and print as JSON how often each was killed.

    Parameters
    ----------
    moments
        How often to kill it, at random moments.
    processes, seed, epochs
        How many processes decide, what draws the moments, and how often each question is asked.
    places
        Where the runs are stored.
    """
    store.LEASE_SECONDS = 3600.0  # type: ignore[misc]  # no run waits until claims expire
    evaluate(None)  # so that no process has to import anything
    numbers = [int(one) for one in (moments, processes, seed, epochs)]
    found = [kill_at_random(place, *numbers) for place in places]
    sys.stdout.write(json.dumps(found))
