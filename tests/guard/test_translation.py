"""Statements of MySQL's dialect, translated only where they are read as such and may run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, StatementError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.situation import Situation
from dqa.databases.sqlite import backend as sqlite
from dqa.guard import check, translation
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.quotes import split


def from_mysql(statement: str, dialect: str, policy: Policy = DEFAULT) -> str | None:
    """Return the translation of a statement of MySQL's."""
    return translation.translate(statement, "mysql", dialect, policy)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "sqlite", "ansi"])
def test_a_statement_of_mysql_becomes_one_of_the_dialect(dialect: str) -> None:
    """Quotes, functions and limits change; the rest stays."""
    translated = from_mysql('SELECT `a` FROM `t` WHERE `b` = "x" LIMIT 2, 3', dialect)
    assert translated == 'SELECT "a" FROM "t" WHERE "b" = \'x\' LIMIT 3 OFFSET 2'


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT `a` FROM `t`; DROP TABLE `t`",
        "DELETE FROM `t`",
        "SELECT `a` FROM `t` INTO OUTFILE '/tmp/x'",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT SLEEP(10)",
        "SELECT `a` FROM",
        "no statement at all",
    ],
)
@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "sqlite", "ansi"])
def test_what_may_not_run_as_mysql_is_not_translated(statement: str, dialect: str) -> None:
    """Translation is no way around the guard."""
    assert from_mysql(statement, dialect) is None


def test_mysql_itself_needs_no_translation() -> None:
    """Nor does MariaDB, nor what is the same in both dialects."""
    assert not list(translation.translations("SELECT `a` FROM `t`", "mysql"))
    assert not list(translation.translations("SELECT `a` FROM `t`", "mariadb"))
    assert from_mysql("SELECT a FROM t", "postgres") is None


def test_what_a_policy_denies_stays_denied_in_translation() -> None:
    """The policy judges both sides."""
    policy = Policy(tables=frozenset({"u"}))
    assert from_mysql("SELECT `a` FROM `t`", "postgres", policy) is None
    assert from_mysql("SELECT `a` FROM `u`", "postgres", policy) is not None


def test_the_result_says_what_ran(relational: Database) -> None:
    """A translated statement is told beside its result; one that ran as written is not."""
    rows = relational.query("SELECT IF(is_inland, 'in', 'out') AS x FROM trade_node LIMIT 1, 1")
    assert rows.rows == (("in",),)
    dated = relational.query("SELECT DATE_FORMAT('2024-02-03', '%Y') AS y")
    assert dated.rows == (("2024",),)
    assert dated.translated is not None
    assert "DATE_FORMAT" not in dated.translated


def test_errors_are_about_what_was_written(situation: Situation) -> None:
    """A function that neither dialect knows is refused as it stands."""
    database = sqlite.BACKEND.load(situation)
    with pytest.raises(RefusedStatementError, match="nosuch"):
        database.query("SELECT nosuch(flow) FROM flow")
    with pytest.raises(StatementError, match="Did you mean 'flow'"):
        database.query("SELECT `flwo` FROM `flow`")
    database.close()


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        # a name that could not be written without quotes
        ('SELECT IFNULL("net price", 0) FROM t', 'SELECT COALESCE("net price", 0) FROM t'),
        # one that stands where only names can, and with it the others
        (
            'SELECT IFNULL("code", "none") FROM "t"',
            'SELECT COALESCE("code", \'none\') FROM "t"',
        ),
        ('SELECT IFNULL(x."code", 0) FROM t x', 'SELECT COALESCE(x."code", 0) FROM t AS x'),
        # a text, as MySQL's are
        ('SELECT IFNULL(x, "code") FROM t', "SELECT COALESCE(x, 'code') FROM t"),
        (
            'SELECT IFNULL(`net price`, "code") FROM t',
            "SELECT COALESCE(\"net price\", 'code') FROM t",
        ),
        # what a comment says is nothing that is written
        (
            'SELECT IFNULL("code", "x") -- it\'s from\nFROM /* a */ "t"',
            'SELECT COALESCE("code", \'x\') FROM "t"',
        ),
        (
            'SELECT IFNULL(x, "code") /* FROM "t" */ FROM t',
            "SELECT COALESCE(x, 'code') /* FROM \"t\" */ FROM t",
        ),
        ("SELECT IFNULL(x, '\"net price\"') FROM t", "SELECT COALESCE(x, '\"net price\"') FROM t"),
        (
            'SELECT IFNULL("net price", 0) AS "my sum" FROM t ORDER BY "my sum"',
            'SELECT COALESCE("net price", 0) AS "my sum" FROM t ORDER BY "my sum" NULLS FIRST',
        ),
        ('SELECT IFNULL("select", 0) FROM t', 'SELECT COALESCE("select", 0) FROM t'),
    ],
)
def test_names_in_double_quotes_stay_names(statement: str, meant: str) -> None:
    """A text in their place would be a result that nobody notices is none."""
    names = frozenset({"t", "net price", "code", "select"})
    found = translation.translations(statement, "postgres", names=lambda: names)
    assert next(found) == meant


def test_where_names_are_not_known_nothing_in_double_quotes_is_taken_for_a_text() -> None:
    """A schema that is not read in time cannot say which of them are columns."""

    def found(statement: str) -> list[str]:
        return list(translation.translations(statement, "postgres", names=lambda: None))

    assert found('SELECT IFNULL("net price", 0) FROM t') == [
        'SELECT COALESCE("net price", 0) FROM t'
    ]
    assert found('SELECT IFNULL(`net price`, "x") FROM t') == [
        "SELECT COALESCE(\"net price\", 'x') FROM t"
    ]
    assert found("SELECT IFNULL(x, '\"') FROM t") == ["SELECT COALESCE(x, '\"') FROM t"]


_STAFF = DatabaseSchema(
    tables=(
        TableInfo("emp", tuple(Field(name, "text") for name in ("id", "salary", "net pay"))),
        TableInfo("dept", (Field("id", "text"),)),
    )
)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "sqlite", "ansi"])
@pytest.mark.parametrize("schema", [_STAFF, None], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "statement",
    [
        'SELECT "{}" FROM emp',
        'SELECT IF(id > 1, "{}", 0) FROM emp',
        'SELECT IFNULL("{}", 0) FROM "emp"',
        'SELECT `id` FROM emp WHERE "{}" > 1',
        'SELECT GROUP_CONCAT("{}" SEPARATOR ",") FROM emp',
        'SELECT IF(1, 2, 3) FROM emp JOIN dept USING ("{}")',
        'SELECT IF(1, 2, 3), emp /**/ . "{}" FROM emp',
        'SELECT IF(1, 2, 3) FROM emp ORDER BY "{}"',
        'SELECT IF(1, 2, 3) FROM dept WHERE EXISTS (SELECT 1 FROM emp WHERE "{}" > 1)',
    ],
)
def test_a_column_that_may_not_be_read_comes_back_as_no_text(
    statement: str, schema: DatabaseSchema | None, dialect: str
) -> None:
    """Rows of its name, time and again, would look like its values."""
    policy = Policy(denied_columns=frozenset({"emp.salary", "emp.net pay"}), schema=schema)
    for column in ("salary", "net pay"):
        written = statement.format(column)
        assert not check(written, dialect, policy).allowed
        assert not list(translation.translations(written, dialect, policy, lambda: {"emp", "id"}))
        assert not list(translation.translations(written, dialect, policy, lambda: None))


@pytest.mark.parametrize("quotes", ["'\\" * 9_000, "'" * 17_999, '"' * 17_999, "`" + "a" * 17_999])
def test_quotes_that_nothing_closes_are_read_once(quotes: str) -> None:
    """The open one goes on to the end: each was tried anew, which took most of a second."""
    parts = split(f'"a" {quotes}', "mysql")
    assert parts == [("quoted", '"a"'), ("code", " "), ("quoted", quotes)]


def test_a_database_knows_which_names_are_its_own(tmp_path: Path) -> None:
    """A statement with another dialect's functions returns the columns' values."""
    file = tmp_path / "odd.db"
    with sqlite3.connect(file) as opened:
        opened.execute('CREATE TABLE sites ("Site Name" TEXT, "select" INTEGER)')
        opened.execute("INSERT INTO sites VALUES ('North', 2), ('South', 0)")
    opened.close()
    database = sqlite.BACKEND.open(str(file))
    rows = database.query('SELECT IF("select" > 1, "Site Name", \'none\') FROM sites')
    assert rows.rows == (("North",), ("none",))
    dated = database.query("SELECT DATE_FORMAT('2024-02-03', '%Y'), \"Site Name\" FROM sites")
    assert dated.rows[0] == ("2024", "North")
    database.close()
