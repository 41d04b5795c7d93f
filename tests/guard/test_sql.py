"""The specification of the SQL guard: every case file, with one test per dialect.

``guard_cases/DIALECT.jsonl`` has attacks and harmless statements by class. A case with ``runs`` is
allowed in that form only: without a comment, with its quotes written anew. If ``runs`` is null, the
guard refuses a harmless statement.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import Policy, check
from dqa.guard.lists import lists

CASES = Path(__file__).parent / "guard_cases"
DIALECTS = ("mysql", "mariadb", "postgres", "sqlite", "duckdb")
_SYNTAX = 1064
"""MySQL's and MariaDB's error for what they cannot read."""
_DESCRIBING = ("desc", "pragma", "show")


def cases(dialect: str) -> list[dict[str, Any]]:
    """Return the cases of a dialect."""
    lines = (CASES / f"{dialect}.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def harmless(dialect: str) -> list[str]:
    """Return what the engine runs of the harmless cases."""
    found = [case for case in cases(dialect) if case["allowed"]]
    texts = [case.get("runs", case["statement"]) or case["statement"] for case in found]
    return [text for text in texts if not text.lower().startswith(_DESCRIBING)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_case_gets_its_verdict(dialect: str) -> None:
    """The engine receives exactly the expected text, and nothing for all other cases."""
    wrong = []
    found = cases(dialect)
    for case in found:
        expected = case.get("runs", case["statement"] if case["allowed"] else None)
        verdict = check(case["statement"], dialect)
        if (verdict.statement or None) != expected or verdict.allowed is (expected is None):
            wrong.append(f"{case['class']}: {case['statement']}: {verdict}")
        if not verdict.allowed and not 10 < len(verdict.reason) < 800:
            wrong.append(f"reason of {case['statement']}: {verdict.reason}")
    assert wrong == []
    refused = [case for case in found if case["allowed"] and case.get("runs", "") is None]
    assert len(refused) <= 2
    assert sum(not case["allowed"] for case in found) >= 130  # a file that shrinks by accident


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_text_that_runs_runs_as_it_is(dialect: str) -> None:
    """It has no comment and no quote that the guard would write differently."""
    for case in cases(dialect):
        text = check(case["statement"], dialect).statement
        if text:
            assert check(text, dialect).statement == text


def test_sqlite_reads_the_harmless_statements() -> None:
    """Nothing in the harmless set is a syntax error (some needs a newer SQLite)."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in harmless("sqlite"):
            try:
                connection.execute(statement).fetchall()
            except sqlite3.Error as error:
                if "syntax error" in str(error) and 'near "ORDER"' not in str(error):
                    pytest.fail(f"{statement}: {error}")


def test_duckdb_reads_the_harmless_statements() -> None:
    """Nothing in the harmless set is a syntax error."""
    with duckdb.connect() as connection:
        for statement in harmless("duckdb"):
            try:
                connection.execute(statement).fetchall()
            except duckdb.ParserException as error:
                pytest.fail(f"{statement}: {error}")
            except duckdb.Error:
                pass  # its tables are not there


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_POSTGRES_URL" not in os.environ, reason="no PostgreSQL server")
def test_postgres_reads_the_harmless_statements() -> None:
    """Nothing in the harmless set is a syntax error."""
    import psycopg

    url = os.environ["DQA_TEST_POSTGRES_URL"].replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in harmless("postgres"):
            try:
                connection.execute(statement.encode())
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.SyntaxError):
                    pytest.fail(f"{statement}: {error}")


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_MYSQL_URL" not in os.environ, reason="no MariaDB server")
def test_mariadb_reads_the_harmless_statements() -> None:
    """Nothing in the harmless set is a syntax error."""
    from sqlalchemy import create_engine

    engine = create_engine(os.environ["DQA_TEST_MYSQL_URL"])
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        for statement in harmless("mariadb"):
            try:
                cursor.execute(statement)
            except engine.dialect.loaded_dbapi.Error as error:
                if error.args[0] == _SYNTAX:
                    pytest.fail(f"{statement}: {error}")
    engine.dispose()


def test_functions_can_be_added_by_name() -> None:
    """A policy allows a function by exactly the name that it is called with."""
    policy = Policy(functions=frozenset({"shop.net_price", "score"}))
    for statement in (
        "SELECT score(a), Shop.Net_Price(b) FROM t",
        "SELECT * FROM score(1) AS s(x)",
    ):
        assert check(statement, "postgres", policy).allowed
        assert not check(statement, "postgres").allowed
    assert not check("SELECT other.score(a), net_price(b) FROM t", "postgres", policy).allowed


def test_no_listed_function_has_effects() -> None:
    """A word that may stand before a bracket must not be a function to call there."""
    suspicious = {"glob", "query", "query_table", "sleep", "benchmark", "getenv", "load_extension"}
    for dialect in ("mysql", "mariadb", "postgres", "duckdb", "ansi"):
        assert not lists(dialect).syntax & suspicious
        assert not lists(dialect).functions & suspicious


_SHOP = DatabaseSchema(
    tables=(
        TableInfo("goods", (Field("id", "integer"), Field("name", "text"))),
        TableInfo("person", (Field("home", "address(street text, city text)"),)),
    )
)
ATTRIBUTES = {
    "SELECT (home).city FROM person": True,
    "SELECT (g).name, g.ctid, g.* FROM goods g": True,
    "SELECT x.total FROM (SELECT sum(id) AS total FROM goods) x": True,
    "SELECT e.key, e.value FROM goods, json_each('{}') AS e": True,
    "SELECT r.n FROM generate_series(1, 2) AS r(n)": True,
    "SELECT set_limit FROM goods": True,
    "SELECT (0.5).set_limit FROM goods": False,
    "SELECT (g.id).set_limit FROM goods g": False,
    "SELECT g.hash_record FROM goods g": False,
    "SELECT x.pg_sleep FROM generate_series(5, 5) AS x": False,
    "SELECT (x.n).pg_sleep FROM (SELECT 5 AS n) x, (SELECT 1 AS pg_sleep) y": False,
    "SELECT (id).pg_sleep FROM goods, (SELECT 1) id": False,
    "SELECT CAST((0.5).set_limit AS text)": False,
    "SELECT ((0.5).set_limit).id FROM goods": False,
    "SELECT (0.5).set_limit.id FROM goods": False,
    "SELECT NULL::pg_catalog.int4 FROM goods": True,
    "SELECT (x).to_regclass FROM (SELECT 'a'::text AS x) x, (SELECT 1 AS to_regclass) y": False,
    "SELECT ('goods'::text).to_regclass": False,
}


def test_only_known_columns_stand_behind_a_dot() -> None:
    """PostgreSQL would call any other name as a function of what stands before the dot."""
    policy = Policy(schema=_SHOP)
    for statement, allowed in ATTRIBUTES.items():
        verdict = check(statement, "postgres", policy)
        assert verdict.allowed is allowed, f"{statement}: {verdict.reason}"
        assert allowed or not check(statement, "postgres").allowed or ".hash_" in statement


LONG = {
    "SELECT repeat('ab', 1000), lpad(name, 20, '0'), rpad('a', 10)": True,
    "SELECT repeat('ab', 1000) || repeat('c', 100000) FROM goods": True,
    "SELECT replace(replace(replace(name, 'street', 'st'), 'avenue', 'av'), 'road', 'rd')": True,
    "SELECT lpad(lpad(name, 1000, 'x'), 2000, 'y')": True,
    "SELECT replace(replace(repeat('a', 1000), 'a', repeat('b', 1000)), 'b', 'cccc')": False,
    "SELECT repeat(repeat('a', 100000), 100000)": False,
    "SELECT length(repeat('a', 1000 * 1000 * 10))": False,
    "SELECT lpad('a', 10000, lpad('b', 100000000))": False,
    "SELECT ltrim(repeat('a', 100000), repeat('b', 100000))": False,
    "SELECT translate(repeat('a', 900000), repeat('b', 900000), '')": False,
    "SELECT repeat((SELECT repeat('a', 100000)), 100000)": False,
}


@pytest.mark.parametrize("dialect", ["postgres", "mariadb"])
def test_texts_are_bounded_by_the_product_of_their_lengths(dialect: str) -> None:
    """No limit on time stops an engine inside one function."""
    for statement, allowed in LONG.items():
        assert check(statement, dialect).allowed is allowed, statement
