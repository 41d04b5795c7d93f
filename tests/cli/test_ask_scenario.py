"""``dqa ask --scenario``: a scenario's own question about a database that was loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.truth import LabelledQuestion
from dqa.loaders.generator.manifest import read_generated


@pytest.fixture(params=[("ladybug", "locating"), ("duckdb", "building")])
def loaded(
    request: pytest.FixtureRequest, generated: Path, tmp_path: Path
) -> tuple[list[object], LabelledQuestion]:
    """Return the options that ask a generated question about its loaded database, and it."""
    backend, scenario = request.param
    questions = read_generated(generated)
    question = questions.find(f"{scenario}/1")
    file = tmp_path / {"ladybug": "q.lbug", "duckdb": "q.duckdb"}[backend]
    plugins.backend(backend).load(questions.situation_of(question), str(file)).close()
    options: list[object] = ["ask", "--database", file, "--scenario", scenario]
    for key in plugins.scenario(scenario).template.get_identifiers():
        options += ["--target", f"{key}={question.target[key]}"]
    return options, LabelledQuestion(question, questions.truth_of(question))


def test_the_simulator_finds_the_best_decision(
    dqa: Callable[..., Any],
    loaded: tuple[list[object], LabelledQuestion],
    tmp_path: Path,
) -> None:
    """Question, rules and candidates are the scenario's, and the decision is the label."""
    options, (question, truth) = loaded
    ran = dqa(*options, "--decider", "planrag-sim", "--trace", tmp_path / "trace.json", "--json")
    assert ran.code == 0, ran.err
    answered = json.loads(ran.out)
    assert answered["choice"] == truth.official
    shown = dqa("show", tmp_path / "trace.json")
    assert question.text in " ".join(shown.out.split())
