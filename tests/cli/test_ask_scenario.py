"""``dqa ask --scenario``: a scenario's own question about a database that was loaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.loaders.generator import read_generated
from dqa.question import Question


@pytest.fixture(params=[("sqlite", "locating"), ("ladybug", "locating"), ("duckdb", "building")])
def loaded(
    request: pytest.FixtureRequest, generated: Path, tmp_path: Path
) -> tuple[list[object], Question]:
    """Return the options that ask a generated question about its loaded database, and it."""
    backend, scenario = request.param
    questions = read_generated(generated)
    question = questions.find(f"{scenario}/1")
    file = tmp_path / {"sqlite": "q.db", "ladybug": "q.lbug", "duckdb": "q.duckdb"}[backend]
    plugins.backend(backend).load(questions.situation_of(question), str(file)).close()
    options: list[object] = ["ask", "--database", file, "--scenario", scenario]
    for key in plugins.scenario(scenario).template.get_identifiers():
        options += ["--target", f"{key}={question.target[key]}"]
    return options, question


@pytest.mark.parametrize("decider", ["oracle", "planrag-sim"])
def test_the_simulator_finds_the_best_decision(
    dqa: Callable[..., Any], loaded: tuple[list[object], Question], decider: str, tmp_path: Path
) -> None:
    """Question, rules and candidates are the scenario's, and the decision is the label."""
    options, question = loaded
    ran = dqa(*options, "--decider", decider, "--trace", tmp_path / "trace.json", "--json")
    assert ran.code == 0, ran.err
    answered = json.loads(ran.out)
    assert answered["choice"] == question.answers[0]
    if decider == "planrag-sim":
        shown = dqa("trace", tmp_path / "trace.json")
        assert question.text in " ".join(shown.out.split())


def test_own_words_go_before_the_scenarios(
    dqa: Callable[..., Any], loaded: tuple[list[object], Question], tmp_path: Path
) -> None:
    """A question and rules that are given are the ones that the model is told."""
    options, question = loaded
    rules = tmp_path / "rules.md"
    rules.write_text(f"{question.rules}\n99. One rule of mine.", "utf-8")
    trace = tmp_path / "trace.json"
    ran = dqa(
        *(*options, "--question", f"In my words. {question.text}", "--rules", rules),
        *("--decider", "planrag-sim", "--trace", trace),
    )
    assert ran.code == 0, ran.err
    told = trace.read_text("utf-8")
    assert "In my words" in told
    assert "One rule of mine" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--question TEXT, or --scenario"),
        (("--question", "?", "--target", "goods=iron"), "name --scenario"),
        (("--scenario", "zoo"), "no scenario 'zoo'"),
        (("--scenario", "building"), "--target goods=..."),
        (("--scenario", "building", "--target", "goods="), "--target goods=..."),
        (("--scenario", "building", "--target", "good=x"), "Did you mean 'goods'"),
        (("--scenario", "building", "--target", "goods"), "write KEY=VALUE"),
        (("--scenario", "building", "--target", "goods=a", "--target", "goods=b"), "twice"),
        (("--scenario", "building", "--target", "goods=x"), "does not hold the scenario"),
        (
            ("--scenario", "locating", "--target", "country=x", "--target", "home=y"),
            "'x', which table 'country'",
        ),
    ],
)
def test_what_makes_no_question_is_one_line(
    dqa: Callable[..., Any],
    generated: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    words: str,
) -> None:
    """It says what is missing or wrong and how to mend it, and nobody is asked."""
    questions = read_generated(generated)
    file = tmp_path / "q.db"
    situation = questions.situation_of(questions.find("locating/1"))
    plugins.backend("sqlite").load(situation, str(file)).close()
    ran = dqa("ask", "--database", file, "--decider", "oracle", *arguments)
    assert ran.code != 0
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert words in ran.err
