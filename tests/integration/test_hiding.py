"""What a policy hides is told in no way by real servers either."""

from __future__ import annotations

import pytest

from tests.guard import hiding_attacks as attacks
from tests.guard.hiding_cypher import CypherAttacks
from tests.guard.hiding_sql import SqlAttacks
from tests.guard.test_hiding import GRAPH, GRAPHS, SCRIPTS, SQL


@pytest.mark.parametrize("name", ["postgres", "mysql"])
def test_nothing_hidden_is_told_in_sql(name: str, request: pytest.FixtureRequest) -> None:
    """Two databases that differ in what is hidden alone answer 500 attacks alike."""
    url = request.getfixturevalue(f"{name}_url")
    with attacks.opened(name, SCRIPTS, SQL, url) as (one, two, twin, entries):
        statements = list(SqlAttacks(one.dialect, 15).statements(attacks.COUNT))
        outcome = attacks.attack(one, two, twin, entries, statements)
    assert not outcome.leaks, "\n".join(outcome.leaks[:5])
    assert outcome.answered > attacks.COUNT // 3


def test_nothing_hidden_is_told_in_cypher(neo4j_url: str) -> None:
    """As in SQL."""
    with attacks.opened("neo4j", GRAPHS, GRAPH, neo4j_url) as (one, two, twin, entries):
        statements = list(CypherAttacks("neo4j", 15).statements(attacks.COUNT))
        outcome = attacks.attack(one, two, twin, entries, statements)
    assert not outcome.leaks, "\n".join(outcome.leaks[:5])
    assert outcome.answered > attacks.COUNT // 5
