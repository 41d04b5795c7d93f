"""A scoped statement reaches the nodes of one label only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from dqa.guard.cypher import judge
from dqa.guard.policy import Policy
from dqa.guard.verdict import Refusal


def scoped(statement: str, label: str) -> str:
    """Return a statement as it runs where every node needs a label."""
    return judge(statement, "neo4j", Policy(inside=label))


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
    ("MATCH (n // c)\n) RETURN n", "MATCH (n:`x` ) RETURN n"),
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
            "RETURN COUNT { MATCH (c:`x`) RETURN c } AS `COUNT { MATCH (c) RETURN c }`"
        ),
    ),
    (
        "RETURN [(a)-->(b) | b.c], [q = (d)--() | q], (1) - (2)",
        (
            "RETURN [(a:`x`)-->(b:`x`) | b.c] AS `[(a)-->(b) | b.c]`, "
            "[q = (d:`x`)--(:`x`) | q] AS `[q = (d)--() | q]`, (1) - (2)"
        ),
    ),
    ("RETURN '(n)' AS `(m)` // (o)", "RETURN '(n)' AS `(m)`"),
    (
        "MATCH (n) RETURN labels(n)",
        "MATCH (n:`x`) RETURN [dqa_label IN labels(n) WHERE NOT dqa_label IN ['x']] AS `labels(n)`",
    ),
    ("MATCH (set) RETURN set.name", "MATCH (`set`:`x`) RETURN `set`.name AS `set.name`"),
]


@pytest.mark.parametrize(("statement", "expected"), SCOPED)
def test_every_node_pattern_requires_the_label(statement: str, expected: str) -> None:
    """The label is added in the syntax the pattern uses, and nothing else changes."""
    assert scoped(statement, "x") == expected


def test_a_label_is_quoted() -> None:
    """A label may hold anything, and cannot end its quotes."""
    assert scoped("MATCH (n) RETURN n", "a`) DELETE (n") == "MATCH (n:`a``) DELETE (n`) RETURN n"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("MATCH (n) DELETE n", "DELETE"),
        ("CALL db.labels()", "the whole database"),
        ("CALL db.index.fulltext.queryNodes('i', 'x') YIELD node RETURN node", "whole database"),
        ("SHOW INDEXES", "the whole database"),
        ("CALL apoc.load.json('x')", "not known"),
    ],
)
def test_what_reaches_beyond_is_refused(statement: str, reason: str) -> None:
    """Procedures and SHOW know no labels, and what the guard refuses is refused here too."""
    with pytest.raises(Refusal, match=reason):
        scoped(statement, "x")


def test_a_procedure_with_a_static_result_stays() -> None:
    """What tells nothing of the data needs no scope."""
    statement = "CALL dbms.components() YIELD name RETURN name"
    assert scoped(statement, "x") == statement


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


@pytest.mark.integration
@pytest.mark.parametrize(
    "statement",
    [
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
    ],
)
def test_a_server_returns_one_situation_only(session: Any, statement: str) -> None:
    """The scoped statement runs, returns something, and nothing of the other situation."""
    found = str([record.values() for record in session.run(scoped(statement, "dqa_guard_x"))])
    assert "dqa_guard_x" in found
    assert "dqa_guard_y" not in found
    assert "dqa_guard_y" in str([record.values() for record in session.run(statement)])


@pytest.mark.integration
@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n:dqa_guard_y) RETURN n.name",
        "MATCH (n:!dqa_guard_x) RETURN n.name",
        "MATCH (n:$('dqa_guard_y')) RETURN n.name",
        "MATCH (n {name: 'a_dqa_guard_y'}) RETURN n.name",
        "MATCH (n) WHERE (n)--(:Person {name: 'b_dqa_guard_y'}) RETURN n.name",
        "MATCH (n) WHERE EXISTS { (:Person {name: 'b_dqa_guard_y'}) } RETURN n.name",
    ],
)
def test_a_server_returns_nothing_of_another_situation(session: Any, statement: str) -> None:
    """Asking for the other situation by its label or its values finds nothing."""
    assert not list(session.run(scoped(statement, "dqa_guard_x")))
