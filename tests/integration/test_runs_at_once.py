"""Two runs that load the same situations into one server at once: each is there once and whole."""

from __future__ import annotations

import subprocess
from ast import literal_eval
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import dqa
from dqa import plugins
from dqa.core.errors import UsageError
from dqa.databases.namespaces import namespace_for
from dqa.loaders.readback import read_situation
from tests.databases.engines import Target
from tests.integration.conftest import targeted
from tests.programs import start_python

COUNT, SEED = 4, 41
SCENARIOS = ("building", "locating")
RUN = f"""
import sys, dqa
questions = dqa.generate({SCENARIOS!r}, count={COUNT}, seed={SEED})
print("ready", flush=True)
sys.stdin.readline()
run = dqa.evaluate(questions, ["first"], databases=[sys.argv[1]], options=dqa.RunOptions(workers=2))
print([(each.question, each.choice, str(each.outcome)) for each in run.results])
"""


@pytest.fixture(params=["mysql", "postgres", "neo4j"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Give each server in turn."""
    yield from targeted(request.param, request, tmp_path)


def test_two_runs_load_the_same_situations_at_once(place: Target) -> None:
    """Two processes that begin in one moment decide alike, and leave each situation once."""
    questions = dqa.generate(SCENARIOS, count=COUNT, seed=SEED)
    situations = list({s.content_hash: s for s in questions.situations.values()}.values())
    try:
        runs = [_begin(place.url) for _ in range(2)]
        for run in runs:
            assert run.stdout is not None
            assert run.stdout.readline() == "ready\n"
        for run in runs:
            assert run.stdin is not None
            run.stdin.write("\n")
            run.stdin.flush()
        ended = [run.communicate(timeout=120) for run in runs]
        assert [run.returncode for run in runs] == [0, 0], ended
        decided = [out for out, _ in ended]
        assert decided[0] == decided[1]
        assert len(literal_eval(decided[0])) == COUNT * len(SCENARIOS)
        held = [each.namespace for each in place.backend.loaded(place.url)]
        for situation in situations:
            assert held.count(namespace_for(situation)) == 1
            database = place.load(situation)
            assert read_situation(database, situation.schema, situation.name) == situation
    finally:
        for situation in situations:
            with suppress(UsageError):
                plugins.backend(place.backend.name).unload(place.url, namespace_for(situation))


def _begin(url: str) -> subprocess.Popen[str]:
    """Start a run that waits for a line before it loads anything."""
    return start_python("-c", RUN, url)
