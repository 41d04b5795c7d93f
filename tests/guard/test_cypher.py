"""The text that runs in place of a Cypher statement."""

from __future__ import annotations

import pytest

from dqa.guard import check
from dqa.guard.cypher import judge
from dqa.guard.policy import Policy


def test_a_statement_may_use_its_own_database() -> None:
    """Where the location names it; it is left out, and another is refused."""
    own = Policy(database="sales")
    assert judge("USE sales MATCH (n) RETURN n", "neo4j", own) == "MATCH (n) RETURN n"
    for statement in (
        "USE other RETURN 1",
        "USE sales CREATE (n)",
        "USE graph.byName('sales') RETURN 1",
    ):
        assert not check(statement, "neo4j", own).allowed
    assert not check("USE sales RETURN 1", "neo4j").allowed


@pytest.mark.parametrize(
    ("statement", "runs"),
    [
        ("MATCH (n) /* all */ RETURN n.name // end", "MATCH (n) RETURN n.name"),
        ("RETURN 'caf\\u00e9' AS x;", "RETURN 'café' AS x"),
        ("MATCH (n)\u00a0RETURN n", "MATCH (n) RETURN n"),
        ("MATCH (n) RETURN n.set ORDER BY n.set", "MATCH (n) RETURN n.set ORDER BY n.set"),
        ("WITH 1 AS set RETURN set", "WITH 1 AS `set` RETURN `set` AS `set`"),
    ],
)
def test_what_runs_is_put_together_from_the_tokens(statement: str, runs: str) -> None:
    """Comments, odd spaces and escapes never reach the server, nor a word that writes as one."""
    assert judge(statement, "neo4j") == runs


GROWING = [
    "RETURN reduce(s = 'a', x IN range(1, 40) | s + toUpper(s))",
    "RETURN reduce(s = 'a', x IN range(1, 40) | replace(s, 'a', 'aa'))",
    "RETURN reduce(s = 'a', x IN range(1, 40) | head([y IN [s] | y + y]))",
    "RETURN reduce(s = 'a', x IN range(1, 40) | reduce(t = s, y IN [s] | t + y))",
    "RETURN reduce(s = 'a', x IN range(1, 40) | CASE WHEN x > 0 THEN s ELSE '' END + s)",
    "RETURN reduce(s = 'a', x IN range(1, 40) | apoc.text.urlencode(s))",
    "RETURN reduce(m = {a: 'a'}, x IN range(1, 40) | {a: m.a + m.a})",
    "MATCH (n) RETURN reduce(l = [1], x IN range(1, 40) | [(n)--() | l])",
    "MATCH (n) RETURN reduce(l = [1], x IN range(1, 40) | [y IN n.names | l])",
    "RETURN reduce(l = [1], x IN range(1, 40) | COLLECT { MATCH (n) RETURN l })",
    "RETURN " + "replace(" * 30 + "'a'" + ", 'a', 'aa')" * 30,
    f"WITH 'a' AS s {'WITH s + s AS s ' * 40}RETURN s",
    f"WITH 'a' AS s {'WITH CASE WHEN true THEN s || s END AS s ' * 40}RETURN s",
    f"WITH 'a' AS s {'CALL (s) { RETURN s + s AS t } WITH t AS s ' * 40}RETURN s",
    f"WITH {{a: 'a'}} AS m {'WITH {a: m.a + m.a} AS m ' * 40}RETURN m",
    f"WITH ['a', 'b'] AS l {'WITH [x IN l | l] AS l ' * 40}RETURN l",
    "WITH ['a'] AS l "
    + "UNWIND [1, 2] AS i WITH collect(reduce(t = '', x IN l | t + x)) AS l " * 40
    + "RETURN l",
]
SMALL = [
    "RETURN reduce(s = [], x IN [1, 2] | CASE WHEN x IN s THEN s ELSE s + x END)",
    "MATCH (n) RETURN reduce(s = '', x IN collect(n.name) | s + ', ' + toUpper(x))",
    "MATCH p = (a)-[*]->(b) RETURN reduce(km = 0, r IN relationships(p) | km + r.km)",
    "MATCH (n) WITH CASE WHEN n.a > 1 THEN n.b ELSE n.c END AS d RETURN d + d",
    "RETURN [x IN range(0, 3000) | date('2024-01-01') + duration({days: x})]",
    "UNWIND range(1, 100000) AS x RETURN collect(x)",
]


def test_texts_that_double_are_refused() -> None:
    """However they are repeated: no server looks at the clock or the memory meanwhile."""
    assert [s for s in GROWING if check(s, "neo4j").allowed] == []
    assert [(s, v.reason) for s in SMALL if not (v := check(s, "neo4j")).allowed] == []
