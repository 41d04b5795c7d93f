"""`dqa check` says of every statement whether it may run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa.api.checking import check_script
from tests.cli.conftest import Command

SCRIPT = """\
-- what the shop asks; all of it
SELECT name,
       'x;y'  -- it's a text; no end
FROM shop;

/* not; this */
DROP TABLE shop;;
SELECT count(*) FROM shop
"""
CYPHER = """\
// what the shop asks; all of it
MATCH (s:Shop)
RETURN s.`a;b`, ';' ;
/* not; this */ MATCH (s) DELETE s;
RETURN 1
"""


@pytest.mark.parametrize("dialect", ["mysql", "mariadb", "postgres", "sqlite", "duckdb", "ansi"])
def test_sql_is_read_as_people_write_it(dqa: Command, tmp_path: Path, dialect: str) -> None:
    """Many lines a statement, comments, a byte order mark; each is told by file and line."""
    file = tmp_path / "shop.sql"
    file.write_bytes(b"\xef\xbb\xbf" + SCRIPT.replace("\n", "\r\n").encode())
    ran = dqa("check", "--dialect", dialect, file)
    assert ran.code == 0
    heads = [line for line in ran.out.splitlines() if line.startswith(str(file))]
    assert heads == [
        f"{file}:2: allowed  SELECT name, 'x;y' -- it's a text; no end FROM shop",
        f"{file}:7: REFUSED  DROP TABLE shop",
        f"{file}:8: allowed  SELECT count(*) FROM shop",
    ]
    assert "only a query may run" in ran.out
    assert ran.out.endswith("3 statements: 2 allowed, 1 refused.\n")


@pytest.mark.parametrize("dialect", ["neo4j", "ladybug"])
def test_cypher_scripts_are_read_likewise(dqa: Command, tmp_path: Path, dialect: str) -> None:
    """As records, where they are wanted."""
    file = tmp_path / "shop.cypher"
    file.write_text(CYPHER, "utf-8")
    checked = json.loads(dqa("check", "--dialect", dialect, file, "--json").out)
    assert [(one["line"], one["allowed"]) for one in checked] == [(2, True), (4, False), (5, True)]
    assert {one["file"] for one in checked} == {str(file)}
    assert checked[0]["statement"] == "MATCH (s:Shop)\nRETURN s.`a;b`, ';'"
    assert checked[1]["reason"]


def test_the_exit_code_tells_of_refusals_where_it_is_asked_to(dqa: Command, tmp_path: Path) -> None:
    """And of nothing without that."""
    good, bad = tmp_path / "good.sql", tmp_path / "bad.sql"
    good.write_text("SELECT 1;", "utf-8")
    bad.write_text("SELECT 1; DROP TABLE t;", "utf-8")
    check = ("check", "--dialect", "sqlite")
    assert [dqa(*check, file).code for file in (good, bad)] == [0, 0]
    assert [dqa(*check, "--exit-code", file).code for file in (good, bad)] == [0, 1]
    assert dqa(*check, "--exit-code", "--json", bad).code == 1


@pytest.mark.parametrize(
    ("dialect", "script", "line"),
    [
        ("mysql", "SELECT 1;\nSELECT 'open; SELECT 2;\nSELECT 3", 2),
        ("postgres", "SELECT 1;\nSELECT $t$ open; SELECT 2", 2),
        ("postgres", "SELECT 1;\nSELECT 2 /* /* */ open; SELECT 3", 2),
        ("neo4j", "RETURN 1;\nRETURN 'open; RETURN 2", 2),
        # With NO_BACKSLASH_ESCAPES, what is a text here ends in the middle, and more follows.
        ("mysql", "SELECT 1;\nSELECT 'a\\', '; DROP TABLE t; -- ';\nSELECT 2", 2),
        # Even where a quote is left open then: the server has run what stands before it.
        ("mysql", "SELECT 1;\nSELECT 'a\\'; DROP TABLE t; ';\nSELECT 2", 2),
        # PostgreSQL and DuckDB end a comment here.
        ("postgres", "SELECT 1;\n-- x\rDROP TABLE t;\nSELECT 2", 2),
    ],
)
def test_what_cannot_be_split_with_certainty_is_refused_with_its_place(
    dialect: str, script: str, line: int
) -> None:
    """All of it is one statement, so nothing in it can be overlooked."""
    checked = check_script(script, dialect)
    assert [(one.line, one.allowed) for one in checked] == [(1, True), (line, False)]
    assert checked[-1].statement == script.partition("\n")[2]
    assert checked[-1].reason.startswith(f"line {line}: ")


def test_only_what_every_client_takes_for_a_comment_is_one() -> None:
    """The server of MySQL begins one at dashes and a control character; its client does not."""
    checked = check_script("SELECT 1; --\x01 ; DROP TABLE t\n; SELECT 2 -- it\\'s\r\n;", "mysql")
    assert [one.allowed for one in checked] == [True, False]


def test_what_a_server_runs_in_a_comment_is_a_statement() -> None:
    """A comment that is none is never left out."""
    for script in ("/*!50000 DROP TABLE t */;", "SELECT 1; /*! DROP TABLE t; */ ;", "/*M! x */"):
        assert not all(one.allowed for one in check_script(script, "mysql"))


def test_a_policy_can_be_named(dqa: Command, tmp_path: Path) -> None:
    """It opens what it names and closes the rest."""
    policy = tmp_path / "policy.json"
    rules = '{"tables": ["t", "v"], "functions": ["score"], "denied_columns": ["v.b"]}'
    policy.write_text(rules, "utf-8")
    file = tmp_path / "statements.sql"
    file.write_text("SELECT score(a) FROM t;\nSELECT a FROM u;\nSELECT a FROM v", "utf-8")
    checked = json.loads(dqa("check", "--dialect", "mysql", "--policy", policy, file, "--json").out)
    assert [one["allowed"] for one in checked] == [True, False, False]
    assert "'dqa query " in checked[2]["reason"]
