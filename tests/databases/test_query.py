"""Embedded engines: counting, limits without a worker, and long messages."""

from __future__ import annotations

from contextlib import closing

import pytest

from dqa.core.database import Database, Limits
from dqa.core.errors import StatementError, StatementTimeoutError
from dqa.core.situation import Situation
from dqa.databases.backends import BUILT_IN
from dqa.databases.base import Backend
from tests.databases.engines import ENDLESS, NODES


def test_ladybug_knows_how_many_rows_there_are(situation: Situation) -> None:
    """The engine has all of them, so none is read to count them."""
    with closing(BUILT_IN["ladybug"].load(situation)) as database:
        found = database.query("UNWIND range(1, 20001) AS x RETURN x", Limits(rows=3))
    assert (len(found.rows), found.cut, found.total) == (3, "rows", 20_001)


def test_an_engine_stops_a_statement_by_itself(backend: Backend, situation: Situation) -> None:
    """Without a worker process there is no other limit."""
    with closing(backend.load(situation, isolation="none")) as database:
        with pytest.raises(StatementTimeoutError):
            database.query(ENDLESS[database.dialect], Limits(seconds=0.1))
        assert len(database.query(NODES[database.kind]).rows) == 3


_UNCONVERTIBLE = {
    "duckdb": "SELECT CAST(repeat('ab', 450000) AS INTEGER)",
    "ladybug": "RETURN cast(repeat('ab', 450000), 'INT64')",
    "sqlite": "SELECT json_extract('{}', printf('$%.900000c', '.'))",
}


def test_what_an_engine_says_is_told_in_part(database: Database) -> None:
    """Engines repeat a value that they cannot read, and a model would be told a million signs."""
    with pytest.raises(StatementError) as caught:
        database.query(_UNCONVERTIBLE[database.dialect])
    told = str(caught.value)
    assert len(told) < 2_000
    assert "..." in told


def test_nodes_are_maps_without_internal_ids(graph: Database) -> None:
    """A node shows its label and properties, and nothing that depends on how it was stored."""
    rows = graph.query("MATCH (n:Country {name: 'SWE'}) RETURN n")
    assert rows.rows == (
        ({"_LABEL": "Country", "name": "SWE", "home_node": "lubeck", "development": 10.5},),
    )
    assert rows.to_text().splitlines()[1] == (
        '[{"_LABEL": "Country", "name": "SWE", "home_node": "lubeck", "development": 10.5}]'
    )


def test_duckdb_s_lists_structs_maps_and_json_are_json_in_the_row(situation: Situation) -> None:
    """A driver may return text for them."""
    with closing(BUILT_IN["duckdb"].load(situation)) as database:
        found = database.query(
            "SELECT [1, 2], {'x': 1.5}, MAP([1], ['y']), '{\"z\": [null]}'::JSON"
        )
    assert found.rows == (([1, 2], {"x": 1.5}, {"1": "y"}, {"z": [None]}),)


def test_a_huge_text_cannot_be_built(relational: Database) -> None:
    """A statement cannot take all memory with one value."""
    with pytest.raises(StatementError, match="too big"):
        relational.query(
            "WITH RECURSIVE r(x) AS (SELECT 'text' UNION ALL SELECT x || x FROM r LIMIT 40) "
            "SELECT max(length(x)) FROM r"
        )
