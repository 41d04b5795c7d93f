"""A store of runs that lies in a database which is asked: agents are shown none of its tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.errors import RefusedStatementError, UsageError
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo
from dqa.guard import Policy, check
from dqa.guard.cypher import judge
from dqa.guard.visible import visible_schema

SECRETIVE = (
    "SELECT * FROM dqa_results",
    'SELECT "name" FROM main."DQA_Runs"',
    "SELECT name FROM customers WHERE name IN (SELECT choice FROM dqa_results)",
    "WITH x AS (SELECT * FROM dqa_store_version) SELECT * FROM x",
    "SELECT sql FROM sqlite_master",
    "SELECT name FROM main.sqlite_schema",
    "SELECT name FROM pragma_table_list",
    "PRAGMA table_list",
    "PRAGMA table_info(dqa_runs)",
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with a run, to which somebody has added a table since."""
    file = tmp_path_factory.mktemp("shared") / "team.db"
    asked = dqa.generate(("locating",), count=1)
    assert dqa.evaluate(asked, "first", databases="sqlite", out=f"{file}#one").made
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE customers (name TEXT, secret TEXT)")
        connection.execute("INSERT INTO customers VALUES ('Ada', 'x')")
    return file


@pytest.mark.parametrize(
    "policy",
    [
        None,
        Policy(denied_columns=frozenset({"customers.secret"})),
        Policy(schemas=frozenset({"*"})),
    ],
)
def test_a_store_is_neither_shown_nor_read(shared: Path, policy: Policy | None) -> None:
    """Neither by its tables' names, nor by a catalogue, whatever else a policy says."""
    readable = "SELECT count(*) FROM customers"
    with closing(dqa.open_database(str(shared), policy=policy)) as database:
        assert [table.name for table in database.schema().tables] == ["customers"]
        assert database.query(readable).rows == ((1,),)
        for statement in SECRETIVE:
            with pytest.raises(RefusedStatementError):
                database.query(statement)
        with pytest.raises(RefusedStatementError, match="the policy's tables name it"):
            database.query(SECRETIVE[0])


def test_a_policy_may_name_tables_of_a_store(shared: Path) -> None:
    """And then they alone may be read; the store itself is read as before."""
    policy = Policy(tables=frozenset({"customers", "dqa_runs"}))
    with closing(dqa.open_database(str(shared), policy=policy)) as database:
        assert {table.name for table in database.schema().tables} == {"customers", "dqa_runs"}
        assert database.query("SELECT name FROM dqa_runs").rows == (("one",),)
        with pytest.raises(RefusedStatementError):
            database.query("SELECT * FROM dqa_results")
    assert dqa.read_run(f"{shared}#one").results
    with pytest.raises(UsageError, match="no such table"):
        dqa.open_database(str(shared), policy=Policy(tables=frozenset({"dqa_rums"})))


def test_tables_of_that_name_are_a_team_s_own_where_no_store_is(tmp_path: Path) -> None:
    """A name alone makes no store, and a database without one may list its tables."""
    with closing(sqlite3.connect(tmp_path / "own.db")) as connection, connection:
        connection.execute("CREATE TABLE dqa_results (score INTEGER)")
    with closing(dqa.open_database(str(tmp_path / "own.db"))) as database:
        assert [table.name for table in database.schema().tables] == ["dqa_results"]
        assert database.query("SELECT * FROM dqa_results").rows == ()
        assert database.query("SELECT name FROM sqlite_master").rows == (("dqa_results",),)


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "mariadb", "ansi", "duckdb"])
def test_a_server_s_store_is_kept_alike(dialect: str) -> None:
    """Also under its schema's name, and where tables are listed."""
    there = Policy(holds_store=True)
    for statement in ("SELECT * FROM dqa_runs", "SELECT * FROM team.Dqa_Runs", "SHOW TABLES"):
        assert not check(statement, dialect, there).allowed
    listed = "SELECT table_name FROM information_schema.tables"
    assert not check(listed, dialect, there).allowed
    assert check(listed, dialect).allowed
    assert check("SELECT name FROM customers", dialect, there).allowed


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (t:StateAction) RETURN t.action",
        "MATCH (n:Customer|GoalType) RETURN n.name",
        "MATCH (c:Customer) RETURN c:StateAction",
        "MATCH (c:Customer) RETURN EXISTS { (:StateAction) }",
        "CALL db.labels() YIELD label RETURN label",
        "SHOW INDEXES",
    ],
)
def test_a_memory_s_labels_are_hidden_in_a_graph(statement: str) -> None:
    """Whatever other labels there are, which are not listed in the reason."""
    there = Policy(holds_store=True)
    verdict = check(statement, "neo4j", there)
    assert not verdict.allowed
    assert "Customer" not in verdict.reason
    assert check("MATCH (c:Customer)-[:HAS]->(o:MadeLater) RETURN o.name", "neo4j", there).allowed
    assert check("MATCH (c:Customer) WHERE c:Vip RETURN c", "neo4j", there).allowed
    for pattern in ("(n)", "(n:!Customer)", "(n:$('GoalType'))"):
        runs = judge(f"MATCH {pattern} RETURN n", "neo4j", there)
        assert "!`GoalType`&!`MemoryBatch`" in runs
    named = Policy(holds_store=True, labels=frozenset({"StateAction"}))
    assert check("MATCH (t:StateAction) RETURN t.action", "neo4j", named).allowed


def test_a_memory_s_labels_are_left_out_of_a_graph_s_schema() -> None:
    """With the relationships that join them; a label that is made later is shown."""
    nodes = tuple(NodeInfo(label, ()) for label in ("Customer", "GoalType", "MadeLater"))
    edges = (
        EdgeInfo("BOUGHT", "Customer", "MadeLater", ()),
        EdgeInfo("HAS", "GoalType", "GoalType", ()),
        EdgeInfo("HAS", "Customer", "GoalType", ()),
    )
    whole = DatabaseSchema(nodes=nodes, edges=edges)
    shown = visible_schema(whole, "neo4j", Policy(holds_store=True))
    assert [node.label for node in shown.nodes] == ["Customer", "MadeLater"]
    assert shown.edges == edges[:1]
