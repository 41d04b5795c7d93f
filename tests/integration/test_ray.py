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
from dqa.evaluation.stored_runs import RESULTS_FILE, TRACES_FILE
from tests.databases.engines import Target
from tests.evaluation.test_processes import budget_ends_run
from tests.integration.conftest import targeted
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
    """Give 6 questions about worlds of two scenarios."""
    return dqa.generate(("building", "locating"), count=3, seed=16)


class Killing(Watcher):
    """Kills a node after some decisions."""

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
    """Equal to the byte and each once, from a recording, although a node is killed on the way."""
    how: dict[str, Any] = {"deciders": DECIDERS, "databases": DATABASES}
    cassette = tmp_path / "cassette.jsonl"
    recorded = CallOptions(record=cassette)
    here = dqa.evaluate(questions, **how, out=tmp_path / "here", calls=recorded)
    there = dqa.evaluate(
        questions,
        **how,
        out=tmp_path / "run",
        calls=CallOptions(replay=cassette),
        options=nodes.options(workers=2),
        watcher=Killing(nodes, after=5),
    )
    nodes.add()
    assert len(there.results) == len(questions.questions) * len(DATABASES) * len(DECIDERS)
    assert there.results == here.results
    assert (tmp_path / "run" / RESULTS_FILE).read_bytes() == (
        tmp_path / "here" / RESULTS_FILE
    ).read_bytes()
    stored = [trace.key for trace in dqa.read_run(tmp_path / "run").traces]
    assert len(stored) == len(set(stored)) == len(there.results)


@pytest.mark.deep
def test_a_budget_holds_over_the_workers_of_a_cluster(nodes: Nodes) -> None:
    questions = dqa.generate(("locating",), count=5, seed=11)
    assert budget_ends_run(questions, nodes.options(workers=1))


def test_a_decider_that_cannot_be_sent_is_refused(nodes: Nodes) -> None:
    """Before the first decision, by its name."""

    class Unsendable(Decider):
        """Holds a frame, which no other process can have."""

        name = "unsendable"

        def __init__(self) -> None:
            self._frame = sys._getframe()

        def decide(self, question: Question, database: Database) -> Decision:
            raise AssertionError

    questions = dqa.generate(("locating",), count=1, seed=3)
    with pytest.raises(UsageError, match=r"^unsendable cannot be sent to another process"):
        dqa.evaluate(questions, Unsendable(), databases="sqlite", options=nodes.options())


@pytest.mark.deep
def test_a_decision_that_kills_its_workers_ends_as_crashed(nodes: Nodes) -> None:
    """Other workers do not make it for ever, and the others are made."""
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


@pytest.fixture
def postgres(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Give a server whose URL has a password."""
    yield from targeted("postgres", request, tmp_path)


def test_secrets_reach_the_workers_and_no_file(
    nodes: Nodes, postgres: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A URL's password and a model's key reach workers, other secrets do not; none is written."""
    key, other = "sk-test-4f1d20b7c98e", "xyzzy-plugh-42"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("LATER_API_KEY", other)
    # Empty for a server without a password.
    password = postgres.url.split("://")[1].split("@")[0].partition(":")[2]
    questions = dqa.generate(("locating",), count=2, seed=29, per_database=2)

    class Knowing(Decider):
        """Repeats a key of the user that the worker does not have."""

        name = "knowing"

        def decide(self, question: Question, database: Database) -> Decision:
            del question, database
            assert os.environ.get("OPENAI_API_KEY") == key
            assert "LATER_API_KEY" not in os.environ
            return Decision(Ending.ANSWERED, answer=f"it is {other}")

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
        postgres.load(situation).close()  # drops it at the end
    answers = {result.answer for result in run.results if result.decider == "knowing"}
    assert len(answers) == 1
    assert "it is ***" in (tmp_path / "run" / RESULTS_FILE).read_text("utf-8")
    assert asked >= len(questions.questions)
    files = [*nodes.logs.rglob("*"), *(tmp_path / "run").iterdir()]
    written = [file for file in files if file.is_file() and not file.is_symlink()]
    assert any(file.name.startswith("worker-") for file in written)
    for file in written:
        content = file.read_bytes()
        assert key.encode() not in content, file
        assert other.encode() not in content or file.parent != tmp_path / "run", file
        assert not password or f":{password}@".encode() not in content, file


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
