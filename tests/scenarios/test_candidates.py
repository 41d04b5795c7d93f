"""Candidates of scenarios that list them in their questions."""

from __future__ import annotations

import pytest

from dqa import plugins
from dqa.core.errors import DataError
from tests.scenarios.worlds import questions


@pytest.mark.parametrize(
    ("scenario", "key", "table"), [("agriculture", "crops", "crop"), ("stocks", "symbols", "stock")]
)
def test_listed_candidates_are_in_table_order(scenario: str, key: str, table: str) -> None:
    """Without a list, all are candidates; an unknown name is an error."""
    situation = questions().situation_of(questions().find(f"{scenario}/1"))
    there = [row[0] for row in situation[table].rows()]
    candidates = plugins.scenario(scenario).candidates
    assert candidates(situation, {key: f"{there[2]}, {there[0]}"}) == (there[0], there[2])
    assert candidates(situation, {}) == tuple(there)
    with pytest.raises(DataError, match="'quince' is listed"):
        candidates(situation, {key: f"{there[0]}, quince"})
