"""Statements in MySQL's dialect are translated only where they are read as such and may run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, StatementError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.databases.sqlite import backend as sqlite
from dqa.guard import check, translation
from dqa.guard.policy import DEFAULT, Policy

DIALECTS = ("postgres", "duckdb", "sqlite", "ansi")


def from_mysql(statement: str, dialect: str, policy: Policy = DEFAULT) -> str | None:
    """Return the translation of a statement of MySQL's."""
    return translation.translate(statement, "mysql", dialect, policy)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_mysql_statement_is_translated_only_if_it_may_run(dialect: str) -> None:
    """Translation does not get around the guard or a policy."""
    translated = from_mysql('SELECT `a` FROM `t` WHERE `b` = "x" LIMIT 2, 3', dialect)
    assert translated == 'SELECT "a" FROM "t" WHERE "b" = \'x\' LIMIT 3 OFFSET 2'
    for statement in (
        "SELECT `a` FROM `t`; DROP TABLE `t`",
        "DELETE FROM `t`",
        "SELECT `a` FROM `t` INTO OUTFILE '/tmp/x'",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT SLEEP(10)",
        "SELECT `a` FROM",
        "no statement at all",
    ):
        assert from_mysql(statement, dialect) is None, statement
    policy = Policy(tables=frozenset({"u"}))
    assert from_mysql("SELECT `a` FROM `t`", dialect, policy) is None
    assert from_mysql("SELECT `a` FROM `u`", dialect, policy) is not None


def test_the_result_has_the_statement_that_ran(relational: Database) -> None:
    """A statement that ran as written has none; an error concerns what was written."""
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


NAMES = {
    # A name that needs quotes.
    'SELECT IFNULL("net price", 0) FROM t': 'SELECT COALESCE("net price", 0) FROM t',
    # Names where only a name can stand; "none" is a text.
    'SELECT IFNULL("code", "none") FROM "t"': 'SELECT COALESCE("code", \'none\') FROM "t"',
    'SELECT IFNULL(x."code", 0) FROM t x': 'SELECT COALESCE(x."code", 0) FROM t AS x',
    # A text, as in MySQL.
    'SELECT IFNULL(x, "code") FROM t': "SELECT COALESCE(x, 'code') FROM t",
    # A comment is no part of the statement.
    'SELECT IFNULL(x, "code") /* FROM "t" */ FROM t': (
        "SELECT COALESCE(x, 'code') /* FROM \"t\" */ FROM t"
    ),
    "SELECT IFNULL(x, '\"net price\"') FROM t": "SELECT COALESCE(x, '\"net price\"') FROM t",
    'SELECT IFNULL("select", 0) FROM t': 'SELECT COALESCE("select", 0) FROM t',
}


def test_names_in_double_quotes_stay_names() -> None:
    """A text in their place would be a wrong result that looks right."""
    names = frozenset({"t", "net price", "code", "select"})
    for statement, meant in NAMES.items():
        assert next(translation.translations(statement, "postgres", names=lambda: names)) == meant
    # Without a schema nothing in double quotes is taken for a text.
    unknown = 'SELECT IFNULL("net price", 0) FROM t'
    (found,) = translation.translations(unknown, "postgres", names=lambda: None)
    assert found == 'SELECT COALESCE("net price", 0) FROM t'


_STAFF = DatabaseSchema(
    tables=(
        TableInfo("emp", tuple(Field(name, "text") for name in ("id", "salary", "net pay"))),
        TableInfo("dept", (Field("id", "text"),)),
    )
)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("schema", [_STAFF, None], ids=["known", "unknown"])
def test_a_denied_column_does_not_come_back_as_a_text(
    schema: DatabaseSchema | None, dialect: str
) -> None:
    """Rows with its name in each would look like its values."""
    policy = Policy(denied_columns=frozenset({"emp.salary", "emp.net pay"}), schema=schema)
    for statement in (
        'SELECT "{}" FROM emp',
        'SELECT IF(id > 1, "{}", 0) FROM emp',
        'SELECT IFNULL("{}", 0) FROM "emp"',
        'SELECT `id` FROM emp WHERE "{}" > 1',
        'SELECT GROUP_CONCAT("{}" SEPARATOR ",") FROM emp',
        'SELECT IF(1, 2, 3) FROM emp JOIN dept USING ("{}")',
        'SELECT IF(1, 2, 3), emp /**/ . "{}" FROM emp',
        'SELECT IF(1, 2, 3) FROM emp ORDER BY "{}"',
        'SELECT IF(1, 2, 3) FROM dept WHERE EXISTS (SELECT 1 FROM emp WHERE "{}" > 1)',
    ):
        for column in ("salary", "net pay"):
            written = statement.format(column)
            assert not check(written, dialect, policy).allowed
            for names in ({"emp", "id"}, None):
                found = translation.translations(written, dialect, policy, lambda n=names: n)  # type: ignore[misc]
                assert not list(found), written


def test_a_database_knows_its_own_names(tmp_path: Path) -> None:
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
