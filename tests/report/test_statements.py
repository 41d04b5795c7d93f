"""Long statements are laid out clause by clause, and no word of them is changed."""

from __future__ import annotations

import re

import pytest

from dqa.report.statements import lay_out

JOINED = """SELECT a.name, CASE WHEN a.x = 1 AND a.y = 2 THEN 'z' ELSE ' from  where ' END k
FROM node a
LEFT JOIN flow b ON a.name = b.src
WHERE b.v BETWEEN 1 AND 2
  AND a.v != 3
ORDER BY a.name"""
RECURSIVE = """WITH RECURSIVE up(n, d) AS (
  SELECT 'a', 0
  UNION ALL SELECT e.src, d + 1
  FROM up
  JOIN e ON e.dst = up.n
)
SELECT n, EXTRACT(year FROM d)
FROM up
WHERE LEFT(n, 1) = 'a'
LIMIT 3"""
CYPHER = """MATCH (n:Node {name: 'x'})-[r:FLOW]->(m)
WHERE n.name STARTS WITH 'a'
OPTIONAL MATCH (m)-->(k)
CALL {
  WITH n
  MATCH (n)--(q)
  RETURN q
}
RETURN n.name, q
ORDER BY q
SKIP 1
LIMIT 9"""
LONG = "SELECT a FROM t WHERE b = '" + "x" * 100


@pytest.mark.parametrize("laid_out", [JOINED, RECURSIVE, CYPHER])
def test_a_long_statement_stands_clause_by_clause(laid_out: str) -> None:
    """SQL and Cypher, with what is inside of brackets."""
    statement = re.sub(r"\n *", " ", laid_out)
    assert len(statement) > 100
    assert lay_out(statement) == laid_out


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT a FROM t WHERE b = 1",
        f"{LONG}' -- of  the  old ones",
        f"{LONG}' /* of  the  old ones */",
        f"{LONG}\\' AND from'",
        f"{LONG} FROM",
        "",
    ],
)
def test_what_is_short_or_uncertain_stays_as_it_is(statement: str) -> None:
    """Where a text ends only its engine knows, if there are comments, backslashes, open quotes."""
    assert lay_out(statement) == statement
