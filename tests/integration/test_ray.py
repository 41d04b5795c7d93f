"""A real Ray cluster of two nodes on this machine: the same results, each once, whoever dies."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dqa
from dqa.api.watching import Watcher
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision, Ending
from dqa.core.errors import InfrastructureError, UsageError
from dqa.core.question import Question
from dqa.evaluation.options import CallOptions, RunOptions
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.run_files import RESULTS_FILE, TRACES_FILE
from dqa.loaders.generator import Difficulty
from tests.integration.conftest import Target, targeted
from tests.models.model_server import ModelServer
from tests.programs import start_python

pytestmark = pytest.mark.slow
DECIDERS = ("iterrag", "random")
DATABASES = ("sqlite", "ladybug")


class Nodes:
    """The cluster: a head, and one more node."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 1, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        head_node: Any = self._cluster.head_node
        self.logs = Path(head_node.get_session_dir_path())
        self._other: Any = None
        self.add()

    def add(self) -> None:
        """Let a second node begin."""
        self._other = self._cluster.add_node(num_cpus=1)

    def kill(self) -> None:
        """Kill the second node with all that runs there."""
        self._cluster.remove_node(self._other, allow_graceful=False)

    def end(self) -> None:
        """End all of it."""
        self._cluster.shutdown()

    def options(self, **others: Any) -> RunOptions:
        """Return the options of a run that uses both nodes."""
        return RunOptions(engine="ray", ray_address=self.address, **others)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """Give the cluster, which all tests of this file use."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    started = Nodes()
    # Once for all tests: whoever is connected already is not disconnected by a run.
    ray.init(started.address, log_to_driver=False, logging_level=logging.ERROR)
    yield started
    ray.shutdown()
    started.end()


@pytest.fixture(scope="module")
def questions() -> dqa.QuestionSet:
    """Give 12 questions about worlds of two scenarios."""
    return dqa.generate(("building", "locating"), count=6, seed=16)


class Killing(Watcher):
    """Kills a node once some decisions are made."""

    def __init__(self, nodes: Nodes, after: int) -> None:
        self._nodes, self._left = nodes, after

    def decided(self, result: Result) -> None:
        del result
        self._left -= 1
        if self._left == 0:
            self._nodes.kill()


def test_a_cluster_makes_the_decisions_that_this_machine_makes(
    nodes: Nodes, questions: dqa.QuestionSet, tmp_path: Path
) -> None:
    """To the byte, and each once, though a node is killed on the way."""
    here = dqa.evaluate(questions, DECIDERS, databases=DATABASES, out=tmp_path / "here")
    there = dqa.evaluate(
        questions,
        DECIDERS,
        databases=DATABASES,
        out=tmp_path / "run",
        options=nodes.options(workers=2),
        watcher=Killing(nodes, after=10),
    )
    nodes.add()
    assert len(there.results) == len(questions.questions) * len(DATABASES) * len(DECIDERS)
    assert there.results == here.results
    assert (tmp_path / "run" / RESULTS_FILE).read_bytes() == (
        tmp_path / "here" / RESULTS_FILE
    ).read_bytes()
    kept = [trace.key for trace in dqa.read_run(tmp_path / "run").traces]
    assert len(kept) == len(set(kept)) == len(there.results)


def test_annotation_and_generation_come_out_as_here(
    nodes: Nodes, questions: dqa.QuestionSet
) -> None:
    """Worlds that have fewer questions than others change nothing."""
    assert dqa.annotate(questions, options=nodes.options()) == dqa.annotate(questions)
    harder = Difficulty(hops=2)
    made = dqa.generate(count=12, seed=7, difficulty=harder, options=nodes.options())
    assert made.content_hash == dqa.generate(count=12, seed=7, difficulty=harder).content_hash
    with pytest.raises(UsageError, match="resist"):
        dqa.generate(count=2, resist="first", options=nodes.options())


def test_secrets_are_those_of_who_keeps_the_run(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is not told them all, and what it repeats of one is not written."""
    monkeypatch.setenv("LATER_API_KEY", "xyzzy-plugh-42")
    questions = dqa.generate(("locating",), count=1, seed=3)

    class Repeating(Decider):
        """Answers with the words of somebody else's key."""

        name = "repeating"

        def decide(self, question: Question, database: Database) -> Decision:
            assert "LATER_API_KEY" not in os.environ
            return Decision(Ending.ANSWERED, answer="it is xyzzy-plugh-42")

    out = tmp_path / "run"
    dqa.evaluate(questions, Repeating(), databases="sqlite", out=out, options=nodes.options())
    for file in (out / TRACES_FILE, out / RESULTS_FILE):
        assert "it is ***" in file.read_text("utf-8")
        assert "xyzzy" not in file.read_text("utf-8")


def test_a_decision_that_kills_its_workers_ends_as_crashed(nodes: Nodes) -> None:
    """It is not begun for ever, and the others are made."""
    questions = dqa.generate(("locating",), count=4, seed=3)

    class Deadly(Decider):
        """Kills its process at one of the questions."""

        name = "deadly"

        def decide(self, question: Question, database: Database) -> Decision:
            del database
            if question.id == "2":
                os._exit(1)
            assert question.candidates
            return Decision(Ending.ANSWERED, choice=question.candidates[0])

    run = dqa.evaluate(
        questions, [Deadly()], databases="sqlite", options=nodes.options(isolation="none")
    )
    crashed = [result for result in run.results if result.outcome is Outcome.CRASHED]
    assert [result.question for result in crashed] == ["locating/2"]
    assert "3 workers died" in str(crashed[0].error)
    assert len(run.results) == len(questions.questions)

    class Unready(Deadly):
        """Kills its process before it is ready."""

        def __reduce__(self) -> tuple[object, ...]:
            return os._exit, (1,)

    with pytest.raises(InfrastructureError, match="3 workers in a row died before they were ready"):
        dqa.evaluate(questions, [Unready()], databases="sqlite", options=nodes.options())

    class Held(Deadly):
        """Holds what no other process can have."""

        def __init__(self) -> None:
            self._held = sys._getframe()

    with pytest.raises(UsageError, match="'deadly' cannot be sent to another process"):
        dqa.evaluate(questions, [Held()], databases="sqlite", options=nodes.options())


@pytest.fixture
def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Give a server whose URL has a password."""
    yield from targeted("postgres", request, tmp_path)


def test_secrets_reach_the_workers_and_no_file(
    nodes: Nodes, postgres: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A URL's password and a model's key; two workers load one world into one server."""
    key = "sk-test-4f1d20b7c98e"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    # A password of nobody else's, which the server does not ask for or which is its own.
    password = postgres.url.split("://")[1].split("@")[0].partition(":")[2]
    questions = dqa.generate(("locating",), count=6, seed=29, per_database=6)

    class Knowing(Decider):
        """Chooses the first candidate where the key is there, and nothing else of ours."""

        name = "knowing"

        def decide(self, question: Question, database: Database) -> Decision:
            del database
            assert question.candidates
            assert os.environ.get("OPENAI_API_KEY") == key
            assert "DQA_NOT_NEEDED_URL" not in os.environ
            return Decision(Ending.ANSWERED, choice=question.candidates[0])

    monkeypatch.setenv("DQA_NOT_NEEDED_URL", "postgresql://nobody@nowhere/nothing")
    with ModelServer(lambda request: "Thought: done\nFinal Answer: nowhere") as server:
        run = dqa.evaluate(
            questions,
            ["zero-shot", Knowing()],
            databases=postgres.url,
            model=dqa.ModelSpec(name="openai:test", base_url=server.url),
            out=tmp_path / "run",
            options=nodes.options(workers=1),
        )
        asked = len(server.requests)
    for situation in questions.situations.values():
        postgres.load(situation).close()  # which leaves it to be dropped
    outcomes = {result.outcome for result in run.results if result.decider == "knowing"}
    assert outcomes <= {Outcome.CORRECT, Outcome.WRONG}
    assert asked >= len(questions.questions)
    files = [*nodes.logs.rglob("*"), *(tmp_path / "run").iterdir()]
    written = [file for file in files if file.is_file() and not file.is_symlink()]
    assert any(file.name.startswith("worker-") for file in written)
    for file in written:
        content = file.read_bytes()
        assert key.encode() not in content, file
        assert not password or f":{password}@".encode() not in content, file


def test_a_recording_is_played_and_a_budget_holds(nodes: Nodes, tmp_path: Path) -> None:
    """What is recorded here is played there; what is spent there ends the run."""
    questions = dqa.generate(("locating",), count=5, seed=11)
    recorded = CallOptions(record=tmp_path / "cassette.jsonl")
    local = dqa.evaluate(questions, ["iterrag"], databases="sqlite", calls=recorded)
    replay = CallOptions(replay=tmp_path / "cassette.jsonl")
    there = dqa.evaluate(
        questions, ["iterrag"], databases="sqlite", calls=replay, options=nodes.options()
    )
    assert there.results == local.results
    with pytest.raises(UsageError, match="record with the local engine"):
        dqa.evaluate(questions, ["iterrag"], calls=recorded, options=nodes.options())
    with ModelServer(lambda request: "Thought: done\nFinal Answer: nowhere") as server:
        run = dqa.evaluate(
            questions,
            ["zero-shot"],
            databases="sqlite",
            model=dqa.ModelSpec(name="openai:test", base_url=server.url),
            calls=CallOptions(budget_tokens=10, max_concurrency=1),
            options=nodes.options(workers=3),
        )
    assert run.stopped_by is not None
    assert "budget of 10 tokens is spent" in run.stopped_by
    assert len(run.results) < len(questions.questions)


@pytest.mark.deep
def test_an_interrupted_run_goes_on(nodes: Nodes, tmp_path: Path) -> None:
    """Ctrl-C ends the command and keeps what is decided; the same command as ever goes on."""
    folder = tmp_path / "run"
    # So many that a fast machine is not done before the signal comes.
    asked = ("--generate", "100", "--scenarios", "locating", "--deciders", "iterrag,random")
    where = ("--databases", "sqlite", "--engine", "ray", "--ray-address", nodes.address)
    started = start_python("-m", "dqa", "eval", *asked, *where, "--out", folder)
    while started.poll() is None and not (before := _stored(folder)):
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130, f"the signal came after {before} decisions: {told}"
    assert "are stored" in told
    made = _lines(folder / RESULTS_FILE)
    assert 0 < made < 200
    run = dqa.evaluate(out=folder, resume=True)
    assert len(run.results) == 200
    assert _lines(folder / TRACES_FILE) == 200


def _stored(folder: Path) -> int:
    try:
        return len(dqa.read_run(folder).results)
    except dqa.DqaError:  # nothing is there yet
        return 0


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0
