"""Whole evaluations on real servers: the same decisions everywhere, and none lost to a crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question_set import QuestionSet
from dqa.deciders.base import Settings
from dqa.evaluation.options import RunOptions
from dqa.evaluation.prepare import DatabaseLocation, Setup
from dqa.evaluation.results import Outcome, Result
from dqa.evaluation.score import Judge
from dqa.models.scripted import scripted_model
from tests.evaluation.records import decide_all, open_store

AGENTS = ("singlerag", "iterrag", "planrag", "planrag-no-replan")


def setup(
    questions: QuestionSet, targets: Mapping[str, DatabaseLocation], agents: Sequence[str]
) -> Setup:
    """An evaluation with the scripted analyst."""
    model = scripted_model("analyst")
    deciders = {name: plugins.decider(name)(model, Settings()) for name in agents}
    models = dict.fromkeys(agents, "scripted:analyst")
    return Setup(questions, targets, (deciders,), models, Judge(questions, "released"))


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


@pytest.mark.parametrize("limit", [1, pytest.param(5, marks=pytest.mark.deep)])
def test_every_database_leads_to_the_same_decisions(
    release: QuestionSet, mysql_url: str, postgres_url: str, neo4j_url: str, limit: int
) -> None:
    """The analyst decides alike on embedded databases and servers, relational and graph."""
    questions = release.select(limit=limit)
    servers = {"mysql": mysql_url, "postgres": postgres_url, "neo4j": neo4j_url}
    locations = {"sqlite": None, "ladybug": None, **servers}
    targets = {n: DatabaseLocation(plugins.backend(n), at) for n, at in locations.items()}
    results = decide_all(setup(questions, targets, AGENTS), open_store(), RunOptions(workers=2))
    for name, url in servers.items():
        unload(url, name, questions)
    assert {result.outcome for result in results} <= {
        *(Outcome.CORRECT, Outcome.WRONG, Outcome.NO_CANDIDATE)
    }
    by_database = choices(results)
    assert by_database["mysql"] == by_database["postgres"] == by_database["sqlite"]
    assert by_database["neo4j"] == by_database["ladybug"]
