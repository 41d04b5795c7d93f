"""The doctor reports the problems of a scenario's folder with the file and the field or line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dqa
from dqa.cli.main import app
from dqa.core.errors import UnknownNameError, UsageError
from tests.sqlite_files import run_script

DOCUMENT = """name = "branches"
include = ["../tables.toml"]

[candidates]
noun = "branch"

[outcomes]
unit = "profit"
goal = "maximise"
source = "query"

[[heuristics]]
name = "most-staff"
description = "the branch with the most staff"
"""
TABLES = """[parameters.region]
table = "branch"
column = "region"

[[tables]]
name = "branch"
key = ["id"]
columns = [
  { name = "id", type = "integer" },
  { name = "name", type = "text" },
  { name = "region", type = "text" },
  { name = "staff", type = "integer" },
]

[[tables]]
name = "sale"
key = ["id"]
columns = [
  { name = "id", type = "integer" },
  { name = "branch_id", type = "integer" },
  { name = "amount", type = "float" },
]
"""
FILES = {
    "../tables.toml": TABLES,
    "scenario.toml": DOCUMENT,
    "rules.md": "1. The profit of a `branch` is the sum of `sale.amount`.\n",
    "question.txt": "Which branch of $region is best?\n\nAnswer with the name of one branch.\n",
    "candidates.sql": "-- Of a region.\nSELECT name\nFROM branch\nWHERE region = $region;\n",
    "outcomes.sql": "SELECT b.name,\n  SUM(s.amount)\nFROM branch b\n"
    "JOIN sale s ON s.branch_id = b.id\nWHERE b.name IN ($candidates)\nGROUP BY b.name;\n",
    "context.sql": "SELECT name, staff FROM branch WHERE name IN ($candidates);\n"
    "SELECT COUNT(*) AS many\nFROM sale;\n",
    "heuristics/most-staff.sql": "SELECT name FROM branch WHERE region = $region\n"
    "ORDER BY staff DESC LIMIT 1;\n",
}


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a database of six branches in two regions, and their sales."""
    file = tmp_path_factory.mktemp("firm") / "firm.db"
    with sqlite3.connect(file) as opened:
        opened.executescript(
            "CREATE TABLE branch (id INTEGER PRIMARY KEY, name TEXT, region TEXT, staff INTEGER);"
            "CREATE TABLE sale (id INTEGER PRIMARY KEY, branch_id INTEGER, amount REAL);"
        )
        for i in range(6):
            row = (i, f"b{i}", "NS"[i % 2], 10 + i)
            opened.execute("INSERT INTO branch VALUES (?, ?, ?, ?)", row)
        for i in range(30):
            opened.execute("INSERT INTO sale VALUES (?, ?, ?)", (i, i % 6, 1.5 * i))
    opened.close()
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a scenario without mistakes."""
    home = tmp_path / "branches"
    (home / "heuristics").mkdir(parents=True)
    for name, text in FILES.items():
        (home / name).write_text(text, "utf-8")
    return home


@pytest.fixture
def check(folder: Path, firm: Path) -> Callable[..., list[tuple[str, int | None, str]]]:
    """Change one file, and return level and file, line and problem of all findings."""

    def changed(name: str = "", old: str = "", new: str = "") -> list[tuple[str, int | None, str]]:
        if name:
            text = (folder / name).read_text("utf-8")
            assert old in text
            (folder / name).write_text(text.replace(old, new, 1), "utf-8")
        found = dqa.check_scenario(folder, firm).findings
        return [(f"{one.level} {Path(one.file).name}", one.line, one.problem) for one in found]

    return changed


def test_a_good_folder_has_no_findings(folder: Path, firm: Path) -> None:
    """Every statement was run for every sample target."""
    checked = dqa.check_scenario(folder, firm)
    assert checked.findings == ()
    assert checked.is_good
    assert [target["region"] for target in checked.targets] == ["N", "S"]
    assert checked.statements == 2 * (1 + 1 + 2 + 1)
    assert "0 errors, 0 warnings, 0 notes (10 statements for 2 targets)" in checked.to_text()


MISTAKES: list[tuple[str, str, str, tuple[str, int | None], str]] = [
    (
        *("../tables.toml", '"staff"', '"stuff"', ("error tables.toml", None)),
        "'branch' 'stuff' (it has: id, name, region, staff); did you mean 'staff'?",
    ),
    (
        *("../tables.toml", '"amount", type = "float"', '"amount", type = "text"'),
        ("error tables.toml", None),
        "'amount' of 'sale' is REAL in the database, which holds float values, not text",
    ),
    (
        *("outcomes.sql", "s.branch_id = b.id", "s.branch = b.id", ("error outcomes.sql", 4)),
        "no such column: s.branch. Did you mean 'branch_id'?",
    ),
    (
        *("outcomes.sql", "SELECT b.name", "DELETE FROM sale; SELECT b.name"),
        *(("error outcomes.sql", 1), "the guard refuses the"),
    ),
    (
        *("candidates.sql", "region = $region", "1 = 0 AND region = $region"),
        *(("error candidates.sql", 2), "no candidates for region=N"),
    ),
    (
        *("candidates.sql", "FROM branch\n", "FROM branch JOIN (SELECT 1 UNION SELECT 2)\n"),
        ("warning candidates.sql", 2),
        "'b0', 'b2', 'b4' for region=N: add DISTINCT",
    ),
    (
        *("outcomes.sql", "WHERE b.name IN ($candidates)", "WHERE b.name IN ($candidates, 'b1')"),
        *(("warning outcomes.sql", 1), "an outcome for 'b1' for region=N, which is not"),
    ),
    (
        *("heuristics/most-staff.sql", "region = $region", "region <> $region"),
        *(("error most-staff.sql", 1), "chooses 'b5' for region=N, which is not"),
    ),
    (
        *("question.txt", "$region", "$regoin", ("error question.txt", 1)),
        "there is no parameter 'regoin' (there are: region); did you mean 'region'?",
    ),
    (
        *("rules.md", "", "In $region. ", ("error rules.md", None)),
        "'$region' does not become a value",
    ),
    (
        *("scenario.toml", "maximise", "maximize", ("error scenario.toml", None)),
        "outcomes.goal: must be 'maximise' or 'minimise', not 'maximize'",
    ),
]
"""File, its text, the mistake, and the reported line and problem."""


@pytest.mark.parametrize(("name", "old", "new", "location", "problem"), MISTAKES)
def test_each_mistake_is_found_at_its_line(  # noqa: PLR0917  (one column each)
    check: Callable[..., list[tuple[str, int | None, str]]],
    name: str,
    old: str,
    new: str,
    location: tuple[str, int | None],
    problem: str,
) -> None:
    """One mistake each, in a folder that has no other."""
    found = check(name, old, new)
    here = [one for one in found if one[:2] == location and problem in one[2]]
    assert here, found
    assert "branches/doctor" not in here[0][2]


@pytest.mark.slow
def test_an_error_of_the_engine_is_not_reported_as_a_timeout(folder: Path, tmp_path: Path) -> None:
    """A view that fails when it is read, as a materialized view WITH NO DATA does."""
    file = run_script(
        tmp_path / "failing.db",
        "CREATE TABLE branch (id INTEGER PRIMARY KEY, name TEXT, region TEXT, staff INTEGER);"
        "INSERT INTO branch VALUES (1, 'a', 'N', 1);"
        "CREATE TABLE data (id INTEGER, branch_id INTEGER, amount REAL);"
        "INSERT INTO data VALUES (-9223372036854775807 - 1, 1, 1.0);"
        "CREATE VIEW sale AS SELECT abs(id) AS id, branch_id, amount FROM data;",
    )
    outcomes = (folder / "outcomes.sql").read_text("utf-8")
    (folder / "outcomes.sql").write_text(outcomes.replace("SUM(s.amount)", "SUM(s.id)"), "utf-8")
    (finding,) = (
        found
        for found in dqa.check_scenario(folder, str(file)).findings
        if found.file.endswith("outcomes.sql")
    )
    assert "integer overflow" in finding.problem
    assert "10 s" not in finding.problem


def test_the_command_prints_and_exits_as_documented(folder: Path, firm: Path) -> None:
    """0 for a good folder, 1 for an error in it, 2 for a wrong command."""

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["doctor", *arguments])
        if isinstance(done.exception, UsageError):
            return 2, str(done.exception)
        return done.exit_code, done.stdout

    good = ("--scenario", str(folder), "--database", str(firm))
    assert run(*good)[0] == 0
    code, output = run(*good, "--json", "--target", "region=S")
    assert (code, json.loads(output)[0]["targets"]) == (0, [{"region": "S"}])
    question = (folder / "question.txt").read_text("utf-8")
    (folder / "question.txt").write_text(question.replace("$region", "$regoin"), "utf-8")
    code, output = run(*good)
    assert code == 1
    assert f"error: {folder}/question.txt:1: there is no parameter 'regoin'" in output
    (folder / "question.txt").write_text(question, "utf-8")
    assert run("--scenario", str(folder)) == (
        2,
        "--scenario needs a database to check against: add --database URL.",
    )
    assert run("--scenario", str(folder / "nothing"), "--database", str(firm))[0] == 2
    assert run("--target", "region=S")[0] == 2
    with pytest.raises(UnknownNameError, match="Did you mean 'region'"):
        dqa.check_scenario(folder, firm, target={"regoin": "S"})


def test_a_hidden_column_is_an_error_only_if_a_statement_needs_it(folder: Path, firm: Path) -> None:
    """A decision works without a table or a column that no statement names."""
    policy = dqa.Policy(denied_columns=frozenset({"staff"}))
    found = dqa.check_scenario(folder, firm, policy=policy).findings
    levels = {(one.level, Path(one.file).name) for one in found}
    assert levels == {
        ("note", "tables.toml"),
        ("error", "context.sql"),
        ("error", "most-staff.sql"),
    }
    for file, text in (
        ("context.sql", "SELECT name FROM branch WHERE name IN ($candidates);\n"),
        ("heuristics/most-staff.sql", "SELECT name FROM branch WHERE region = $region LIMIT 1;\n"),
    ):
        (folder / file).write_text(text, "utf-8")
    for hidden in (policy, dqa.Policy(tables=frozenset({"branch", "sale"}))):
        check = dqa.check_scenario(folder, firm, policy=hidden)
        assert check.is_good, [one.to_text() for one in check.findings]
    misspelt = dqa.check_scenario(folder, firm, policy=dqa.Policy(tables=frozenset({"branch"})))
    assert {(one.level, Path(one.file).name) for one in misspelt.findings} >= {
        ("note", "tables.toml"),
        ("error", "outcomes.sql"),
    }
