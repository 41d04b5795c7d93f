"""The worked example: one folder without Python, which decides alike on every database."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from sqlalchemy import JSON, Boolean, Date, Integer, Numeric, String

import dqa
from benchmarks.warehouse import FOLDER, QUESTIONS, Measured, decide, made, measure
from examples.make_warehouse import main, make_warehouse
from examples.warehouse_rows import make_rows
from examples.warehouse_tables import METADATA, NODES, RELATIONSHIPS

LINES = 20_000
ASKED = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a warehouse in SQLite."""
    file = tmp_path_factory.mktemp("warehouse") / "warehouse.db"
    make_warehouse(str(file), LINES)
    return file


@pytest.fixture
def measured(warehouse: Path) -> Measured:
    """Ask SQLite every statement of every question."""
    return measure(str(warehouse))


def test_the_folder_holds_no_python_and_describes_the_tables_that_are_made() -> None:
    """Names, types and keys of tables, and how they read as a graph."""
    suffixes = {file.suffix for file in FOLDER.rglob("*") if file.is_file()}
    assert suffixes == {".toml", ".md", ".txt", ".sql", ".cypher", ".jsonl"}
    told = tomllib.loads((FOLDER / "tables.toml").read_text("utf-8"))
    assert len(told["tables"]) == 12
    kinds = {
        Boolean: "boolean", Numeric: "decimal", Integer: "integer", Date: "date", JSON: "json",
        String: "text",
    }  # fmt: skip
    for table in told["tables"]:
        written = METADATA.tables[table["name"]]
        assert table["key"] == [column.name for column in written.primary_key]
        assert [(column["name"], column["type"]) for column in table["columns"]] == [
            (column.name, next(kind for of, kind in kinds.items() if isinstance(column.type, of)))
            for column in written.columns
        ]
    assert {node["label"]: node["table"] for node in told["nodes"]} == NODES
    assert {edge["label"] for edge in told["edges"]} == {each.label for each in RELATIONSHIPS}


BY_RULES = {
    "stop-north": (4, {"Drayton": -4337.67, "Calder": 1018.23}),
    "stop-south": (4, {"Garston": -4432.67, "Elmstead": 299.16}),
    "stop-east": (4, {"Kelby": -4401.58, "Ilford": 2368.05}),
    "switch-lighting": (7, {"Farrow Parts": 18942.25, "Dunn Parts": 24360.49}),
    "switch-bicycles": (7, {"Egerton & Sons": 20843.14, "Abbott & Sons": 25776.70}),
    "switch-tools": (7, {"Abbott Supply": 22192.43, "Barlow Supply": 26588.25}),
    "add-cameras": (11, {"Oakham": -172.0, "Quorn": -127.75, "Witney": 335.14}),
    "add-kitchen": (11, {"Yarm": -356.0, "Upton": -152.36, "Witney": 154.09}),
    "add-furniture": (11, {"Verwood": -66.08, "Selby": 1.74, "Penrith": 169.63}),
}
"""How many outcomes a question has, and some of them, by the rules and the rows without SQL."""


def test_outcomes_are_those_of_the_rules(measured: Measured) -> None:
    """The values were calculated by a program that uses no statement of the folder."""
    assert {*measured.outcomes} == {*BY_RULES}
    for key, (count, values) in BY_RULES.items():
        found = measured.outcomes[key]
        assert len(found) == count
        assert {name: found[name] for name in values} == pytest.approx(values, abs=0.011)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["duckdb", "ladybug"])
def test_other_databases_decide_alike(name: str, measured: Measured, tmp_path: Path) -> None:
    """Candidates, outcomes, contexts and heuristics are the same, in SQL and in Cypher."""
    with made(name, LINES, tmp_path, {}) as where:
        assert measure(where).differs(measured) == []


def test_no_shortcut_reaches_the_decision(measured: Measured) -> None:
    """Which plant made least, who is cheapest, and which warehouse is emptiest say nothing."""
    for best, first, _ in measured.decisions.values():
        assert first != best
    stopped = [chosen for key, chosen in measured.decisions.items() if key.startswith("stop")]
    assert len({chosen[0] for chosen in stopped}) == len(stopped) == 3
    assert all(best not in others for best, *others in stopped)


@pytest.mark.slow
def test_methods_decide_with_scripted_models(warehouse: Path) -> None:
    """PlanRAG with statements and with the simulator are right; DeLLMa goes by the context."""
    chosen = decide(str(warehouse))
    for name in ("planrag", "planrag-sim"):
        assert len(chosen[name]) == len(ASKED)
        assert all(choice.endswith("(correct)") for choice in chosen[name].values())
    uncertain = chosen["dellma-pairs"].values()
    assert len(uncertain) == len(ASKED)
    assert all(choice.endswith(("(correct)", "(wrong)")) for choice in uncertain)


def test_the_same_seed_makes_the_same_rows() -> None:
    """And another seed others; lines are as many as were asked for."""
    first, again, other = make_rows(500), make_rows(500), make_rows(500, seed=1)
    assert all(first[name].equals(again[name]) for name in METADATA.tables)
    assert not first["order_line"].equals(other["order_line"])
    assert len(first["order_line"]) == 500


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["there.db"], "is there already"),
        (["oracle://host/db"], "no warehouse can be made in oracle"),
        (["other.db", "--lines", "0"], "at least 1 order line"),
    ],
)
def test_what_cannot_be_made_is_refused(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing that is there is written over."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.db").write_text("mine", "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err
    assert (tmp_path / "there.db").read_text("utf-8") == "mine"


def test_what_the_folder_says_of_a_column_is_in_the_prompt(warehouse: Path, tmp_path: Path) -> None:
    """Of a database that has no comments: where one question is asked, and where many are."""
    said = "what carrying a unit from the plant to the warehouse costs"
    asked = dqa.AskedQuestion(scenario=str(FOLDER / "stop-plant"), target=ASKED[0]["target"])
    trace = dqa.ask(warehouse, asked, decider="planrag", model="scripted:analyst")
    assert said in str(trace.events)
    questions = dqa.read_questions(QUESTIONS, {"warehouse": str(warehouse)})
    out = tmp_path / "run"
    dqa.evaluate(questions, "planrag", model="scripted:analyst", out=out)
    told = (out / "traces.jsonl").read_text("utf-8").splitlines()
    assert [said in line for line in told] == [True] * len(ASKED)
