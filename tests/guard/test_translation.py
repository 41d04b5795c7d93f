"""Statements of other dialects run in translation only if they may run in both."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import QueryError, RefusedStatementError, StatementError
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.translation import translations

DIALECTS = ("postgres", "duckdb", "sqlite", "ansi")


def translated(statement: str, dialect: str, policy: Policy = DEFAULT) -> str | None:
    """Return the first translation of a statement."""
    return next((text for text, _ in translations(statement, dialect, policy)), None)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mysql_statement_is_translated_only_if_it_may_run(dialect: str) -> None:
    """Translation does not circumvent the guard or a policy."""
    written = translated('SELECT `a` FROM `t` WHERE `b` = "x" LIMIT 2, 3', dialect)
    assert written == 'SELECT "a" FROM "t" WHERE "b" = \'x\' LIMIT 3 OFFSET 2'
    for statement in (
        "SELECT `a` FROM `t`; DROP TABLE `t`",
        "DELETE FROM `t`",
        "SELECT `a` FROM `t` INTO OUTFILE '/tmp/x'",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT SLEEP(10)",
        "SELECT `a` FROM",
        "no statement at all",
    ):
        assert translated(statement, dialect) is None, statement
    policy = Policy(tables=frozenset({"u"}))
    assert translated("SELECT `a` FROM `t`", dialect, policy) is None
    assert translated("SELECT `a` FROM `u`", dialect, policy) is not None


def test_the_result_has_the_statement_that_ran(relational: Database) -> None:
    """A statement that ran as written has none; an error is about the written statement."""
    rows = relational.query("SELECT IF(is_inland, 'in', 'out') AS x FROM trade_node LIMIT 1, 1")
    assert rows.rows == (("in",),)
    dated = relational.query("SELECT DATE_FORMAT('2024-02-03', '%Y') AS y")
    assert dated.rows == (("2024",),)
    assert dated.translated is not None
    assert "DATE_FORMAT" not in dated.translated
    assert relational.query("SELECT 1").translated is None
    with pytest.raises(RefusedStatementError, match="nosuch"):
        relational.query("SELECT nosuch(flow) FROM flow")
    with pytest.raises(StatementError, match="Did you mean 'flow'"):
        relational.query("SELECT `flwo` FROM `flow`")
    with pytest.raises(QueryError):  # MySQL's month() without a date has no translation
        relational.query("SELECT month()")


def test_names_in_double_quotes_stay_names(tmp_path: Path) -> None:
    """Reading them as texts would give a wrong result."""
    file = tmp_path / "odd.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute('CREATE TABLE sites ("Site Name" TEXT, "select" INTEGER)')
        connection.execute("INSERT INTO sites VALUES ('North', 2), ('South', 0)")
    with closing(dqa.open_database(str(file))) as database:
        rows = database.query('SELECT IF("select" > 1, "Site Name", \'none\') FROM sites')
        assert rows.rows == (("North",), ("none",))
        dated = database.query("SELECT DATE_FORMAT('2024-02-03', '%Y'), \"Site Name\" FROM sites")
        assert dated.rows[0] == ("2024", "North")


def test_a_translation_changes_no_value() -> None:
    """A number or string that another dialect reads differently is not translated."""
    with dqa.temporary_database(
        "CREATE TABLE t (a INTEGER)", "sqlite", isolation="none"
    ) as database:
        assert database.query("SELECT 1_000").rows == ((1000,),)
        with pytest.raises(QueryError):
            database.query("SELECT 1_x")
    with dqa.temporary_database(
        "CREATE TABLE t (a INTEGER)", "duckdb", isolation="none"
    ) as database:
        assert database.query("SELECT 1_000").rows == ((1000,),)
        expected = database.query("SELECT 'A'::BLOB").rows
        assert database.query("SELECT x'41'").rows == expected
        assert database.query(r"SELECT '\x41'::BLOB").rows == expected
