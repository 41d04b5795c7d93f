"""A proposed folder works, marks its guesses, and contains nothing hidden."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dqa
from dqa.cli.main import app
from dqa.core.errors import DataError, ParseError, UsageError
from dqa.scenarios import read_scenario
from examples.make_warehouse import make_warehouse
from tests.confirming import confirm

ODD = """
CREATE TABLE "Größe & Werk" ("Werk Nr" INTEGER PRIMARY KEY, "Name" TEXT, "select" TEXT,
    "Kosten $" REAL, "a""b" INTEGER, "note" TEXT);
CREATE TABLE "order" ("Auftrag-Nr" INTEGER PRIMARY KEY,
    "Werk Nr" INTEGER REFERENCES "Größe & Werk"("Werk Nr"), "Menge kg" REAL, "group" TEXT);
"""
KEYLESS = """
CREATE TABLE supplier (id, name, country);
CREATE TABLE deliveries (supplier_id, part, qty, price);
CREATE TABLE log (line TEXT);
"""
EXAMPLES = Path(__file__).parents[2] / "examples" / "warehouse"
BAD_TEXT = "x\x1b[31m\r\n\u202e\x7f\x85\u2028\n[[tables]]"


def _database(file: Path, script: str, rows: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    with sqlite3.connect(file) as opened:
        opened.executescript(script)
        for table, values in rows.items():
            marks = ", ".join("?" * len(values[0]))
            opened.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values)
    opened.close()
    return file


def _columns(text: str) -> list[dict[str, str]]:
    tables = tomllib.loads(text)["tables"]
    return [column for table in tables for column in table["columns"]]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Create a database whose names need quoting, and whose texts contain control characters."""
    plants = [
        (i + 1, f"Wérk '{i}'" if i else 'a"b\\c', "NS"[i % 2], i * 1.5, i, BAD_TEXT)
        for i in range(6)
    ]
    orders = [(i + 1, i % 6 + 1, i / 3, "g") for i in range(30)]
    return _database(tmp_path / "odd.db", ODD, {"Größe & Werk": plants, "order": orders})


@pytest.fixture
def keyless(tmp_path: Path) -> Path:
    """Create a database that declares no key, no join and no type."""
    return _database(
        tmp_path / "keyless.db",
        KEYLESS,
        {
            "supplier": [(i, f"s{i}", "DE") for i in range(5)],
            "deliveries": [(i % 5, f"p{i % 3}", i, 1.5) for i in range(20)],
            "log": [("a",), ("a",)],
        },
    )


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the example's warehouse in each embedded database."""
    folder = tmp_path_factory.mktemp("warehouses")
    for ending in ("db", "duckdb", "lbug"):
        make_warehouse(str(folder / f"warehouse.{ending}"), lines=300)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["db", "duckdb", "lbug"])
def test_a_proposal_and_the_examples_are_good(
    warehouses: Path, tmp_path: Path, ending: str
) -> None:
    """The doctor reports only guesses, and the oracle decides; the examples' folders have no
    findings.
    """
    file = warehouses / f"warehouse.{ending}"
    made = dqa.propose_scenario(file, tmp_path / "plants", question="Which plant to stop?")
    confirm(tmp_path / "plants")
    assert made.column == "name"
    assert made.table.lower() == made.noun == "plant"
    checked = dqa.check_scenario(tmp_path / "plants", file)
    assert checked.is_good
    assert {found.level for found in checked.findings} == {"note"}
    assert all("guess" in found.problem for found in checked.findings)
    assert checked.statements >= 3
    asked = dqa.UserQuestion(scenario=str(tmp_path / "plants"))
    assert dqa.ask(file, asked, decider="oracle").choice is not None
    for scenario in ("stop-plant", "switch-supplier", "add-stock"):
        target = {"units": "4"} if scenario == "add-stock" else {}
        checked = dqa.check_scenario(EXAMPLES / scenario, file, target=target)
        assert checked.is_good, checked.to_text()


def test_no_decision_is_made_by_guesses_until_they_are_confirmed(tmp_path: Path) -> None:
    """The user sets the goal: the plant to close is not the one that sells best."""
    file = _database(
        tmp_path / "plants.db",
        "CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT, revenue REAL);",
        {"plant": [(1, "small", 1.0), (2, "large", 9.0)]},
    )
    folder = tmp_path / "close"
    dqa.propose_scenario(file, folder, question="Which plant shall end?")
    document = folder / "scenario.toml"
    checked = dqa.check_scenario(folder, file)
    (error,) = [found for found in checked.findings if found.level == "error"]
    assert error.file == str(document)
    assert "outcomes.confirmed: The goal (maximise the total revenue)" in error.problem
    asked = dqa.UserQuestion(scenario=str(folder))
    with pytest.raises(ParseError, match="write confirmed = true") as raised:
        dqa.ask(file, asked, decider="oracle")
    assert raised.value.file == document
    with pytest.raises(UsageError, match="write confirmed = true"):
        dqa.read_questions([{"target": {}}], file, scenario=folder)
    done = CliRunner().invoke(
        app, ["ask", "--scenario", str(folder), "--database", str(file), "--decider", "oracle"]
    )
    assert done.exit_code != 0
    confirm(folder)
    document.write_text(document.read_text("utf-8").replace('"maximise"  #', '"minimise"  #', 1))
    assert dqa.ask(file, asked, decider="oracle").choice == "small"
    statement = folder / "outcomes.sql"
    statement.write_text(statement.read_text("utf-8").replace("revenue", "revenues"), "utf-8")
    with pytest.raises(UsageError, match=r"no such column: .*revenues"):
        dqa.ask(file, asked, model="scripted:analyst")


def test_keys_and_samples_are_written_and_guesses_marked(keyless: Path, tmp_path: Path) -> None:
    """Without a declared key, the values suggest one; each column has three samples."""
    made = dqa.propose_scenario(keyless, tmp_path / "s")
    text = (tmp_path / "s" / "tables.toml").read_text("utf-8")
    assert 'key = ["id"]  # guess: the database declares no key' in text
    assert '{ name = "qty", type = "integer" },  # e.g. 0, ' in text
    # Models read a description as a fact, so it must not contain a guess.
    assert not any("description" in column for column in _columns(text))
    files = [file for file in (tmp_path / "s").iterdir() if file.suffix != ".json"]
    found = [one for file in files for one in re.findall(".*guess.*", file.read_text("utf-8"))]
    marks = [one for one in found if re.search(r"(?:#|--|<!--) guess: .*", one)]
    assert made.guesses == len(marks) == len(found) - 1  # the first line of scenario.toml
    confirm(tmp_path / "s")  # not a mark: it is changed, and stays
    assert not any("confirmed" in one for one in marks)
    rules = read_scenario(tmp_path / "s").rules
    assert rules.startswith("1. ")  # the comment about the rules is not a rule
    assert "guess" not in rules
    assert dqa.check_scenario(tmp_path / "s", keyless).is_good


def test_names_are_quoted_and_control_characters_escaped(odd: Path, tmp_path: Path) -> None:
    """Spaces, reserved words, accents, quotes and dollar signs; controls are spelt out."""
    made = dqa.propose_scenario(odd, tmp_path / "s")
    confirm(tmp_path / "s")
    assert made.table == "Größe & Werk"
    assert dqa.check_scenario(tmp_path / "s", odd).is_good
    read_scenario(tmp_path / "s")
    outcomes = (tmp_path / "s" / "outcomes.sql").read_text("utf-8")
    assert 'LEFT JOIN "order" f ON f."Werk Nr" = c."Werk Nr"' in outcomes
    for file in (tmp_path / "s").iterdir():
        text = file.read_bytes().decode("utf-8")
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", text), file
        assert text.count("[[tables]]") == (3 if file.name == "tables.toml" else 0)  # one in a text
    asked = dqa.UserQuestion(scenario=str(tmp_path / "s"))
    assert dqa.ask(odd, asked, decider="oracle").choice == "Wérk '5'"
    # The scripted analyst finds the scenario by its tables, as the schema quotes them.
    trace = dqa.ask(odd, asked, decider="planrag", model="scripted:analyst")
    assert trace.asked is not None
    assert trace.choice in [one.candidate for one in trace.asked.alternatives if one.rank == 1]


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("tables.toml", '"Kosten $"', '"Kosten"', "did you mean 'Kosten $'?"),
        ("outcomes.sql", 'JOIN "order"', "JOIN order", 'near "order": syntax error'),
        (
            *("outcomes.sql", '= c."Werk Nr"', '= "Werk Nummer"'),
            """SQLite reads "Werk Nummer" as a text; did you mean 'Werk Nr'?""",
        ),
    ],
)
def test_errors_in_names_that_need_quoting_are_found(
    odd: Path, name: str, old: str, new: str, problem: str
) -> None:
    folder = odd.with_name("s")
    dqa.propose_scenario(odd, folder)
    confirm(folder)
    file = folder / name
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")
    errors = [one for one in dqa.check_scenario(folder, odd).findings if one.level == "error"]
    assert [one.file for one in errors] == [str(file)], errors
    assert problem in errors[0].problem


def test_no_file_contains_hidden_data(tmp_path: Path) -> None:
    """Neither a table that is not named, nor a column, a masked value, or a hidden row."""
    file = _database(
        tmp_path / "shop.db",
        "CREATE TABLE branch (id INTEGER PRIMARY KEY, name TEXT, pin TEXT, mail TEXT, kind TEXT);"
        "CREATE TABLE secret (id INTEGER PRIMARY KEY, word TEXT, branch_id INTEGER);",
        {
            "branch": [
                (i, f"b{i}", f"PIN-{i}", f"MAIL-{i}", "unlisted" if i > 5 else "open")
                for i in range(8)
            ],
            "secret": [(i, f"WORD-{i}", i) for i in range(8)],
        },
    )
    policy = tmp_path / "policy.json"
    rules: dict[str, Any] = {
        "tables": ["branch"],
        "denied_columns": ["pin"],
        "masks": {"branch.mail": "***"},
        "row_filters": {"branch": "kind <> 'unlisted'"},
    }
    policy.write_text(json.dumps(rules), "utf-8")
    dqa.propose_scenario(file, tmp_path / "s", policy=policy)
    confirm(tmp_path / "s")
    whole = "".join(found.read_text("utf-8") for found in (tmp_path / "s").iterdir())
    for hidden in ("PIN-", "MAIL-", "WORD-", "unlisted", "secret", '"pin"', str(tmp_path)):
        assert hidden not in whole
    assert "b1" in whole
    assert dqa.check_scenario(tmp_path / "s", file, policy=policy).is_good


def test_nothing_is_overwritten(keyless: Path, tmp_path: Path) -> None:
    """A folder that holds anything stays as it is; an empty one is taken."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="is not empty"):
        dqa.propose_scenario(keyless, tmp_path / "full")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    made = dqa.propose_scenario(keyless, tmp_path / "empty")
    assert {file.name for file in (tmp_path / "empty").iterdir()} == set(made.files)
    if os.name == "posix":
        assert (tmp_path / "empty" / "tables.toml").stat().st_mode & 0o777 == 0o600


def test_a_folder_without_candidates_or_outcomes_is_an_error(odd: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    dqa.propose_scenario(odd, folder, question="Which Werk to stop?")
    confirm(folder)
    asked = dqa.UserQuestion(scenario=str(folder))
    (folder / "outcomes.sql").write_text("SELECT NULL, NULL;", "utf-8")
    with pytest.raises(DataError, match="outcome"):
        dqa.ask(odd, asked, decider="planrag", model="scripted:analyst")
    (folder / "candidates.sql").write_text('SELECT 1 FROM "order" WHERE 1 = 0;', "utf-8")
    empty = "lists no candidates: fix its list"
    with pytest.raises(UsageError, match=empty):
        dqa.ask(odd, asked, decider="oracle")
    with pytest.raises(UsageError, match=empty):
        dqa.read_questions([{"target": {}}], odd, scenario=folder)


def test_the_scripted_analyst_decides_only_if_it_sees_all_candidates(tmp_path: Path) -> None:
    """Of 250 candidates, the best is the last. A result has at most 200 rows by default.

    The question names the measure, although other columns are measures more often.
    """
    file = _database(
        tmp_path / "plants.db",
        "CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT, revenue REAL, rating REAL);",
        {"plant": [(n, f"plant {n:03}", -float(n), float(n)) for n in range(1, 251)]},
    )
    dqa.propose_scenario(file, tmp_path / "s", question="Which plant has the highest rating?")
    confirm(tmp_path / "s")
    asked = dqa.UserQuestion(scenario=str(tmp_path / "s"))
    with pytest.raises(UsageError, match="--row-limit"):
        dqa.ask(file, asked, model="scripted:analyst")
    limits = dqa.Limits(rows=250)
    whole = dqa.ask(file, asked, model="scripted:analyst", limits=limits)
    others = [
        dqa.ask(file, asked, model="scripted:analyst", decider=decider)
        for decider in ("planrag-sim", "oracle")
    ]
    assert [one.choice for one in (whole, *others)] == ["plant 250"] * 3


COMPOSITE = """
CREATE TABLE region (land TEXT, number INTEGER, name TEXT, PRIMARY KEY (land, number));
CREATE TABLE sale (id INTEGER PRIMARY KEY, land TEXT, number INTEGER, amount REAL, cost REAL,
    FOREIGN KEY (land, number) REFERENCES region);
CREATE TABLE move (id INTEGER PRIMARY KEY, from_land TEXT, from_number INTEGER, to_land TEXT,
    to_number INTEGER, FOREIGN KEY (from_land, from_number) REFERENCES region,
    FOREIGN KEY (to_land, to_number) REFERENCES region);
"""


def test_a_key_of_several_columns_joins_by_all_of_them(tmp_path: Path) -> None:
    """One column alone would mix the rows of several regions."""
    file = _database(
        tmp_path / "regions.db",
        COMPOSITE,
        {
            "region": [("de", 1, "North"), ("de", 2, "South"), ("fr", 1, "Nord")],
            "sale": [(1, "de", 1, 10.0, 1.0), (2, "de", 2, 20.0, 1.0), (3, "fr", 1, 5.0, 1.0)],
        },
    )
    dqa.propose_scenario(file, tmp_path / "s", question="Which region has the highest amount?")
    confirm(tmp_path / "s")
    text = (tmp_path / "s" / "tables.toml").read_text("utf-8")
    assert "# joins: land -> region.land and number -> region.number" in text
    assert "# joins: from_land -> region.land and from_number -> region.number" in text
    assert "# joins: to_land -> region.land and to_number -> region.number" in text
    asked = dqa.UserQuestion(scenario=str(tmp_path / "s"))
    decision = dqa.ask(file, asked, decider="oracle")
    assert decision.asked is not None
    outcomes = {one.candidate: one.outcome for one in decision.asked.alternatives}
    assert outcomes == {"North": 10.0, "South": 20.0, "Nord": 5.0}


def test_personal_data_and_the_wrong_goal_are_not_written(tmp_path: Path) -> None:
    """Columns of people have no examples, and the plant to close is the one with the least."""
    script = """
    CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT UNIQUE, contact_email TEXT);
    CREATE TABLE customer (id INTEGER PRIMARY KEY, first_name TEXT, "birthDate" TEXT);
    CREATE TABLE sale (plant_id INTEGER REFERENCES plant(id),
        customer_id INTEGER REFERENCES customer(id), amount REAL);
    """
    rows: dict[str, list[tuple[object, ...]]] = {
        "plant": [(1, "Ulm", "ada@example.org"), (2, "Bonn", "bob@example.org")],
        "customer": [(1, "Ada", "1815-12-10")],
        "sale": [(1, 1, 10.0), (2, 1, 20.0)],
    }
    database = _database(tmp_path / "plants.db", script, rows)
    dqa.propose_scenario(database, tmp_path / "own", question="Which plant to close?")
    tables = (tmp_path / "own" / "tables.toml").read_text("utf-8")
    assert "Ulm" in tables
    assert not re.search("example.org|Ada|1815", tables)
    goal = tomllib.loads((tmp_path / "own" / "scenario.toml").read_text("utf-8"))["outcomes"][
        "goal"
    ]
    assert goal == "minimise"
