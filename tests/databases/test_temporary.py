"""Databases for a while: what they can be made of, on every embedded engine."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dqa
from dqa.core.errors import DataError, QueryError, UsageError
from dqa.databases.tables import table_script

RELATIONAL = ("sqlite", "duckdb")
SCRIPTS = {
    "sqlite": "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1); INSERT INTO a VALUES (2);",
    "duckdb": "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1); INSERT INTO a VALUES (2);",
    "ladybug": "CREATE NODE TABLE a(x INT64, PRIMARY KEY(x)); UNWIND [1, 2] AS x CREATE (:a {x:x})",
}
COUNTED = {"ladybug": "MATCH (n:a) RETURN count(*)"}


@pytest.mark.parametrize("engine", RELATIONAL)
def test_tables_come_back_as_they_were_given(engine: str) -> None:
    """Rows and columns, in order, with NULLs, quotes, signs, and rows that lack names."""
    tables: dict[str, Any] = {
        "Order": [{"id": 1, "note": "it's 100% \\ :x ?"}, {"id": 2}, {"id": 3, "note": ""}],
        "price": {"value": [1.5, None], "paid": [True, None]},
        "none": {"x": []},
    }
    with dqa.temporary_database(tables, engine) as database:
        found = database.query('SELECT id, note FROM "Order"').rows
        assert found == ((1, "it's 100% \\ :x ?"), (2, None), (3, ""))
        assert database.query("SELECT value, paid FROM price").rows == ((1.5, True), (None, None))
        assert database.query("SELECT count(*) FROM none").rows == ((0,),)
        assert database.name == "temporary"


@pytest.mark.parametrize("engine", RELATIONAL)
def test_days_times_and_decimals_can_be_asked_for(engine: str) -> None:
    """By what the engine makes of them."""
    tables = {
        "t": [
            {"d": date(2024, 1, 2), "moment": datetime(2024, 1, 2, 3), "m": Decimal("0.5")},  # noqa: DTZ001
            {"d": None, "moment": None, "m": None},
        ]
    }
    with dqa.temporary_database(tables, engine) as database:
        statement = "SELECT m FROM t WHERE d > '2024-01-01' AND moment < '2024-01-03'"
        assert database.query(statement).rows == ((0.5,),)


def test_more_rows_than_one_insert_takes_keep_their_order() -> None:
    """In chunks."""
    with dqa.temporary_database({"t": {"x": list(range(1_234, 0, -1))}}) as database:
        rows = database.query("SELECT x FROM t", limits=dqa.Limits(rows=2_000)).rows
        assert [x for (x,) in rows] == list(range(1_234, 0, -1))


NO_TABLES: list[tuple[Any, str]] = [
    ([], "has no columns"),
    ({"a": [1, 2], "b": [1]}, r"unequal length: \{'a': 2, 'b': 1\}"),
    ([{"a": 1}, {"a": "x"}], r"Column 'a' of table 't' .* int \(row 1\) and str \(row 2\)"),
    ([{"a": 1}, {"a": []}], r"Column 'a' of table 't' .* int \(row 1\) and list \(row 2\)"),
    ([1], "must be a dict of columns, or a list of rows"),
    ({"a\0": [1]}, "name 'a.x00' cannot be used"),
    *(
        ({"a": values}, "(?=.*'a')(?=.*'t').*[Rr]ow 2")
        for values in (
            [None, np.datetime64("2024-01-02", "ns")],
            [1, 2**63],
            [0.5, 10**400],
            [Decimal(1), Decimal("sNaN")],
            [Decimal(1), Decimal("Infinity")],
            [Decimal("-1.25e10"), Decimal("1.12345678901")],
            [Decimal("12345678901.25"), Decimal("12345678901234567.5")],
            [Decimal("0E+99999999"), Decimal("1E+28")],
            [1.5, float("inf")],
            [None, float("nan")],
            ["a", "a\0b"],
            ["a", "a\udc80"],
            [datetime(2024, 1, 2), datetime(2024, 1, 2, tzinfo=UTC)],  # noqa: DTZ001
            [None, np.array([1, 2])],
        )
    ),
]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "mysql", "postgres"])
def test_tables_that_no_engine_can_store_are_refused(engine: str) -> None:
    """The error names the table and, for a value, its column and row."""
    for table, problem in NO_TABLES:
        with pytest.raises(DataError, match=problem):
            table_script({"t": table}, engine)


@pytest.mark.parametrize("engine", RELATIONAL)
def test_the_largest_values_are_stored_exactly(engine: str) -> None:
    """As whole numbers, as decimals with an exponent, and as dates."""
    numbers = [2**63 - 1, -(2**63), None]
    exact: list[Any] = [Decimal("1.234567E+12"), Decimal("12345678901.125" + 30 * "0"), None]
    days = [date(2024, 1, 2), None, date(9999, 12, 31)]
    with dqa.temporary_database({"t": {"x": numbers, "m": exact, "d": days}}, engine) as database:
        rows = database.query("SELECT x, m, d FROM t").rows
    expected = zip(numbers, exact, ("2024-01-02", None, "9999-12-31"), strict=True)
    assert [(x, m, d and str(d)[:10]) for x, m, d in rows] == list(expected)


@pytest.mark.parametrize("script", ["SELECT 'a\0b'", "SELECT 'a\udc80'"])
def test_a_script_with_unusable_text_is_refused(script: str) -> None:
    """SQLite's driver raises another error than for a wrong script."""
    with (
        pytest.raises(DataError, match="rejects the script"),
        dqa.temporary_database(script, "sqlite"),
    ):
        pass


@pytest.mark.parametrize("engine", SCRIPTS)
def test_a_script_is_run_and_the_database_is_read_only(engine: str, tmp_path: Path) -> None:
    """As a text or a file; whoever opens it says what may be read, and sees what was asked."""
    entries: list[object] = []
    file = tmp_path / "a.sql"
    file.write_text(SCRIPTS[engine], "utf-8")
    statement = COUNTED.get(engine, "SELECT count(*) FROM a")
    for content in (SCRIPTS[engine], file):
        with dqa.temporary_database(
            content, engine, audit=dqa.Audit(entries.append), limits=dqa.Limits(rows=1)
        ) as database:
            assert database.query(statement).rows == ((2,),)
            with pytest.raises(QueryError):
                database.query("DROP TABLE a")
    assert len(entries) == 4


@pytest.mark.parametrize("engine", SCRIPTS)
def test_a_script_that_the_engine_refuses_is_told_in_its_words(engine: str) -> None:
    """And nothing of it stays open."""
    with (
        pytest.raises(DataError, match=r"rejects the script: .*TABEL"),
        dqa.temporary_database("CREATE TABEL a (x INTEGER)", engine),
    ):
        pass


def test_a_database_that_is_there_is_opened_and_stays(tmp_path: Path) -> None:
    """By its path or URL, whatever engine is the usual one."""
    import duckdb

    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(SCRIPTS["duckdb"])
    for content in (file, f"duckdb:///{file}"):
        with dqa.temporary_database(content, "sqlite") as database:
            assert database.query("SELECT count(*) FROM a").rows == ((2,),)
    assert file.is_file()


def test_what_an_engine_cannot_hold_is_refused() -> None:
    """With what to give instead."""
    wrong: list[tuple[Any, str, str]] = [
        ({"t": {"x": [1]}}, "ladybug", "stores a graph, but tables"),
        (3, "sqlite", "from a int"),
        (Path("missing.sql"), "sqlite", "missing.sql does not exist"),
        (SCRIPTS["sqlite"], "mysql", "cannot run in memory"),
    ]
    for content, engine, problem in wrong:
        with pytest.raises(UsageError, match=problem), dqa.temporary_database(content, engine):
            pass
