"""Relational databases: names, texts and namespaces that the contract of all engines lacks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import dqa
from dqa.core.errors import UsageError
from dqa.core.situation import Column, Schema, Situation, Table, TableSchema
from dqa.databases.namespaces import TAG_TABLE, namespace_for, tag_of
from tests.databases.engines import Target, read_back, world
from tests.integration.conftest import targeted


@pytest.fixture(params=["mysql", "postgres", "duckdb", "sqlite"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Return each relational database."""
    yield from targeted(request.param, request, tmp_path)


def test_odd_names_and_long_texts_come_back_equal(target: Target) -> None:
    """Columns and tables with quotes, percent signs and spaces, and the largest numbers."""
    columns = (Column("a %s", "integer"), Column("`\"'\\", "text"), Column("select", "float"))
    table = TableSchema("it's `100 %`", columns, ("a %s",))
    values: list[list[Any]] = [
        [-(2**63), 2**63 - 1],
        ["x" * 300_000, "\\'"],
        [-0.0, 1.7976931348623157e308],
    ]
    rows = Table(table, dict(zip(table.column_names, values, strict=True)))
    situation = Situation(Schema("odd", (table,)), "odd", {table.name: rows})
    assert read_back(target.load(situation), situation) == situation


def test_texts_differ_as_python_says(target: Target) -> None:
    """No collation treats two texts as equal, and keys may refer to missing rows."""
    situation = world()
    supply = situation["supply"]
    situation = situation.replace(supply=supply.replace(goods_id=supply["goods_id"] + 1))
    database = target.load(situation)
    assert read_back(database, situation) == situation
    for text in ("A", "a", "a ", "é", "e", ""):
        rows = database.query(f"SELECT goods_name FROM goods WHERE goods_name = '{text}'").rows
        assert rows == ((text,),)


def test_no_server_shortens_a_result_silently(mysql_url: str) -> None:
    """Recursion and joined texts have no limit but time, memory and the limits of dqa."""
    statement = (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5000) "
        "SELECT count(*), char_length(group_concat(n)) FROM r"
    )
    with dqa.temporary_database("CREATE TABLE t (a INT)", "mysql", mysql_url) as database:
        assert database.query(statement).rows == ((5_000, 23_892),)


def test_an_unfinished_load_is_dropped_only_without_tables_of_others(server: Target) -> None:
    """An empty tag table alone does not permit to drop the other tables."""
    situation = world(4, "occupied")
    namespace = namespace_for(situation)
    server.occupy(situation)
    server.run(situation, f"CREATE TABLE {namespace}.{TAG_TABLE} (scenario TEXT)")
    with pytest.raises(UsageError, match="does not overwrite"):
        server.load(situation)
    assert server.is_occupied(situation)
    server.run(situation, f"DROP TABLE {namespace}.precious")
    assert read_back(server.load(situation), situation) == situation


def test_a_schema_that_appears_during_a_load_is_left_alone(server: Target) -> None:
    """A load that finds it when it creates its namespace fails and drops nothing."""
    situation = world(4, "occupied")
    server.occupy(situation)
    kind = resolve_name(server.backend.namespaces)
    with pytest.raises(UsageError), kind.connect(server.url) as namespaces:
        namespaces.create(situation, tag_of(situation, namespace_for(situation)))
    assert server.is_occupied(situation)
