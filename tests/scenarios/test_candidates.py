"""Candidates of scenarios that list them in their questions."""

from __future__ import annotations

from dataclasses import replace

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


def test_a_recorded_question_needs_an_outcome_of_every_candidate() -> None:
    """The answer is the best outcome by the scenario's goal."""
    asked = questions().find("stocks/1")
    situation = questions().situation_of(asked)
    scenario = plugins.scenario("stocks")
    first, second = [row[0] for row in situation["stock"].rows()][:2]
    target = {**asked.target, "symbols": f"{first}, {second}"}
    record = {str(first): 1.5, str(second): 0.5}
    assert scenario.recorded(situation, "1", target, record).truth.answers == (first,)
    outcomes = scenario.outcomes.model_copy(update={"goal": "minimise"})
    document = scenario.document.model_copy(update={"outcomes": outcomes})
    least = replace(scenario, document=document)
    assert least.recorded(situation, "1", target, record).truth.answers == (second,)
    with pytest.raises(DataError, match=f"no outcome of '{second}'"):
        scenario.recorded(situation, "1", target, {str(first): 1.5})
