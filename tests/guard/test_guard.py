"""The guard lets reading through and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dqa.core.errors import RefusedStatementError, UnknownNameError
from dqa.guard import DIALECTS, GuardVerdict, check, require

SQL_READS = [
    "SELECT 1",
    "select * from flow where source = 'delete; drop';",
    'SELECT "update", `insert`, [set] FROM t -- drop table t',
    "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
    "VALUES (1, 2), (3, 4)",
    "(SELECT 1) UNION SELECT 2",
    "SELECT a FROM t EXCEPT SELECT b FROM u ORDER BY 1 LIMIT 3 OFFSET 1",
    "SELECT replace(a, 'x', 'y'), total(b), printf('%d', c), iif(d, 1, 2) FROM t",
    "SELECT count(*) FILTER (WHERE a) OVER (PARTITION BY b ORDER BY c) FROM t",
    "SELECT * FROM pragma_table_info('flow')",
    "SELECT EXISTS (SELECT 1), CAST(a AS REAL) / b FROM t JOIN u USING (k)",
    "/* insert */ SELECT 1 ; ; ",
]
SQL_REFUSED = [
    "",
    "-- nothing",
    "SELECT 1; SELECT 2",
    "INSERT INTO t VALUES (1)",
    "REPLACE INTO t VALUES (1)",
    "UPDATE t SET a = 1 RETURNING *",
    "DELETE FROM t",
    "DROP TABLE t",
    "CREATE TABLE x AS SELECT 1",
    "WITH a AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM a",
    "WITH a AS (SELECT 1) DELETE FROM t",
    "SELECT * INTO y FROM t",
    "SELECT * FROM t FOR UPDATE",
    "PRAGMA query_only = OFF",
    "SELECT * FROM pragma_journal_mode",
    "ATTACH 'x.db' AS y",
    "VACUUM INTO 'x.db'",
    "BEGIN",
    "SELECT load_extension('x')",
    "SELECT readfile('x')",
    "SELECT writefile('x', 'y')",
    "SELECT 1 \0",
    "SELECT '\ud800'",
    "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
    "SELECT " + "NOT " * 4_000 + "1",
    "SELECT " + "x" * 1_000_000,
]
CYPHER_READS = [
    "MATCH (n) RETURN n",
    "MATCH (n:Set {delete: 1}) WHERE n.create = 'DELETE' RETURN n.set AS merge ORDER BY merge;",
    "MATCH (set:Country) WHERE set.name = 'x' RETURN set",
    "MATCH (a)-[r:source*1..3]->(b) WITH *, count(*) AS copy RETURN copy, a.name",
    "OPTIONAL MATCH (n) RETURN CASE WHEN n.x = 1 THEN 2 ELSE 3 END AS y",
    "MATCH (n) RETURN CASE n.x WHEN 1 THEN 'a' END, n.a * 2 + -1, 1.5e3, $p",
    "UNWIND [1, 2] AS x RETURN x UNION ALL MATCH (n) RETURN n.x",
    "MATCH (n) WHERE NOT n.name STARTS WITH 'a' AND n.x IS NOT NULL OR n.y IN [1] RETURN n",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.x > 1 } RETURN COUNT { MATCH (n)--(x) } AS c",
    "MATCH p = (a)-[e:source* ALL SHORTEST 1..3 (r, n | WHERE r.flow > 1)]->(b) RETURN length(p)",
    "RETURN [x IN [1, 2] WHERE x > 1 | x * 2] AS l, {a: 1, `b c`: 'it\\'s'} AS m",
    "MATCH (n) /* DELETE n */ RETURN n.`set` // SET n.x = 1",
    "CALL show_tables() RETURN *",
    "CALL table_info('Country') YIELD name RETURN name",
]
CYPHER_REFUSED = [
    "",
    "CREATE (n)",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) REMOVE n.x",
    "MATCH (n) WITH * CREATE (m:X) RETURN m",
    "MATCH (n) WITH DISTINCT * DELETE n",
    "MATCH (n) RETURN n; CREATE (m)",
    "MATCH (n) RETURN n UNION CREATE (m) RETURN m",
    "WITH 1 AS set SET set.x = 1",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = 1)",
    "MATCH (n) RETURN DISTINCT CREATE (m)",
    "MATCH (n) OPTIONAL CREATE (m)",
    "COPY (MATCH (n) RETURN n) TO 'x.csv'",
    "LOAD FROM 'x.csv' RETURN *",
    "CALL threads = 4",
    "CALL { CREATE (n) } RETURN 1",
    "MATCH (n) CALL apoc.load.csv('x') RETURN 1",
    "RETURN nextval('s')",
    "BEGIN TRANSACTION",
    "COMMIT",
    "PROFILE CREATE (n) RETURN n",
    "RETURN 'open",
]


@pytest.mark.parametrize("statement", SQL_READS)
def test_sql_that_reads_is_allowed(statement: str) -> None:
    """Words that only look dangerous, in names, strings and comments, are harmless."""
    assert check(statement, "sqlite") == GuardVerdict(True)


@pytest.mark.parametrize("statement", SQL_REFUSED)
def test_other_sql_is_refused_with_a_reason(statement: str) -> None:
    """What writes, configures, loads, is several, or cannot be read does not run."""
    verdict = check(statement, "sqlite")
    assert not verdict.allowed
    assert verdict.reason


@pytest.mark.parametrize("statement", CYPHER_READS)
def test_cypher_that_reads_is_allowed(statement: str) -> None:
    """Names may be spelled like keywords wherever a name belongs."""
    assert check(statement, "ladybug") == GuardVerdict(True)


@pytest.mark.parametrize("statement", CYPHER_REFUSED)
def test_other_cypher_is_refused_with_a_reason(statement: str) -> None:
    """No clause that writes is allowed anywhere, and no procedure but those that describe."""
    verdict = check(statement, "ladybug")
    assert not verdict.allowed
    assert verdict.reason


def test_a_refusal_says_what_to_write_instead() -> None:
    """The reason is for the author of the statement."""
    with pytest.raises(RefusedStatementError, match=r"begins with DELETE.*SELECT"):
        require("DELETE FROM t", "sqlite")
    with pytest.raises(RefusedStatementError, match="one statement at a time"):
        require("RETURN 1; RETURN 2", "ladybug")


def test_an_unknown_dialect_is_named_with_those_there_are() -> None:
    """A dialect that nobody can check lets nothing run."""
    with pytest.raises(UnknownNameError, match="There are: ansi, duckdb, ladybug"):
        check("SELECT 1", "sqlight")


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_gets_a_verdict(statement: str) -> None:
    """No text makes the guard fail."""
    for dialect in DIALECTS:
        assert isinstance(check(statement, dialect), GuardVerdict)
