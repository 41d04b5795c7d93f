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


WRONG = {
    "": "(--question), or a scenario (--scenario)",
    "--question ? --target goods=iron": "name it (--scenario)",
    "--scenario zoo": "no scenario 'zoo'",
    "--scenario building --question ? --target goods=x": "of its own",
    "--scenario building": "does not hold the scenario",
    "--scenario locating": "--target country=",
    "--scenario building --target good=x": "Did you mean 'goods'",
    "--scenario building --target goods": "of the form KEY=VALUE",
    "--scenario building --target goods=a --target goods=b": "twice",
    "--scenario locating --target country=x": "no country in",
    "--scenario locating --target home=x": "no home in",
}


def test_what_makes_no_question_is_one_line(
    dqa: Callable[..., Any], generated: Path, tmp_path: Path
) -> None:
    """It says what is missing or wrong and how to fix it, and no decider is asked."""
    questions = read_generated(generated)
    file = tmp_path / "q.db"
    situation = questions.situation_of(questions.find("locating/1"))
    plugins.backend("sqlite").load(situation, str(file)).close()
    wrong = {}
    for arguments, words in WRONG.items():
        ran = dqa("ask", "--database", file, "--decider", "oracle", *arguments.split())
        if (ran.code, ran.out) != (2, "") or words not in ran.err:
            wrong[arguments] = ran
    assert wrong == {}
