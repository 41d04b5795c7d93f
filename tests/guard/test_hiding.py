"""What a policy hides is told in no way: not in rows, errors, audits, samples or a schema."""

from __future__ import annotations

import pytest

from dqa.guard import Policy
from tests.guard import hiding_attacks as attacks
from tests.guard.hiding_cypher import CypherAttacks
from tests.guard.hiding_sql import SqlAttacks

SQL = Policy(masks=attacks.MASKS, row_filters=attacks.FILTERS)
GRAPH = Policy(masks=attacks.GRAPH_MASKS, row_filters=attacks.GRAPH_FILTERS)
SCRIPTS = (attacks.tables("kq7", 77001, "zz8"), attacks.tables("qk9", 88002, "hh6"), attacks.TWIN)
GRAPHS = (
    attacks.graph("kq7", 77001, "zz8"),
    attacks.graph("qk9", 88002, "hh6"),
    attacks.graph("", 0, ""),
)


@pytest.mark.parametrize("backend", ["sqlite", "duckdb"])
def test_nothing_hidden_is_told_in_sql(backend: str) -> None:
    """Two databases that differ in what is hidden alone answer 500 attacks alike."""
    statements = list(SqlAttacks(backend, 15).statements(attacks.COUNT))
    with attacks.opened(backend, SCRIPTS, SQL) as (one, two, twin, entries):
        outcome = attacks.attack(one, two, twin, entries, statements)
    assert not outcome.leaks, "\n".join(outcome.leaks[:5])
    assert outcome.asked == attacks.COUNT
    assert outcome.answered > attacks.COUNT // 3


def test_nothing_hidden_is_told_in_cypher() -> None:
    """As in SQL, on LadybugDB."""
    statements = list(CypherAttacks("ladybug", 15).statements(attacks.COUNT))
    with attacks.opened("ladybug", GRAPHS, GRAPH) as (one, two, twin, entries):
        outcome = attacks.attack(one, two, twin, entries, statements)
    assert not outcome.leaks, "\n".join(outcome.leaks[:5])
    assert outcome.answered > attacks.COUNT // 5
