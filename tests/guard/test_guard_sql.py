"""The SQL guard refuses every attack it is known by, and nothing that only reads."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import duckdb
import pytest

from dqa.guard import Policy, check
from dqa.guard.sql.lists import lists

CASES = Path(__file__).parent / "guard_cases"
_SYNTAX = 1064
"""MySQL's and MariaDB's error for what they cannot read."""
DIALECTS = ("mysql", "mariadb", "postgres", "sqlite", "duckdb")


def cases(dialect: str, *, allowed: bool) -> list[str]:
    """Return the statements of a dialect."""
    lines = (CASES / f"{dialect}.jsonl").read_text("utf-8").split("\n")
    read = [json.loads(line) for line in lines if line]
    return [case["statement"] for case in read if case["allowed"] is allowed]


def parameters(*, allowed: bool) -> list[object]:
    """Return every case, named by its dialect and place."""
    return [
        pytest.param(dialect, statement, id=f"{dialect}-{number}")
        for dialect in DIALECTS
        for number, statement in enumerate(cases(dialect, allowed=allowed))
    ]


@pytest.mark.parametrize(("dialect", "statement"), parameters(allowed=False))
def test_an_attack_is_refused_with_a_reason(dialect: str, statement: str) -> None:
    """What writes, locks, waits, calls, reads files or cannot be read does not run."""
    verdict = check(statement, dialect)
    assert not verdict.allowed
    assert 10 < len(verdict.reason) < 600


@pytest.mark.parametrize(("dialect", "statement"), parameters(allowed=True))
def test_a_harmless_statement_is_allowed(dialect: str, statement: str) -> None:
    """What only reads runs, whatever its names and texts look like."""
    verdict = check(statement, dialect)
    assert verdict.allowed, verdict.reason


def test_there_are_enough_cases() -> None:
    """A file that shrinks by accident is noticed."""
    assert sum(len(cases(dialect, allowed=False)) for dialect in DIALECTS) >= 1_000
    assert sum(len(cases(dialect, allowed=True)) for dialect in DIALECTS) >= 600


@pytest.mark.parametrize("statement", cases("sqlite", allowed=True))
def test_sqlite_can_read_what_is_called_harmless(statement: str) -> None:
    """The harmless set is real: nothing in it is a syntax error (some needs a newer SQLite)."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(statement).fetchall()
    except sqlite3.Error as error:
        if "syntax error" in str(error) and 'near "ORDER"' not in str(error):
            pytest.fail(str(error))
    finally:
        connection.close()


@pytest.mark.parametrize("statement", cases("duckdb", allowed=True))
def test_duckdb_can_read_what_is_called_harmless(statement: str) -> None:
    """The harmless set is real: nothing in it is a syntax error."""
    connection = duckdb.connect()
    try:
        connection.execute(statement).fetchall()
    except duckdb.ParserException as error:
        pytest.fail(str(error))
    except duckdb.Error:
        pass  # its tables are not there
    finally:
        connection.close()


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_POSTGRES_URL" not in os.environ, reason="no PostgreSQL server")
def test_postgres_can_read_what_is_called_harmless() -> None:
    """The harmless set is real: nothing in it is a syntax error."""
    import psycopg

    url = os.environ["DQA_TEST_POSTGRES_URL"].replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in cases("postgres", allowed=True):
            try:
                connection.execute(statement.encode())
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.SyntaxError):
                    pytest.fail(f"{statement}: {error}")


@pytest.mark.integration
@pytest.mark.skipif("DQA_TEST_MYSQL_URL" not in os.environ, reason="no MariaDB server")
def test_mariadb_can_read_what_is_called_harmless() -> None:
    """The harmless set is real: nothing in it is a syntax error."""
    from sqlalchemy import create_engine

    engine = create_engine(os.environ["DQA_TEST_MYSQL_URL"])
    connection = engine.raw_connection()
    cursor = connection.cursor()
    for statement in cases("mariadb", allowed=True):
        try:
            cursor.execute(statement)
        except engine.dialect.loaded_dbapi.Error as error:
            if error.args[0] == _SYNTAX:
                pytest.fail(f"{statement}: {error}")
    connection.close()
    engine.dispose()


@pytest.mark.parametrize(
    ("dialect", "statement", "reason"),
    [
        ("sqlite", "DELETE FROM t", "begins with DELETE, and only a query may run"),
        ("sqlite", "SELECT 1; SELECT 2", "one statement at a time"),
        ("duckdb", "SELECT * FROM 'x.csv'", "would be read as a file"),
        ("postgres", "SELECT pg_sleep(9)", "pg_sleep is not known to only read"),
        ("postgres", "SELECT strpod(a, 'x') FROM t", "Did you mean 'strpos'"),
        ("postgres", "EXPLAIN ANALYZE SELECT pg_sleep(9)", "pg_sleep is not known to only read"),
        ("mysql", "SELECT /*! SLEEP(1) */", "comment that the server would run"),
        ("mysql", "SELECT '\\' OR SLEEP(1) -- '", "servers read in two ways"),
        ("mysql", "SELECT * FROM t FOR UPDATE", "it locks what it reads"),
        ("mysql", "SELECT DATE(d, x) FROM t", "'x' stands where it is not understood"),
        (
            "sqlite",
            "SELECT ltrim(a, b, (SELECT 1 FROM t))",
            "check how many arguments the function",
        ),
        ("duckdb", "FROM (CALL f)", "(CALL ...) is no query; quote call if it is a table's name"),
        ("postgres", "SELECT (1", "a bracket is left open; close it"),
        ("postgres", "SELECT 1)", "it has a ')' that closes nothing; leave it out"),
    ],
)
def test_a_refusal_says_what_to_write_instead(dialect: str, statement: str, reason: str) -> None:
    """The reason is for the author of the statement."""
    assert reason in check(statement, dialect).reason


@pytest.mark.parametrize("dialect", [*DIALECTS, "ansi"])
@pytest.mark.parametrize(
    "statement",
    [
        "",
        "SELECT " + "x" * 10_000_000,
        "SELECT '" + "\x01" * 10_000,
        "SELECT " + "(" * 10_000 + "1" + ")" * 10_000,
        "SELECT " + "(" * 9_000,
        "SELECT " + "NOT " * 4_900 + "1",
        "SELECT " + "CASE WHEN " * 1_900,
        "SELECT * FROM " + "t JOIN " * 2_500 + "t",
        "SELECT " + "$1" * 9_000,
        "SELECT " + "$a$ $b$ " * 2_000,
        "SELECT " + "[" * 19_000,
        "SELECT" + " " * 19_000 + ";;",
        "EXPLAIN" + " " * 19_000,
        "SHOW TABLES LIKE" + " " * 19_000,
        "\x00\xff\xfe",
    ],
    ids=lambda statement: statement[:20],
)
def test_bad_input_is_refused_at_once(dialect: str, statement: str) -> None:
    """Empty, enormous, binary or nested text gets a reason; how soon, the benchmark shows."""
    started = perf_counter()
    verdict = check(statement, dialect)
    assert not verdict.allowed or len(verdict.reason) == 0
    assert perf_counter() - started < 30  # a hang, not a slow machine


def test_nesting_does_not_overflow_a_small_stack() -> None:
    """Threads have small stacks on some systems, and compiled code does not notice their end."""
    program = """
import threading
from dqa.guard import DIALECTS, check
def run():
    for piece in ["a->", "a AND ", "a IS NOT ", "a::int", "SELECT 1 UNION ", "x -> ", "1||"]:
        for dialect in DIALECTS:
            check("SELECT " + piece * (19_000 // len(piece)) + "1", dialect)
threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout == "done\n", done.stderr


def test_functions_can_be_added_by_name() -> None:
    """A policy names what its database has, exactly as it is called."""
    policy = Policy(functions=frozenset({"shop.net_price", "score"}))
    allowed = ["SELECT score(a), Shop.Net_Price(b) FROM t", "SELECT * FROM score(1) AS s(x)"]
    for statement in allowed:
        assert check(statement, "postgres", policy).allowed
        assert not check(statement, "postgres").allowed
    assert not check("SELECT other.score(a), net_price(b) FROM t", "postgres", policy).allowed


def test_no_syntax_word_is_a_function_with_effects() -> None:
    """A word that may stand before a bracket must not be something to call there."""
    suspicious = {"glob", "query", "query_table", "sleep", "benchmark", "getenv", "load_extension"}
    for dialect in ("mysql", "mariadb", "postgres", "duckdb", "ansi"):
        assert not lists(dialect).syntax & suspicious
        assert not lists(dialect).functions & suspicious


def test_backslashes_in_ordinary_text_are_no_reason_to_refuse() -> None:
    """Only what could end a text elsewhere in another mode is ambiguous."""
    ordinary: dict[str, Callable[[], str]] = {
        "mysql": lambda: r"SELECT 'it\'s', a LIKE '50\%', b REGEXP '\\d+' FROM t",
        "postgres": lambda: r"SELECT 'a\b', a ~ '^\d+$', E'it\'s' FROM t",
        "duckdb": lambda: r"SELECT 'C:\dir\', regexp_matches(a, '\d') FROM t",
        "sqlite": lambda: r"SELECT 'C:\dir\', a LIKE '5\%' ESCAPE '\' FROM t",
    }
    for dialect, statement in ordinary.items():
        assert check(statement(), dialect).allowed, dialect
