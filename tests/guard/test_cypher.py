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
