"""What the commands write is what ``schemas/exchange`` says they write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from dqa.cli.main import app
from tests.dellma.dellma_scripts import write_decision, write_tables

FOLDER = Path(__file__).parents[1] / "schemas" / "exchange"


def run(*arguments: str) -> str:
    """Run a command and return what it prints."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """One small run of every command that others read, by the name of its schema."""
    folder = tmp_path_factory.mktemp("exchange")
    generated, out = str(folder / "generated"), folder / "run"
    run("generate", "--out", generated, "--questions", "2", "--seed", "5")
    evaluation = run("eval", "--generated", generated, "--out", str(out), "--json")
    uncertain = ("--scenarios", "agriculture", "--generate", "1", "--set", "dellma.confidence=0.9")
    farm = str(folder / "farm")
    named = ("--deciders", "dellma-pairs,self-consistency", "--databases", "sqlite")
    run("eval", *uncertain, *named, "--out", farm)

    dellma = folder / "dellma"
    write_tables(dellma)
    write_decision(dellma, "cot", '{"decision": "fig"}')

    def lines(name: str) -> Iterator[Any]:
        return map(json.loads, (folder / name).read_text("utf-8").splitlines())

    return {
        "manifest": [json.loads((folder / "generated" / "manifest.json").read_text("utf-8"))],
        "evaluation": [json.loads(evaluation)],
        "analysis": [json.loads(run("analyse", str(out), "--json"))],
        "dellma_replay": json.loads(run("dellma", "replay", "--release", str(dellma), "--json")),
        "result": list(lines("run/results.jsonl")),
        "trace": [*lines("run/traces.jsonl"), *lines("farm/traces.jsonl")],
        "decision_tree": [json.loads(run("dellma", "tree", farm, "agriculture/1", "--json"))],
        "annotation": json.loads(run("annotate", "--generated", generated, "--json")),
        "question": [
            json.loads(run("show", f"{scenario}/1", "--generated", generated, "--json"))
            for scenario in ("locating", "building")
        ],
    }


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in FOLDER.iterdir()))
def test_what_is_written_follows_its_schema(name: str, written: dict[str, list[Any]]) -> None:
    """Every file of the folder describes something that is written, and describes it truly."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert written[name]
    for value in written[name]:
        jsonschema.validate(value, schema)
