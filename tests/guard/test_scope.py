"""A scoped statement reaches the nodes of one label only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from dqa.core.errors import RefusedStatementError
from dqa.guard.cypher import scoped

SCOPED = [
    ("MATCH (n) RETURN n.name", "MATCH (n:`x`) RETURN n.name"),
    ("MATCH () RETURN 1", "MATCH (:`x`) RETURN 1"),
    ("MATCH (n {a: 1}) RETURN n", "MATCH (n:`x` {a: 1}) RETURN n"),
    ("MATCH (n:A)-->(:B) RETURN n", "MATCH (n:A&`x`)-->(:B&`x`) RETURN n"),
    ("MATCH (n:A:B) RETURN n", "MATCH (n:A&B&`x`) RETURN n"),
    (
        "MATCH (a:A)-[:R|:S]->(b:A:B) WHERE a:C:D RETURN a",
        "MATCH (a:A&`x`)-[:R|S]->(b:A&B&`x`) WHERE a:C&D RETURN a",
    ),
    ("MATCH (n:A|B {c: 1}) RETURN n", "MATCH (n:(A|B)&`x` {c: 1}) RETURN n"),
    ("MATCH (n:!A&(B|C)) RETURN n", "MATCH (n:(!A&(B|C))&`x`) RETURN n"),
    ("MATCH (n IS A WHERE n.b) RETURN n", "MATCH (n IS A&`x` WHERE n.b) RETURN n"),
    ("MATCH (is) RETURN is", "MATCH (is:`x`) RETURN is"),
    ("MATCH (n:$($l)) RETURN n", "MATCH (n:$($l)&`x`) RETURN n"),
    ("MATCH (n // c)\n) RETURN n", "MATCH (n:`x` // c)\n) RETURN n"),
    (
        "MATCH p = (a) ((b)-->(c)){2} (d) RETURN p",
        "MATCH p = (a:`x`) ((b:`x`)-->(c:`x`)){2} (d:`x`) RETURN p",
    ),
    (
        "MATCH p = shortestPath((a)-[*]-(b)) RETURN p",
        "MATCH p = shortestPath((a:`x`)-[*]-(b:`x`)) RETURN p",
    ),
    (
        "MATCH (a) WHERE (a)-->() AND EXISTS { (b) } RETURN COUNT { MATCH (c) RETURN c }",
        (
            "MATCH (a:`x`) WHERE (a:`x`)-->(:`x`) AND EXISTS { (b:`x`) } "
            "RETURN COUNT { MATCH (c:`x`) RETURN c }"
        ),
    ),
    (
        "RETURN [(a)-->(b) | b.c], [q = (d)--() | q], (1) - (2)",
        "RETURN [(a:`x`)-->(b:`x`) | b.c], [q = (d:`x`)--(:`x`) | q], (1) - (2)",
    ),
    ("RETURN '(n)' AS `(m)` // (o)", "RETURN '(n)' AS `(m)` // (o)"),
]


def test_every_node_pattern_requires_the_label() -> None:
    """The label is added in the syntax of the pattern; it may hold any text."""
    for statement, expected in SCOPED:
        assert scoped(statement, "x") == expected
    assert scoped("MATCH (n) RETURN n", "a`) DELETE (n") == "MATCH (n:`a``) DELETE (n`) RETURN n"


def test_a_statement_that_reaches_beyond_the_label_is_refused() -> None:
    """Procedures and SHOW have no labels; a procedure with a static result needs none."""
    for statement, reason in (
        ("MATCH (n) DELETE n", "DELETE"),
        ("CALL db.labels()", "the whole database"),
        ("CALL db.index.fulltext.queryNodes('i', 'x') YIELD node RETURN node", "whole database"),
        ("SHOW INDEXES", "the whole database"),
        ("CALL apoc.meta.schema()", "not known"),
    ):
        with pytest.raises(RefusedStatementError, match=reason):
            scoped(statement, "x")
    harmless = "CALL dbms.components() YIELD name RETURN name"
    assert scoped(harmless, "x") == harmless


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two situations side by side on a real server, which `DQA_TEST_NEO4J_URL` names."""
    url = os.environ.get("DQA_TEST_NEO4J_URL")
    if not url:
        pytest.skip("DQA_TEST_NEO4J_URL is not set")
    neo4j = pytest.importorskip("neo4j")
    credentials, _, host = url.removeprefix("bolt://").rpartition("@")
    user, _, password = credentials.partition(":")
    with (
        neo4j.GraphDatabase.driver(f"bolt://{host}", auth=(user, password)) as driver,
        driver.session() as session,
    ):
        for label in ("dqa_guard_x", "dqa_guard_y"):
            session.run(
                f"CREATE (a:Person:{label} {{name: 'a_{label}'}})-[:KNOWS]->"
                f"(b:Person:Actor:{label} {{name: 'b_{label}'}})-[:KNOWS]->"
                f"(c:Company:{label} {{name: 'c_{label}'}}), (a)-[:WORKS_AT]->(c)"
            ).consume()
        yield session
        session.run("MATCH (n:dqa_guard_x|dqa_guard_y) DETACH DELETE n").consume()


INSIDE = [
    "MATCH (n) RETURN n.name",
    "MATCH (n)-->(m:Person) RETURN n.name, m.name",
    "MATCH (n:Person|Company) RETURN n.name",
    "MATCH (n:!Company) RETURN n.name",
    "MATCH (n:Person:Actor) RETURN n.name",
    "MATCH (a:Person)-[:KNOWS|:X]->(b:Person:Actor) WHERE a:Person RETURN a.name",
    "MATCH (n IS Person|Company) RETURN n.name",
    "MATCH ()-[r]-() RETURN startNode(r).name, endNode(r).name",
    "MATCH p = (a)-[*0..3]-(b) RETURN [x IN nodes(p) | x.name]",
    "MATCH p = SHORTEST 5 (a)--*(b) RETURN [x IN nodes(p) | x.name]",
    "MATCH (a) ((x)--(y))+ (b) RETURN b.name, [z IN x | z.name]",
    "RETURN COLLECT { MATCH (c) RETURN c.name }",
    "RETURN [(a)-->(b) | a.name]",
    "MATCH (n) WHERE EXISTS { (:Company)<--(n) } RETURN n.name",
    "CALL { MATCH (n) RETURN n } RETURN n.name",
    "MATCH (n) WITH n MATCH (m) WHERE (n)-->(m) RETURN m.name",
]
OUTSIDE = [
    "MATCH (n:dqa_guard_y) RETURN n.name",
    "MATCH (n:!dqa_guard_x) RETURN n.name",
    "MATCH (n:$('dqa_guard_y')) RETURN n.name",
    "MATCH (n {name: 'a_dqa_guard_y'}) RETURN n.name",
    "MATCH (n) WHERE (n)--(:Person {name: 'b_dqa_guard_y'}) RETURN n.name",
    "MATCH (n) WHERE EXISTS { (:Person {name: 'b_dqa_guard_y'}) } RETURN n.name",
]


@pytest.mark.integration
def test_a_server_returns_one_situation_only(session: Any) -> None:
    """Each scoped statement finds its situation, and nothing of the other one."""
    for statement in INSIDE:
        found = str([record.values() for record in session.run(scoped(statement, "dqa_guard_x"))])
        assert "dqa_guard_x" in found, statement
        assert "dqa_guard_y" not in found, statement
        assert "dqa_guard_y" in str([record.values() for record in session.run(statement)])
    for statement in OUTSIDE:
        assert not list(session.run(scoped(statement, "dqa_guard_x"))), statement
