"""The specification of the guard: every case file, with one test per dialect.

A test lists every mismatch. ``guard_cases/DIALECT.jsonl`` has attacks and harmless statements by
class. A case with ``runs`` is allowed in that form only: without a comment, with its quotes
written anew. If ``runs`` is null, the guard refuses a harmless statement.
``guard_cases/policies.json`` has what each policy refuses and allows.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import DIALECTS, Policy, check
from dqa.guard.lists import lists

CASES = Path(__file__).parent / "guard_cases"
POLICIES = json.loads((CASES / "policies.json").read_text("ascii"))
FILES = [dialect for dialect in DIALECTS if dialect != "ansi"]
_DESCRIBING = ("desc", "pragma", "show")


def cases(dialect: str) -> list[dict[str, Any]]:
    """Return the cases of a dialect's file."""
    lines = (CASES / f"{dialect}.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def harmless(dialect: str) -> list[str]:
    """Return what the engine runs of the statements that only read."""
    found = [case for case in cases(dialect) if case["allowed"]]
    texts = [case.get("runs", case["statement"]) or case["statement"] for case in found]
    return [text for text in texts if not text.lower().startswith(_DESCRIBING)]


def policy_of(fields: dict[str, Any]) -> Policy:
    """Return the policy that a group of cases describes."""
    read: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    if "schema" in read:
        tables = []
        for name, columns in read["schema"].items():
            typed = (column.partition(" ") for column in columns)
            own = tuple(Field(column, kind or "text") for column, _, kind in typed)
            tables.append(TableInfo(name, own))
        read["schema"] = DatabaseSchema(tables=tuple(tables))
    return Policy(**read)


@pytest.mark.parametrize("dialect", FILES)
def test_every_case_gets_its_verdict(dialect: str) -> None:
    """The engine receives exactly the expected text; a refusal has a reason of readable length."""
    found = cases(dialect)
    wrong = []
    for case in found:
        expected = case.get("runs", case["statement"] if case["allowed"] else None)
        verdict = check(case["statement"], dialect)
        has_reason = verdict.allowed or 10 < len(verdict.reason) < 800
        is_expected = (verdict.statement or None) == expected
        if not is_expected or not has_reason or verdict.allowed is (expected is None):
            wrong.append(f"{case['class']}: {case['statement']}: {verdict}")
        elif verdict.statement and check(verdict.statement, dialect).statement != expected:
            wrong.append(f"{case['class']}: {expected}: another text runs the second time")
    assert wrong == []
    assert sum(case["allowed"] and case.get("runs", "") is None for case in found) <= 2
    attacks = sum(not case["allowed"] for case in found)
    assert attacks >= 130  # a file that shrinks by accident
    assert len(found) - attacks >= 60


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_policy_gives_its_verdicts(dialect: str) -> None:
    """What a policy denies cannot be read in any form; everything else can."""
    wrong = []
    for group in (group for group in POLICIES if dialect in group["dialects"]):
        policy = policy_of(group["policy"])
        for expected, key in ((False, "refused"), (True, "allowed")):
            for statement in group.get(key, ()):
                verdict = check(statement, dialect, policy)
                if verdict.allowed is not expected:
                    wrong.append(f"{group['what']}: {statement}: {verdict.reason}")
        if group.get("allowed_without"):  # the policy alone refuses
            without = [s for s in group["refused"] if not check(s, dialect).allowed]
            wrong += [f"{group['what']}: refused without the policy: {s}" for s in without]
    assert wrong == []


def test_no_listed_function_has_effects() -> None:
    """A word that may stand before a bracket must not be a function to call there."""
    suspicious = {"glob", "query", "query_table", "sleep", "benchmark", "getenv", "load_extension"}
    for dialect in ("mysql", "mariadb", "postgres", "duckdb", "ansi"):
        assert not (lists(dialect).syntax | lists(dialect)["functions"]) & suspicious


def test_the_own_database_is_left_out_of_the_text() -> None:
    """Where the location names it."""
    found = check("USE sales MATCH (n) RETURN n", "neo4j", Policy(database="sales"))
    assert found.statement == "MATCH (n) RETURN n"


def unreadable(
    statements: list[str],
    run: Callable[[str], object],
    failures: Any,
    is_syntax: Callable[..., bool],
) -> list[str]:
    """Return the statements that an engine cannot parse; other errors do not matter."""
    wrong = []
    for statement in statements:
        try:
            run(statement)
        except failures as error:
            if is_syntax(error):
                wrong.append(f"{statement}: {error}")
    return wrong


def test_sqlite_can_parse_the_harmless_statements() -> None:
    """Some need a newer SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        assert not unreadable(
            harmless("sqlite"),
            lambda statement: connection.execute(statement).fetchall(),
            sqlite3.Error,
            lambda error: "syntax error" in str(error) and 'near "ORDER"' not in str(error),
        )


def test_duckdb_can_parse_the_harmless_statements() -> None:
    """Its tables are missing, which is another error."""
    with duckdb.connect() as connection:
        assert not unreadable(
            harmless("duckdb"),
            lambda statement: connection.execute(statement).fetchall(),
            duckdb.Error,
            lambda error: isinstance(error, duckdb.ParserException),
        )


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_POSTGRES_URL" not in os.environ, reason="no PostgreSQL server")
def test_postgres_can_parse_the_harmless_statements() -> None:
    """On a real server."""
    import psycopg

    url = os.environ["DQA_TEST_POSTGRES_URL"].replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        assert not unreadable(
            harmless("postgres"),
            lambda statement: connection.execute(statement.encode()),
            psycopg.Error,
            lambda error: isinstance(error, psycopg.errors.SyntaxError),
        )


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_MYSQL_URL" not in os.environ, reason="no MariaDB server")
def test_mariadb_can_parse_the_harmless_statements() -> None:
    """Its error 1064 is a syntax error."""
    import sqlalchemy as sa

    engine = sa.create_engine(os.environ["DQA_TEST_MYSQL_URL"])
    with closing(engine.raw_connection()) as connection:
        assert not unreadable(
            harmless("mariadb"),
            connection.cursor().execute,
            engine.dialect.loaded_dbapi.Error,
            lambda error: error.args[0] == 1064,
        )
    engine.dispose()
