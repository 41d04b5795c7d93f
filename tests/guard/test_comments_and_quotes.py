"""Comments and quoted parts end where the servers end them, on every supported Python.

Python 3.11.2, the oldest, misreads some repetitions in regular expressions. An error in either
direction matters: a harmless statement is refused, or the end of a comment is missed.
"""

from __future__ import annotations

import pytest

import dqa
from dqa import guard

SQL = ("sqlite", "duckdb", "postgres", "mysql")
CYPHER = ("neo4j", "ladybug")
ALLOWED = {
    SQL: (
        "/* a * b ** */ SELECT 1",
        "-- it's\nSELECT 1",
        "SELECT 'it''s /* no comment', 1 /* ' */",
        'SELECT \'-- ; DROP TABLE t\' AS "a""b" /* ; */',
        "/* DROP TABLE t */ (/* x */ SELECT 1 -- '\n)",
    ),
    CYPHER: (
        "/* a * b */ MATCH (n) RETURN n.name",
        "MATCH (n) // it's\nRETURN n.name",
        "MATCH (n) /* ' */ RETURN n.name = 'it\\'s /* no comment' /* \" */",
        'MATCH (n) RETURN "// ; DELETE n" AS `a``b` // ;',
        "MATCH (n) RETURN /**/ n.name /* ** */",
    ),
}
REFUSED = {
    SQL: (
        "SELECT 1 /* ' */; DROP TABLE t -- '",
        "SELECT 'it''s'; DROP TABLE t",
        "/* SELECT 1 */ DROP TABLE t",
        "SELECT 1 -- '\n; DROP TABLE t --'",
        "SELECT 'left open",
    ),
    CYPHER: (
        "MATCH (n) /* ' */ DELETE n /* ' */",
        "MATCH (n) // '\nDELETE n // '",
        "/* MATCH (n) RETURN n */ MATCH (n) DELETE n",
        "MATCH (n) WHERE n.name = 'it\\'s' DELETE n",
        "MATCH (n) RETURN n /* left open",
        "MATCH (n) RETURN 'left open",
        "MATCH (n) RETURN `a``b",
    ),
}


@pytest.mark.parametrize(("cases", "allowed"), [(ALLOWED, True), (REFUSED, False)])
def test_comments_and_quotes_decide_what_is_code(
    cases: dict[tuple[str, ...], tuple[str, ...]], allowed: bool
) -> None:
    """Each dialect reads every statement as its server does."""
    wrong = [
        (dialect, statement, verdict)
        for dialects, statements in cases.items()
        for dialect in dialects
        for statement in statements
        if (verdict := guard.check(statement, dialect)).allowed != allowed
    ]
    assert wrong == []


def test_statements_with_comments_run() -> None:
    """On embedded engines; DuckDB reads the beginning of a statement a second time."""
    comments = "/* a * b */ -- it's\n ( /* ' */ SELECT count(*) AS n FROM shop)"
    shop = {"shop": {"name": ["north", "south"]}}
    for engine in ("sqlite", "duckdb"):
        statement = comments if engine == "duckdb" else comments.replace("(", "", 1)[:-1]
        with dqa.temporary_database(shop, engine=engine) as database:
            assert database.query(statement).rows == ((2,),), engine
    graph = "CREATE NODE TABLE Shop(name STRING, PRIMARY KEY(name)); CREATE (:Shop {name: 'x'});"
    with dqa.temporary_database(graph, engine="ladybug") as database:
        assert database.query("/* a * b */ MATCH (s:Shop) // '\nRETURN s.name").rows == (("x",),)
