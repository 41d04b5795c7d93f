"""The worked example: one folder without Python that decides alike on every database."""

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
    """Create a warehouse in SQLite."""
    file = tmp_path_factory.mktemp("warehouse") / "warehouse.db"
    make_warehouse(str(file), LINES)
    return file


@pytest.fixture
def measured(warehouse: Path) -> Measured:
    """Run every statement of every question on SQLite."""
    return measure(str(warehouse))


def test_the_folder_holds_no_python_and_describes_the_created_tables() -> None:
    """Names, types and keys, and the graph."""
    suffixes = {file.suffix for file in FOLDER.rglob("*") if file.is_file()}
    assert suffixes == {".toml", ".md", ".txt", ".sql", ".cypher", ".jsonl"}
    document = tomllib.loads((FOLDER / "tables.toml").read_text("utf-8"))
    assert len(document["tables"]) == 12
    kinds = {
        Boolean: "boolean", Numeric: "decimal", Integer: "integer", Date: "date", JSON: "json",
        String: "text",
    }  # fmt: skip
    for table in document["tables"]:
        written = METADATA.tables[table["name"]]
        assert table["key"] == [column.name for column in written.primary_key]
        assert [(column["name"], column["type"]) for column in table["columns"]] == [
            (column.name, next(kind for of, kind in kinds.items() if isinstance(column.type, of)))
            for column in written.columns
        ]
    assert {node["label"]: node["table"] for node in document["nodes"]} == NODES
    assert {edge["label"] for edge in document["edges"]} == {each.label for each in RELATIONSHIPS}


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
"""The number of a question's outcomes and some of them, calculated without SQL."""


def test_outcomes_are_those_of_the_rules(measured: Measured) -> None:
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
    """Neither the worst plant, the cheapest supplier nor the emptiest warehouse is the answer."""
    for best, first, _ in measured.decisions.values():
        assert first != best
    stopped = [chosen for key, chosen in measured.decisions.items() if key.startswith("stop")]
    assert len({chosen[0] for chosen in stopped}) == len(stopped) == 3
    assert all(best not in others for best, *others in stopped)


@pytest.mark.slow
def test_methods_decide_with_scripted_models(warehouse: Path) -> None:
    """PlanRAG is right with statements and with the simulator; DeLLMa decides by the context."""
    chosen = decide(str(warehouse))
    for name in ("planrag", "planrag-sim"):
        assert len(chosen[name]) == len(ASKED)
        assert all(choice.endswith("(correct)") for choice in chosen[name].values())
    uncertain = chosen["dellma-pairs"].values()
    assert len(uncertain) == len(ASKED)
    assert all(choice.endswith(("(correct)", "(wrong)")) for choice in uncertain)


def test_the_same_seed_makes_the_same_rows() -> None:
    """Another seed gives others, and the number of lines is as set."""
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
def test_impossible_warehouses_are_refused(
    arguments: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No existing file is overwritten."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.db").write_text("mine", "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err
    assert (tmp_path / "there.db").read_text("utf-8") == "mine"


def test_column_descriptions_of_the_folder_are_in_the_prompt(
    warehouse: Path, tmp_path: Path
) -> None:
    """For a single question and for a run."""
    description = "what carrying a unit from the plant to the warehouse costs"
    asked = dqa.UserQuestion(scenario=str(FOLDER / "stop-plant"), target=ASKED[0]["target"])
    trace = dqa.ask(warehouse, asked, decider="planrag", model="scripted:analyst")
    assert description in str(trace.events)
    questions = dqa.read_questions(QUESTIONS, {"warehouse": str(warehouse)})
    out = tmp_path / "run"
    dqa.evaluate(questions, "planrag", model="scripted:analyst", out=out)
    lines = (out / "traces.jsonl").read_text("utf-8").splitlines()
    assert [description in line for line in lines] == [True] * len(ASKED)
