"""Options of the command line are the fields of a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dqa as package
from dqa.api.stored import read_run
from dqa.evaluation.spec import ModelSpec, RunSpec
from dqa.loaders.sources import GeneratedQuestions
from dqa.models.registry import Connection, chat_model
from tests.cli.conftest import Command

SPEC = """\
questions: {source: generator, count: 1, seed: 5, scenarios: [locating], per_database: 1}
deciders: [first]
databases: [sqlite]
seed: 5
max_steps: 7
limits: {rows: 33}
display: {digits: 3}
budget: {seconds: 60}
settings: {}
"""


def test_a_file_the_command_line_and_python_make_the_same_spec(
    dqa: Command, tmp_path: Path
) -> None:
    """Each option exists once, so nothing can differ."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    file = dqa("eval", "--spec", tmp_path / "spec.yaml", "--out", tmp_path / "file")
    where = ("--generate", "1", "--scenarios", "locating", "--databases", "sqlite")
    how = ("--seed", "5", "--max-steps", "7", "--row-limit", "33", "--digits", "3")
    asked = ("--deciders", "first", "--max-seconds", "60")
    line = dqa("eval", *where, *how, *asked, "--out", tmp_path / "line")
    assert (file.code, line.code) == (0, 0)
    package.evaluate(
        GeneratedQuestions(count=1, seed=5, scenarios=("locating",), per_database=1),
        "first",
        databases="sqlite",
        seed=5,
        max_steps=7,
        limits={"rows": 33},
        display={"digits": 3},
        budget={"seconds": 60},
        out=tmp_path / "python",
    )
    specs = [read_run(tmp_path / name).spec for name in ("file", "line", "python")]
    assert specs[0] is not None
    assert specs[0] == specs[1] == specs[2]


def test_parameters_of_models_reach_the_chat_model() -> None:
    """From a spec as from options, and they are part of the model's identity."""
    spec = ModelSpec(name="openai:m", top_p=0.5, reasoning_effort="low", extra_body={"min_p": 0.1})
    made: Any = chat_model(
        spec.name, Connection(base_url="http://localhost:1/v1", parameters=spec.parameters)
    )
    assert (made.top_p, made.reasoning_effort, made.extra_body) == (0.5, "low", {"min_p": 0.1})
    written = RunSpec(
        questions=GeneratedQuestions(count=1), deciders="first", model=spec
    ).to_json()["model"]
    assert written["extra_body"] == {"min_p": 0.1}
    assert "top_p" not in ModelSpec(name="openai:m").to_json()


def test_parameters_are_options(dqa: Command, tmp_path: Path) -> None:
    """They are read back from the run; a scripted model takes none."""
    asked = ("--generate", "1", "--scenarios", "locating", "--databases", "sqlite")
    refused = dqa("eval", *asked, "--deciders", "iterrag", "--top-p", "0.5")
    assert refused.code == 2
    assert "omit top_p" in refused.err
    wrong = dqa("eval", *asked, "--deciders", "first", "--extra-body", "{")
    assert (wrong.code, wrong.out) == (2, "")
    assert "extra_body" in wrong.err
    how = ("--deciders", "first", "--model", "openai:m", "--extra-body", '{"min_p": 0.1}')
    ran = dqa("eval", *asked, *how, "--out", tmp_path / "run")
    assert ran.code == 0
    found = read_run(tmp_path / "run").spec
    assert found is not None
    assert found.model.extra_body == {"min_p": 0.1}
