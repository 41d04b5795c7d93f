"""The specification of the guard: every case file, with one test per dialect.

A test lists every mismatch.
``guard_cases/DIALECT.jsonl`` has attacks and harmless statements by class. A case with ``runs`` is
allowed in that form only: without comments, and with canonical quotes. If ``runs`` is null, the
guard refuses a harmless statement. ``guard_cases/policies.json`` lists the statements that each
policy refuses and allows.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.guard import DIALECTS, Policy, check
from dqa.guard.lists import lists
from tests.guard.case_files import dialect_cases, read_cases

POLICIES = read_cases("policies")
FILES = [dialect for dialect in DIALECTS if dialect != "ansi"]
_DESCRIBING = ("desc", "pragma", "show")


def harmless(dialect: str) -> list[str]:
    """Return the text that an engine runs for each harmless statement."""
    found = [case for case in dialect_cases(dialect) if case["allowed"]]
    texts = [case.get("runs", case["statement"]) or case["statement"] for case in found]
    return [text for text in texts if not text.lower().startswith(_DESCRIBING)]


def policy_of(fields: dict[str, Any]) -> Policy:
    """Return the policy of a group of cases."""
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
    found = dialect_cases(dialect)
    wrong = []
    for case in found:
        expected = case.get("runs", case["statement"] if case["allowed"] else None)
        verdict = check(case["statement"], dialect)
        reason = verdict.reason
        has_reason = verdict.allowed or (10 < len(reason) < 800 and "parser failed" not in reason)
        is_expected = (verdict.statement or None) == expected
        if not is_expected or not has_reason or verdict.allowed is (expected is None):
            wrong.append(f"{case['class']}: {case['statement']}: {verdict}")
        elif verdict.statement and check(verdict.statement, dialect).statement != expected:
            wrong.append(f"{case['class']}: {expected}: another text runs the second time")
    assert wrong == []
    assert sum(case["allowed"] and case.get("runs", "") is None for case in found) <= 1
    attacks = sum(not case["allowed"] for case in found)
    assert attacks >= 130  # a file that shrinks by accident
    assert len(found) - attacks >= 60


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_policy_gives_its_verdicts(dialect: str) -> None:
    """Denied data cannot be read in any form; everything else can."""
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
    """A keyword that precedes a bracket must not be callable as a function."""
    suspicious = {"glob", "query", "query_table", "sleep", "benchmark", "getenv", "load_extension"}
    for dialect in ("mysql", "mariadb", "postgres", "duckdb", "ansi"):
        assert not (lists(dialect).syntax | lists(dialect)["functions"]) & suspicious


def test_the_own_database_is_removed_from_the_text() -> None:
    found = check("USE sales MATCH (n) RETURN n", "neo4j", Policy(database="sales"))
    assert found.statement == "MATCH (n) RETURN n"


ENGINES = {
    "sqlite": "sqlite://",
    "duckdb": "duckdb",
    "postgres": "DQA_TEST_POSTGRES_URL",
    "mariadb": "DQA_TEST_MYSQL_URL",
}
SERVERS = ("postgres", "mariadb")


def is_syntax_error(error: Exception) -> bool:
    """Return whether an engine cannot parse a statement. Some statements need a newer SQLite."""
    message = str(error)
    if type(error).__name__ in {"ParserException", "SyntaxError"} or error.args[:1] == (1064,):
        return True
    return "syntax error" in message and 'near "ORDER"' not in message


@pytest.mark.parametrize(
    "dialect",
    [pytest.param(name, marks=[pytest.mark.integration] * (name in SERVERS)) for name in ENGINES],
)
def test_engines_can_parse_the_harmless_statements(dialect: str) -> None:
    """A missing table is another error."""
    if dialect == "duckdb":
        connection: Any = duckdb.connect()
    else:
        url = os.environ.get(ENGINES[dialect]) if dialect in SERVERS else ENGINES[dialect]
        if url is None:
            pytest.skip(f"{ENGINES[dialect]} is not set")
        connection = sa.create_engine(url, poolclass=sa.NullPool).raw_connection()
    wrong = []
    with closing(connection):
        for statement in harmless(dialect):
            try:
                with closing(connection.cursor()) as cursor:
                    cursor.execute(statement)
            except Exception as error:  # noqa: BLE001  (each driver has classes of its own)
                wrong += [f"{statement}: {error}"] * is_syntax_error(error)
            if dialect in SERVERS:
                connection.rollback()
    assert wrong == []
