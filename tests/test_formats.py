"""The output of the commands follows the schemas of ``dqa data formats``."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import dqa
from dqa.api.listing import format_names, json_schema
from dqa.cli.main import app
from dqa.core.errors import UnknownNameError
from dqa.core.events import CORE_EVENTS, kinds_of
from tests.confirming import confirm
from tests.stored import record_of

HOME = Path(__file__).parents[1]
TRAINED = "trained_player"
"""The format of players trained by OpenSpiel's algorithms."""


def _confirmed(folder: Path) -> Path:
    confirm(folder)
    return folder


def _toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


def run(*arguments: object, code: int = 0, env: dict[str, str] | None = None) -> str:
    """Run a command and return its output."""
    result = CliRunner().invoke(app, list(map(str, arguments)), env=env)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Run every command with a documented format; return the output by format."""
    folder = tmp_path_factory.mktemp("formats")
    generated, out, farm = folder / "generated", folder / "run", folder / "farm"
    run("data", "generate", "--out", generated, "--questions", "2", "--seed", "5")
    evaluation = run("eval", "--generated", generated, "--limit", 1, "--out", out, "--json")
    uncertain = ("--scenarios", "agriculture", "--generate", "1", "--set", "dellma.samples=8")
    named = ("--deciders", "dellma-pairs,self-consistency", "--databases", "sqlite")
    run("eval", *uncertain, *named, "--out", farm)
    file = folder / "one.db"
    loaded = run("load", "--generated", generated, "--question", "locating/1", *_at(file), "--json")
    asked = run(
        *("ask", *_at(file), "--question", "?", "--decider", "first", "--json"),
        *("--candidates", "SELECT country_name FROM country"),
    )
    statements = folder / "statements.sql"
    statements.write_text("SELECT 1;\nDROP TABLE t", "utf-8")
    trees = run("dellma", "tree", farm, "agriculture/1", "--decider", "dellma-pairs", "--json")
    record = record_of(out)

    def lines(file: Path) -> Iterator[Any]:
        return map(json.loads, file.read_text("utf-8").splitlines())

    return {
        "analysis": [json.loads(run("analyse", out, "--json"))],
        "annotation": json.loads(run("data", "annotate", "--generated", generated, "--json")),
        "audit": [json.loads(run("data", "audit", "--generated", generated, "--json"))],
        "checked_statement": json.loads(run("check", "--dialect", "ansi", statements, "--json")),
        "comparison": [json.loads(run("compare", out, "--json"))],
        "database_health": json.loads(run("doctor", "--json")),
        "decision_tree": [json.loads(trees)],
        "evaluation": [json.loads(evaluation)],
        "loaded": json.loads(loaded),
        "manifest": [json.loads((generated / "manifest.json").read_text("utf-8"))],
        "own_question": [
            {"question": "Whom?", "candidates": "SELECT 1", "answer": 1, "tags": "a"},
            {"question": "Whom?", "rules": {"file": "rules.md"}, "candidates": ["a", 1], "id": 3},
            {"scenario": "building", "target": {"goods": "a"}, "answer": ["a", "b"]},
        ],
        "publication": [json.loads(run("analyse", out, "--paper", "planrag", "--json"))],
        "proposed_scenario": [
            json.loads(run("init", *_at(file), "--out", folder / "proposed", "--json"))
        ],
        "scenario": list(map(_toml, sorted(HOME.glob("schemas/*/scenario.toml")))),
        "scenario_check": json.loads(
            run("doctor", "--scenario", _confirmed(folder / "proposed"), *_at(file), "--json")
        ),
        "scenario_tables": list(map(_toml, HOME.glob("examples/*/tables.toml"))),
        "exported_decision": [json.loads(line) for line in run("export", out).splitlines()],
        "result": [*lines(out / "results.jsonl"), *lines(farm / "results.jsonl")],
        "run": [record],
        "schema": [json.loads(run("schema", file, "--samples", 1, "--json"))],
        "shortcut_choices": [
            one.to_json() for run in (out, farm) for one in dqa.read_run(run).shortcut_choices
        ],
        "spec": [record["spec"]],
        "stored_run": json.loads(run("runs", folder, "--json")),
        "trace": [*lines(out / "traces.jsonl"), *lines(farm / "traces.jsonl"), json.loads(asked)],
    }


def _at(file: Path) -> tuple[object, ...]:
    return "--database", file


def problems_of(name: str, values: list[Any]) -> list[str]:
    """Return the differences between values and a schema.

    A missing or unknown field must be an error.
    """
    schema = json_schema(name)
    validator = jsonschema.Draft202012Validator(schema)
    assert values, name
    value = values[0]
    assert not validator.is_valid(value | {"unheard_of": 1}), name
    # Shared tables may be empty.
    assert validator.is_valid({}) == (name == "scenario_tables"), name
    for field in schema.get("required", ()):
        less = {key: part for key, part in value.items() if key != field}
        assert not validator.is_valid(less), f"{name}: {field}"
    return [
        f"{name} {error.json_path}: {error.message}"
        for value in values
        for error in validator.iter_errors(value)
    ]


@pytest.mark.slow
def test_every_output_follows_its_schema(written: dict[str, list[Any]]) -> None:
    assert {*written} == {*format_names()} - {TRAINED}
    assert [problem for name in written for problem in problems_of(name, written[name])] == []


@pytest.mark.slow
def test_a_trained_player_follows_its_schema(tmp_path: Path) -> None:
    """It needs OpenSpiel, an extra."""
    pytest.importorskip("pyspiel")
    trained = run(
        *("games", "train", "--world", "holdem", "--player", "cfr", "--budget", 1, "--json"),
        env={"DQA_CACHE": str(tmp_path)},
    )
    assert problems_of(TRAINED, json.loads(trained)) == []


def test_every_schema_is_valid() -> None:
    for name in format_names():
        jsonschema.Draft202012Validator.check_schema(json_schema(name))
    assert json.loads(run("data", "formats", "result")) == json_schema("result")


def test_the_trace_schema_has_the_events_of_dqa() -> None:
    """It has no others."""
    schema = json_schema("trace")
    kinds = set(schema["properties"]["trace"]["items"]["discriminator"]["mapping"])
    assert {kind for event in CORE_EVENTS for kind in kinds_of(event)} == kinds
    assert "step" in kinds


@pytest.mark.slow
def test_every_line_has_a_version(written: dict[str, list[Any]]) -> None:
    """Otherwise another version would look like damage."""
    versions = {"result": 1, "trace": 1, "run": 1, "spec": 2}
    for name, version in versions.items():
        assert {value["version"] for value in written[name]} == {version}


@pytest.mark.parametrize(
    ("file", "name"),
    [("scenario.schema.json", "scenario"), ("tables.schema.json", "scenario_tables")],
)
def test_the_schemas_for_editors_are_current(file: str, name: str) -> None:
    """The examples' folders follow them."""
    text = (HOME / "schemas" / file).read_text("utf-8")
    assert json.loads(text) == json_schema(name)
    assert "null" not in text, "TOML has no null"
    pattern = "*/scenario.toml" if name == "scenario" else "tables.toml"
    found = list((HOME / "examples" / "warehouse").glob(pattern))
    assert found
    for example in found:
        jsonschema.Draft202012Validator(json_schema(name)).validate(_toml(example))


def test_the_formats_are_listed_and_a_wrong_name_is_corrected() -> None:
    assert run("data", "formats").split() == list(format_names())
    with pytest.raises(UnknownNameError, match="Did you mean 'result'"):
        json_schema("results")
