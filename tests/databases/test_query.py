"""What every database does alike: bounds, errors, threads, closing."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from dqa.core.database import Database, Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    QueryError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.situation import Situation
from dqa.databases.backends import BUILT_IN
from dqa.databases.base import Backend

NODES = {
    "duckdb": "SELECT trade_node, local_value FROM trade_node ORDER BY trade_node",
    "sqlite": "SELECT trade_node, local_value FROM trade_node ORDER BY trade_node",
    "ladybug": "MATCH (n:Trade_node) RETURN n.name, n.local_value ORDER BY n.name",
}
ENDLESS = {
    "duckdb": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT sum(n) FROM r",
    "sqlite": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT sum(n) FROM r",
    "ladybug": (
        "MATCH (a)-[:source*1..30]-(b)-[:source*1..30]-(c)-[:source*1..30]-(d)-[:source*1..30]-(e)"
        "-[:source*1..30]-(f)-[:source*1..30]-(g)-[:source*1..30]-(h) RETURN count(*)"
    ),
}
WRITES = {
    "duckdb": [
        "INSERT INTO country VALUES ('X', 'kiev', 1.0)",
        "DELETE FROM flow",
        "CREATE TEMP TABLE x (a INT)",
        "SET memory_limit = '9GB'",
        "PRAGMA enable_profiling",
        "ATTACH ':memory:' AS y",
        "INSTALL httpfs",
        "COPY flow TO 'flow.csv'",
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT 1; DELETE FROM flow",
        "COMMIT",
    ],
    "sqlite": [
        "INSERT INTO country VALUES ('X', 'kiev', 1.0)",
        "DELETE FROM flow",
        "CREATE TEMP TABLE x (a)",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "ATTACH ':memory:' AS y",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM flow",
        "VACUUM",
        "BEGIN IMMEDIATE",
    ],
    "ladybug": [
        "CREATE (:Country {name: 'X'})",
        "MATCH (n:Country) SET n.development = 1.0",
        "MATCH (n) DETACH DELETE n",
        "CREATE NODE TABLE x (a INT64 PRIMARY KEY)",
        "DROP TABLE source",
        "COMMIT; CREATE (:Country {name: 'X'})",
        "COMMIT",
        "BEGIN TRANSACTION",
    ],
}


def test_a_query_returns_columns_and_rows(database: Database) -> None:
    """Names, values and missing values come back as they were loaded."""
    rows = database.query(NODES[database.dialect])
    assert rows.rows == (("basra", None), ("kiev", 2.0), ("lubeck", 1.25))
    assert len(rows.columns) == 2
    assert rows.cut is None
    assert rows.to_text().splitlines()[1:] == [
        '["basra", null]',
        '["kiev", 2.0]',
        '["lubeck", 1.25]',
        "(3 rows)",
    ]


def test_a_cut_result_says_how_many_rows_there_were(database: Database) -> None:
    """Every engine tells it, whichever limit cut them."""
    statement = NODES[database.dialect]
    for cut, limits in (("rows", Limits(rows=2)), ("bytes", Limits(bytes=180))):
        found = database.query(statement, limits)
        text = found.to_text()
        assert (found.cut, found.total) == (cut, 3)
        assert f"(only the first {len(found.rows)} of 3 rows are shown" in text
        assert cut == "rows" or len(text.encode()) <= 180
    assert database.query(statement).total is None


def test_ladybug_knows_how_many_rows_there_are(situation: Situation) -> None:
    """The engine has all of them, so none is read to count them."""
    with closing(BUILT_IN["ladybug"].load(situation)) as database:
        found = database.query("UNWIND range(1, 20001) AS x RETURN x", Limits(rows=3))
    assert (len(found.rows), found.cut, found.total) == (3, "rows", 20_001)


@pytest.mark.parametrize(
    ("engine", "statement"),
    [
        (
            "sqlite",
            (
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1e12) "
                "SELECT x FROM c WHERE x < 9"
            ),
        ),
        ("duckdb", "SELECT x FROM range(1000000000000) AS r(x) WHERE x < 900 OR hash(x) = 7"),
    ],
)
def test_the_rows_of_a_long_search_are_not_counted(
    engine: str, statement: str, situation: Situation
) -> None:
    """The result has the first rows; LadybugDB has found all rows before it shows one."""
    with closing(BUILT_IN[engine].load(situation)) as database:
        found = database.query(statement, Limits(rows=3, seconds=30.0))
        assert (len(found.rows), found.cut, found.total) == (3, "rows", None)
        assert database.query(NODES[database.dialect]).cut is None


def test_duckdb_s_lists_structs_maps_and_json_are_json_in_the_row(situation: Situation) -> None:
    """One shape for all, parsed where the driver gives text."""
    database = BUILT_IN["duckdb"].load(situation)
    found = database.query(
        "SELECT [1, 2] AS a, {'x': 1.5} AS b, MAP([1], ['y']) AS c, '{\"z\": [null]}'::JSON AS d"
    )
    assert found.rows == (([1, 2], {"x": 1.5}, {"1": "y"}, {"z": [None]}),)
    assert found.to_text().splitlines()[1] == '[[1, 2], {"x": 1.5}, {"1": "y"}, {"z": [null]}]'
    database.close()


def test_an_endless_statement_is_stopped_and_the_database_goes_on(database: Database) -> None:
    """The limit holds where the statement runs, and the next one runs as if nothing had been."""
    for _ in range(2):
        with pytest.raises(StatementTimeoutError, match=r"after 0\.1 seconds"):
            database.query(ENDLESS[database.dialect], Limits(seconds=0.1))
    assert len(database.query(NODES[database.dialect]).rows) == 3


def test_an_engine_stops_a_statement_by_itself(backend: Backend, situation: Situation) -> None:
    """Without a worker process there is no other limit."""
    with closing(backend.load(situation, isolation="none")) as database:
        with pytest.raises(StatementTimeoutError):
            database.query(ENDLESS[database.dialect], Limits(seconds=0.1))
        assert len(database.query(NODES[database.dialect]).rows) == 3


def test_writing_fails_without_the_guard(database: Any) -> None:
    """The second line holds by itself: nothing changes, and reading goes on."""
    before = database.query(NODES[database.dialect]).rows
    for statement in WRITES[database.dialect]:
        with pytest.raises(QueryError):
            database._session.run(statement, Limits())
    assert database.query(NODES[database.dialect]).rows == before


def test_many_threads_share_one_database(database: Database) -> None:
    """Four threads get right answers at once, also while others fail or time out."""
    nodes, endless = NODES[database.dialect], ENDLESS[database.dialect]

    def work(number: int) -> int:
        if number % 8 == 0:
            with pytest.raises(StatementTimeoutError):
                database.query(endless, Limits(seconds=0.05))
        if number % 5 == 0:
            with pytest.raises(RefusedStatementError):
                database.query("nonsense")
        return len(database.query(nodes, Limits(seconds=60.0)).rows)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(16))) == [3] * 16


def test_a_closed_database_says_so(backend: Backend, situation: Situation) -> None:
    """Using it is an infrastructure error and no crash."""
    database = backend.load(situation)
    database.query(NODES[database.dialect])
    database.close()
    with pytest.raises(DatabaseUnavailableError, match="'small' is closed"):
        database.query(NODES[database.dialect])


def test_errors_say_what_there_is(relational: Database, graph: Database) -> None:
    """The engine's own words, the closest name and the list of all; the next statement works."""
    for database, statement, message in (
        (
            relational,
            "SELECT hom_node FROM country",
            r"no such column: hom_node\. Did you mean 'ho",
        ),
        (relational, "SELECT * FROM contry", r"Did you mean 'country'.*flow\(source, dest, flow\)"),
        (relational, "SELECT c.source FROM country c", "'source' is in flow"),
        (graph, "MATCH (c:Country) RETURN c.hom_node", "Did you mean 'home_node'"),
        (graph, "MATCH (c:Contry) RETURN c", "Did you mean 'Country'"),
        (graph, "RETURN 1 / 0", "Divide by zero"),
    ):
        with pytest.raises(StatementError, match=message):
            database.query(statement)
    assert graph.query("RETURN 1").rows == relational.query("SELECT 1").rows == ((1,),)


_UNCONVERTIBLE = {
    "duckdb": "SELECT CAST(repeat('ab', 450000) AS INTEGER)",
    "ladybug": "RETURN cast(repeat('ab', 450000), 'INT64')",
    "sqlite": "SELECT json_extract('{}', printf('$%.900000c', '.'))",
}


def test_what_an_engine_says_is_told_without_its_middle(database: Database) -> None:
    """Engines repeat a value that they cannot read, and a model would be told a million signs."""
    with pytest.raises(StatementError) as caught:
        database.query(_UNCONVERTIBLE[database.dialect])
    told = str(caught.value)
    assert len(told) < 2_000
    assert re.search(r"\.\.\. \[\d{6,7} characters\] \.\.\.", told)
    expected = {"duckdb": "' to INT32.", "ladybug": '" to INT64.', "sqlite": "..'."}
    assert told.endswith(expected[database.dialect])


def test_nodes_are_maps_without_internal_ids(graph: Database) -> None:
    """A node shows its label and properties, and nothing that depends on how it was stored."""
    rows = graph.query("MATCH (n:Country {name: 'SWE'}) RETURN n")
    assert rows.rows == (
        ({"_LABEL": "Country", "name": "SWE", "home_node": "lubeck", "development": 10.5},),
    )
    assert rows.to_text().splitlines()[1] == (
        '[{"_LABEL": "Country", "name": "SWE", "home_node": "lubeck", "development": 10.5}]'
    )


def test_a_huge_text_cannot_be_built(relational: Database) -> None:
    """A statement cannot take all memory with one value."""
    with pytest.raises(StatementError, match="too big"):
        relational.query(
            "WITH RECURSIVE r(x) AS (SELECT 'text' UNION ALL SELECT x || x FROM r LIMIT 40) "
            "SELECT max(length(x)) FROM r"
        )
