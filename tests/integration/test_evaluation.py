"""Whole evaluations on real servers: the same decisions everywhere, and none lost to a crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Decision
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.options import RunOptions
from dqa.evaluation.plan import Setup
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.run import evaluate
from dqa.evaluation.score import Judge
from dqa.evaluation.store import FolderStore, RunStore
from dqa.evaluation.targets import Located, Target
from dqa.loaders.generator import generate
from dqa.loaders.release import read_release
from dqa.models.scripted import scripted_model
from tests.evaluation.records import run_record
from tests.integration.conftest import OwnServer

AGENTS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


def setup(questions: QuestionSet, targets: Mapping[str, Target], agents: Sequence[str]) -> Setup:
    """An evaluation with the scripted analyst."""
    model = scripted_model("analyst")
    deciders = {name: plugins.decider(name)(model, Settings()) for name in agents}
    return Setup(questions, targets, deciders, dict.fromkeys(agents, "scripted:analyst"))


def choices(results: Sequence[Result]) -> dict[str, dict[tuple[str, str], object]]:
    """What was chosen, by database, question and decider."""
    found: dict[str, dict[tuple[str, str], object]] = {}
    for result in results:
        found.setdefault(result.database, {})[result.question, result.decider] = result.choice
    return found


def unload(url: str, backend: str, questions: QuestionSet) -> None:
    """Drop what an evaluation loaded."""
    for situation in {id(s): s for s in questions.situations.values()}.values():
        for held in plugins.backend(backend).loaded(url):
            if held.content_hash == situation.content_hash:
                with suppress(UsageError):
                    plugins.backend(backend).unload(url, held.namespace)


def test_every_database_leads_to_the_same_decisions(
    release_dir: Path, mysql_url: str, postgres_url: str, neo4j_url: str
) -> None:
    """The analyst decides alike on embedded databases and servers, relational and graph."""
    questions = read_release(release_dir).select(limit=5)
    servers = {"mysql": mysql_url, "postgres": postgres_url, "neo4j": neo4j_url}
    targets: dict[str, Target] = {name: plugins.backend(name) for name in ("sqlite", "ladybug")}
    targets |= {name: Located(plugins.backend(name), url) for name, url in servers.items()}
    judge = Judge(questions, "released")
    results = evaluate(setup(questions, targets, AGENTS), judge, RunStore(), RunOptions(workers=2))
    for name, url in servers.items():
        unload(url, name, questions)
    assert {result.outcome for result in results} <= {
        *(Outcome.CORRECT, Outcome.WRONG, Outcome.NO_CANDIDATE)
    }
    by_database = choices(results)
    assert by_database["mysql"] == by_database["postgres"] == by_database["sqlite"]
    assert by_database["neo4j"] == by_database["ladybug"]


BEFORE = 6
"""Decisions that do not wait for the server's death."""


class Slowly(Decider):
    """A decider of whose decisions a server's death falls into the middle."""

    name = "slowly"

    def __init__(self) -> None:
        self._inner = plugins.decider("iterrag")(scripted_model("analyst"), Settings())
        self.asked = threading.Semaphore(0)
        self.dead = threading.Event()
        self._numbers = count()

    def decide(self, question: Question, database: Database) -> Decision:
        """Decide: the first after a moment, the others after the server's death."""
        self.asked.release()
        if next(self._numbers) < BEFORE:
            time.sleep(0.05)
        else:
            assert self.dead.wait(60.0)
        return self._inner.decide(question, database)


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_server_killed_in_the_middle_of_an_evaluation_costs_no_decision(
    own_server: OwnServer, comes_back: bool, tmp_path: Path
) -> None:
    """What was decided stays; the rest is decided after the restart, or is no wrong answer."""
    questions = generate(("locating",), 12, seed=4)
    slowly = Slowly()
    located = {own_server.name: Located(own_server.backend, own_server.url)}
    planned = replace(setup(questions, located, ()), deciders={"slowly": slowly})
    planned = replace(planned, models={"slowly": "scripted:analyst"})

    def crash() -> None:
        for _ in range(4):
            slowly.asked.acquire()
        own_server.kill()
        slowly.dead.set()
        if comes_back:
            own_server.restart()

    killer = threading.Thread(target=crash)
    killer.start()
    store = FolderStore(tmp_path / "run", run_record())
    options = RunOptions(workers=2, patience=60.0 if comes_back else 0.5)
    results = evaluate(planned, Judge(questions, "paper"), store, options)
    killer.join()
    outcomes = [result.outcome for result in results]
    assert len(outcomes) == 12
    assert Outcome.WRONG not in outcomes
    if comes_back:
        assert set(outcomes) == {Outcome.CORRECT}
        return
    assert Outcome.INFRASTRUCTURE in outcomes
    assert Outcome.CORRECT in outcomes
    own_server.restart()
    resumed = FolderStore(tmp_path / "run", run_record(), resume=True)
    again = evaluate(planned, Judge(questions, "paper"), resumed, RunOptions(workers=2))
    assert {result.outcome for result in again} == {Outcome.CORRECT}
