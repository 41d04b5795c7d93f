"""Deep, long, unterminated or random input never makes the guard fail."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqa
from dqa.core.errors import QueryError, UnknownNameError
from dqa.guard import DIALECTS, GuardVerdict, check, sql
from tests.programs import run_python

CYPHER = ("neo4j", "ladybug")
NESTED = [
    ("(", ")"),
    ("abs(", ")"),
    ("(SELECT ", ")"),
    ("CASE WHEN ", " THEN 1 END"),
    ("[", "]"),
    ("CAST(", " AS int)"),
    ("- (", ")"),
    ("a[", "]"),
]
BAD_SQL = [
    "",
    "SELECT " + "x" * 10_000_000,
    "SELECT '" + "\x01" * 10_000,
    "SELECT " + "(" * 9_000,
    "SELECT " + "NOT " * 4_900 + "1",
    "SELECT " + "CASE WHEN " * 1_900,
    "SELECT * FROM " + "t JOIN " * 2_500 + "t",
    "SELECT " + "$a$ $b$ " * 2_000,
    "SELECT " + "[" * 19_000,
    "EXPLAIN" + " " * 19_000,
    "SHOW TABLES LIKE" + " " * 19_000,
    "\x00\xff\xfe",
    "SELECT '\ud800'",
]
ODD_SQL = ["SELECT " + "$1" * 9_000, "SELECT" + " " * 19_000 + ";;"]
"""Some dialects allow these; they only need a verdict."""
BAD_CYPHER = [
    "",
    "RETURN " + "[" * 10_000,
    "RETURN " + "CASE WHEN " * 1_900 + "1",
    "RETURN " + "COUNT{MATCH " * 1_500,
    "MATCH " + "((" * 9_000,
    "MATCH (n:" + "(" * 9_000 + "A",
    "RETURN " + "x(y{" * 4_000,
    "RETURN '" + "\\" * 19_000,
    "RETURN 1 " + "/*" * 9_000,
    "RETURN " + "`" * 19_001,
    "RETURN range(0, " + "9" * 5_000 + ")",
]
LONG_CYPHER = [
    "RETURN " + "NOT " * 4_000 + "true",
    "RETURN [" + "1, " * 5_000 + "1]",
    "MATCH " + "(a)--" * 3_000 + "(b) RETURN b",
    "RETURN 1 AS x" + " UNION RETURN 1 AS x" * 900,
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_bad_input_is_refused(dialect: str) -> None:
    """Empty, enormous, binary or deeply nested text gets a reason; long flat Cypher is allowed."""
    is_graph = dialect in CYPHER
    begin = "RETURN " if is_graph else "SELECT "
    nested = [f"{begin}{opened * 3_000}1{closed * 3_000}" for opened, closed in NESTED]
    statements = [*nested, *(BAD_CYPHER if is_graph else BAD_SQL)]
    verdicts = {one[:40]: check(one, dialect) for one in statements}
    assert [one for one, verdict in verdicts.items() if verdict.allowed or not verdict.reason] == []
    assert all(isinstance(check(one, dialect), GuardVerdict) for one in ODD_SQL)
    if is_graph:
        assert [one[:40] for one in LONG_CYPHER if not check(one, dialect).allowed] == []


_THREADS = """
import threading
from dqa.guard import DIALECTS, check

start, failed = threading.Barrier(8), []

def run(first, pieces):
    start.wait()
    try:
        assert check("SELECT a FROM t", first).allowed
        for piece in pieces:
            for dialect in DIALECTS:
                check("SELECT " + piece * (19_000 // len(piece)) + "1", dialect)
    except Exception as error:
        failed.append(f"{first}: {error!r}")

firsts = ["sqlite", "postgres", "duckdb", "mysql", "mariadb", "ansi", "sqlite", "postgres"]
pieces = ["a->", "a AND ", "a IS NOT ", "a::int", "SELECT 1 UNION ", "x -> ", "1||", ""]
threading.stack_size(512 * 1024)
threads = [threading.Thread(target=run, args=(f, [p] * bool(p))) for f, p in zip(firsts, pieces)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(failed)
"""


def test_threads_with_a_small_stack_may_be_the_first_to_check() -> None:
    """Dialects are imported at first use, and compiled code crashes on stack overflow."""
    done = run_python("-c", _THREADS)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("error", [RecursionError, KeyError, AssertionError, RuntimeError])
def test_an_error_of_a_parser_is_a_refusal(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a lack of memory is raised, because it is not about the text."""

    def fail(*_: object) -> str:
        raise error("of the parser")

    monkeypatch.setattr(sql, "judge", fail)
    assert not check("SELECT 1", "sqlite").allowed
    error = MemoryError
    with pytest.raises(MemoryError):
        check("SELECT 1", "sqlite")


@given(st.sampled_from(DIALECTS), st.text(max_size=200))
def test_any_text_gets_a_verdict(dialect: str, statement: str) -> None:
    """A refusal has a reason."""
    verdict = check(statement, dialect)
    assert verdict.allowed or verdict.reason


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="There are: ansi, duckdb, ladybug"):
        check("SELECT 1", "sqlight")


def test_the_guard_changes_no_value() -> None:
    """Numbers with underscores and binary strings keep their values."""
    with dqa.temporary_database("CREATE TABLE t (a INTEGER)", "duckdb", isolation="none") as duck:
        assert duck.query("SELECT 1_000").rows == ((1000,),)
        expected = duck.query("SELECT 'A'::BLOB").rows
        assert duck.query("SELECT x'41'").rows == expected
        assert duck.query(r"SELECT '\x41'::BLOB").rows == expected
    with dqa.temporary_database("CREATE TABLE t (a INTEGER)", "sqlite", isolation="none") as lite:
        with suppress(QueryError):  # before version 3.46
            assert lite.query("SELECT 1_000").rows == ((1000,),)
        with pytest.raises(QueryError):
            lite.query("SELECT 1_x")
