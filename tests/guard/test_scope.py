"""A scoped statement reaches the nodes of one label only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dqa.guard.check import Refusal
from dqa.guard.cypher import judge
from dqa.guard.policy import Policy
from tests.guard.case_files import read_cases

CASES = read_cases("scope")
"""Statements with their scoped form, and statements that read inside and outside a scope."""


def scoped(statement: str, label: str) -> str:
    """Return the text that runs if every node needs a label."""
    return judge(statement, "neo4j", Policy(inside=label)).statement


def test_every_node_pattern_requires_the_label() -> None:
    """The label follows the syntax of the pattern, and may hold any text."""
    for statement, expected in CASES["scoped"]:
        assert scoped(statement, "x") == expected
    assert scoped("MATCH (n) RETURN n", "a`) DELETE (n") == "MATCH (n:`a``) DELETE (n`) RETURN n"


def test_a_statement_that_reaches_beyond_the_label_is_refused() -> None:
    """Procedures and SHOW ignore labels."""
    for statement, reason in (
        ("MATCH (n) DELETE n", "DELETE"),
        ("CALL db.labels()", "the whole database"),
        ("CALL db.index.fulltext.queryNodes('i', 'x') YIELD node RETURN node", "whole database"),
        ("SHOW INDEXES", "the whole database"),
        ("CALL db.ping()", "the whole database"),
        ("CALL apoc.load.json('x')", "not in the list"),
    ):
        with pytest.raises(Refusal, match=reason):
            scoped(statement, "x")


@pytest.fixture(scope="module")
def session(neo4j_session: Any) -> Iterator[Any]:
    """Create two situations on a Neo4j server."""
    for label in ("dqa_guard_x", "dqa_guard_y"):
        neo4j_session.run(
            f"CREATE (a:Person:{label} {{name: 'a_{label}'}})-[:KNOWS]->"
            f"(b:Person:Actor:{label} {{name: 'b_{label}'}})-[:KNOWS]->"
            f"(c:Company:{label} {{name: 'c_{label}'}}), (a)-[:WORKS_AT]->(c)"
        ).consume()
    yield neo4j_session
    neo4j_session.run("MATCH (n:dqa_guard_x|dqa_guard_y) DETACH DELETE n").consume()


@pytest.mark.integration
def test_a_server_returns_one_situation_only(session: Any) -> None:
    for statement in CASES["inside"]:
        found = str([record.values() for record in session.run(scoped(statement, "dqa_guard_x"))])
        assert "dqa_guard_x" in found, statement
        assert "dqa_guard_y" not in found, statement
    # The other situation is there; unscoped statements would read what other tests delete.
    assert list(session.run("MATCH (n:dqa_guard_y) RETURN n.name"))
    for statement in CASES["outside"]:
        assert not list(session.run(scoped(statement, "dqa_guard_x"))), statement
