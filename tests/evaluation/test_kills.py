"""A run that is killed, wherever it is stored and however often, ends as one that is not."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest

import dqa
from tests.evaluation import killing
from tests.programs import run_python, start_python

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys; from tests.evaluation.killing import main; main(*sys.argv[1:])"


def kill(moments: int, processes: int, seed: int, *places: str, epochs: int = 1) -> list[int]:
    """Make runs that are killed; return how often each was."""
    given = map(str, (moments, processes, seed, epochs, *places))
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = run_python(
        "-c", PROGRAM, *given, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    )
    assert done.returncode == 0, done.stderr
    found: list[int] = json.loads(done.stdout)
    return found


def assert_whole(place: str, whole: dqa.Run) -> None:
    """Each decision is there once, with one trace, as in a run that was not killed."""
    run = dqa.read_run(place)
    assert run.results == whole.results
    assert run.content_hash == whole.content_hash
    traces = Counter(trace.key for trace in run.each_trace())
    assert traces == Counter(result.key for result in whole.results)
    for name in ("results.jsonl", "traces.jsonl"):
        if run.folder is not None:
            assert len((run.folder / name).read_bytes().splitlines()) == len(whole.results)


@pytest.fixture(scope="session")
def whole() -> dqa.Run:
    """Return the run that nobody kills."""
    return killing.evaluate(None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "processes", "names"),
    [
        pytest.param(2, 1, ("run", "runs.db#run"), id="threads"),
        pytest.param(2, 2, ("run", "runs.db#run"), id="processes", marks=pytest.mark.deep),
    ],
)
def test_a_killed_run_ends_as_one_that_is_not(
    kills: int, processes: int, names: tuple[str, ...], whole: dqa.Run, tmp_path: Path
) -> None:
    """At random moments, in a folder and in a file, decided by threads and by processes."""
    places = [f"{tmp_path}/{name}" for name in names]
    assert min(kill(kills, processes, 7, *places)) > 0
    for place in places:
        assert_whole(place, whole)


AGENTS = ("--deciders", "planrag,iterrag,first", "--databases", "sqlite,ladybug")
GAME = ("--world", "leduc", "--player", "random,bidder-t1", "--opponent", "random")


@pytest.mark.deep
@pytest.mark.parametrize("name", ["run", "runs.db#run"])
@pytest.mark.parametrize(
    "command",
    [("eval", "--generate", "12", *AGENTS), ("games", "play", "--games", "60", "--mirror", *GAME)],
    ids=["questions", "games"],
)
def test_twenty_kills_of_the_command_leave_what_an_uninterrupted_one_leaves(
    command: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    """With SIGKILL, wherever it happens to be; agents ask scripted models."""
    begin = ("-m", "dqa", *command, "--seed", "3", "--workers", "2", "--out")
    run_python(*begin, f"{tmp_path}/whole", check=True)
    whole, place = dqa.read_run(tmp_path / "whole"), f"{tmp_path}/{name}"

    for kills in range(20):
        begun = killing.made(place)
        process = start_python(*begin, place)
        while process.poll() is None and killing.made(place) == begun:
            time.sleep(0.01)
        time.sleep(0.003 * kills)  # at another moment each time
        process.kill()
        process.communicate()
    assert killing.made(place) < len(whole.results)
    run_python(*begin, place, check=True)
    assert_whole(place, whole)
    if command[0] == "eval":
        assert dqa.analyse(place).to_json() == dqa.analyse(tmp_path / "whole").to_json()
