"""Hidden data does not exist: each table is read as the policy shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Literal

import pytest

import dqa
from dqa.core.database import Database, Rows
from dqa.core.errors import QueryError, RefusedStatementError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check
from dqa.guard.visible import visible_schema
from tests.guard.case_files import read_cases

CASES = read_cases("tables")
"""Statements that a database with a policy and its twin answer alike, by kind."""
SCRIPT = """
    CREATE TABLE emp (id INTEGER PRIMARY KEY, name VARCHAR(20), salary INTEGER, dept_id INTEGER);
    INSERT INTO emp VALUES (1, 'ann', 990001, 1), (2, 'bob', 990002, 2);
    CREATE TABLE dept (id INTEGER PRIMARY KEY, name VARCHAR(20));
    INSERT INTO dept VALUES (1, 'shop'), (2, 'lab');
    CREATE TABLE secret (code VARCHAR(20));
    INSERT INTO secret VALUES ('990003');
    CREATE VIEW paid AS SELECT id, salary FROM emp;
"""
TWIN = """
    CREATE TABLE emp (id INTEGER PRIMARY KEY, name VARCHAR(20), dept_id INTEGER);
    INSERT INTO emp VALUES (1, 'ann', 1), (2, 'bob', 2);
    CREATE TABLE dept (id INTEGER PRIMARY KEY, name VARCHAR(20));
    INSERT INTO dept VALUES (1, 'shop'), (2, 'lab');
"""
POLICIES = {
    "denied": Policy(
        denied_columns=frozenset({"emp.salary"}), tables=frozenset({"emp", "dept", "paid"})
    ),
    "listed": Policy(
        columns=frozenset({"emp.id", "emp.name", "emp.dept_id"}), tables=frozenset({"emp", "dept"})
    ),
}


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, Database], Database]]:
    """Open databases with each policy, and the twin that has only the visible part."""
    with ExitStack() as stack:

        def opened(script: str, policy: Policy | None) -> Database:
            temporary = dqa.temporary_database(
                script, request.param, policy=policy, isolation="none"
            )
            return stack.enter_context(temporary)

        databases = {name: opened(SCRIPT, policy) for name, policy in POLICIES.items()}
        yield databases, opened(TWIN, None)


def _rows(database: Database, statement: str) -> Rows | str:
    try:
        return database.query(statement)
    except QueryError as error:
        return str(error)


def _values(rows: Rows) -> tuple[object, ...]:
    return rows.columns, sorted(rows.rows, key=repr)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_database_answers_as_its_twin_without_the_hidden_part(
    opened: tuple[dict[str, Database], Database], policy: str
) -> None:
    """The rows are equal, and no error reveals the hidden part."""
    databases, twin = opened
    database = databases[policy]
    wrong, ran = [], 0
    for statement in (*CASES["statements"], *CASES[database.dialect], *CASES["describing"]):
        found, expected = _rows(database, statement), _rows(twin, statement)
        if isinstance(found, Rows) and isinstance(expected, Rows):
            ran += 1
            if _values(found) != _values(expected):
                wrong.append(f"{statement}: {found} and not {expected}")
        elif isinstance(found, Rows):
            wrong.append(f"{statement}: {found}, where the twin has an error")
        shown = found if isinstance(found, str) else (found.columns, found.rows)
        if "99000" in str(shown):
            wrong.append(f"{statement} reveals {found}")
    assert wrong == []
    assert ran >= 18


def test_descriptions_come_from_the_visible_schema(
    opened: tuple[dict[str, Database], Database],
) -> None:
    """SHOW, DESCRIBE and PRAGMA work on every SQL database in one form."""
    database = opened[0]["denied"]
    assert database.query("SHOW TABLES").rows == (("dept",), ("emp",))
    where = [f"SHOW TABLES WHERE Tables_in_main {sign} 'e_p'" for sign in ("LIKE", "=")]
    assert [database.query(one).rows for one in where] == [(("emp",),), ()]
    described = database.query("DESCRIBE emp")
    assert [row[0] for row in described.rows] == ["id", "name", "dept_id"]
    assert "salary" not in str(database.query("SHOW CREATE TABLE emp").rows)
    with pytest.raises(QueryError, match="no table secret") as raised:
        database.query("DESCRIBE secret")
    assert "salary" not in str(raised.value)


def test_a_denied_column_needs_the_columns_of_its_table() -> None:
    """The guard needs the schema to build the table's subquery."""
    policy = Policy(denied_columns=frozenset({"emp.salary"}))
    with pytest.raises(RefusedStatementError, match="the policy hides a part of emp"):
        dqa.guard.require("SELECT id FROM emp", "sqlite", policy)
    assert check("SELECT id FROM dept", "sqlite", policy).allowed


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_plan_shows_no_table_behind_a_view(engine: Literal["sqlite", "duckdb"]) -> None:
    """A policy may list a view without its table, which the plan would name."""
    script = f"{SCRIPT} CREATE VIEW codes AS SELECT code FROM secret;"
    policy = Policy(tables=frozenset({"codes"}))
    with dqa.temporary_database(script, engine, policy=policy, isolation="none") as database:
        assert database.query("SELECT * FROM codes").rows == (("990003",),)
        with pytest.raises(RefusedStatementError):
            database.query("EXPLAIN SELECT * FROM codes")
    with dqa.temporary_database(script, engine, isolation="none") as database:
        assert database.query("EXPLAIN SELECT * FROM codes").rows
        assert database.query("EXPLAIN SELECT 1").rows


def test_a_comment_that_names_a_hidden_table_is_not_shown() -> None:
    """For comments of tables and columns."""
    column = Field("id", "INTEGER", comment="joined with Plan.id")
    department = TableInfo("dept", (column,), comment="see plan")
    schema = DatabaseSchema((department, TableInfo("plan", (Field("id", "INTEGER"),))))
    (seen,) = visible_schema(schema, "postgres", Policy(tables=frozenset({"dept"}))).tables
    assert (seen.comment, seen.columns[0].comment) == ("", "")
    (seen, _) = visible_schema(schema, "postgres", Policy()).tables
    assert seen.comment == "see plan"


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "sqlite", "mariadb"])
@pytest.mark.parametrize("name", ["secret", "SECRET"])
def test_a_hidden_table_is_like_one_that_does_not_exist(dialect: str, name: str) -> None:
    """Every statement gets the same verdict, and a WITH part never replaces the table."""
    emp = TableInfo("emp", (Field("id", "integer"), Field("salary", "integer")))
    hidden = TableInfo(name, (Field("id", "integer"), Field("code", "text")))
    for denied in (frozenset[str](), frozenset({"emp.salary"})):
        with_it, without = (
            Policy(tables=frozenset({"emp"}), denied_columns=denied, schema=DatabaseSchema(tables))
            for tables in ((emp, hidden), (emp,))
        )
        for statement in CASES["hidden table"]:
            found = check(statement, dialect, with_it)
            assert (found, found.statement) == (
                check(statement, dialect, without),
                check(statement, dialect, without).statement,
            )
    assert not check(CASES["hidden table"][1], dialect, with_it).allowed
    assert dialect == "mariadb" or not check(CASES["hidden table"][2], dialect, with_it).allowed
