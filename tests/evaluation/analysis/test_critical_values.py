"""Which critical values runs came by, and how."""

from __future__ import annotations

import pytest

from dqa.core.evidence import Evidence
from dqa.evaluation.analysis.critical_values import (
    CriticalValue,
    Found,
    critical,
    found_values,
)
from tests.evaluation.analysis.runs import empty, failed, make_case, ran


def found(*evidence: Evidence, scenario: str = "locating") -> dict[str, str]:
    """Return how a run on MySQL came by its scenario's values."""
    trace = make_case(*evidence).trace
    return {
        name: how.value for name, how in found_values(trace, scenario, critical(scenario)).items()
    }


POWER = "SELECT total_power FROM trade_node"


@pytest.mark.parametrize(
    ("evidence", "values"),
    [
        ([], {"IV": "missed", "TP_total": "missed"}),
        ([ran(POWER)], {"IV": "missed", "TP_total": "queried"}),
        ([failed(POWER), empty(POWER)], {"IV": "missed", "TP_total": "missed"}),
        (
            [ran("SELECT 1.05 * SUM(flow) FROM flow WHERE dest = 'a'")],
            {"IV": "computed", "TP_total": "missed"},
        ),
        (
            [ran("SELECT SUM(flow) FROM flow WHERE source = 'a'")],
            {"IV": "missed", "TP_total": "missed"},
        ),
        (
            [ran("SELECT SUM(flow) FROM flow WHERE dest = 'typo'", "[null]")],
            {"IV": "missed", "TP_total": "missed"},
        ),
        (
            [ran("SELECT SUM(DISTINCT flow) FROM flow WHERE dest = 'a'")],
            {"IV": "missed", "TP_total": "missed"},
        ),
        (
            [ran("SELECT t.ingoing, t.rowid FROM trade_node t")],
            {"IV": "queried", "TP_total": "missed"},
        ),
        ([ran("SELECT flow FROM flow WHERE dest = 'a'")], {"IV": "missed", "TP_total": "missed"}),
        (
            [
                ran(
                    "SELECT trade_node, SUM(calculated_trading_power) FROM node_country "
                    "GROUP BY trade_node"
                )
            ],
            {"IV": "missed", "TP_total": "computed"},
        ),
        ([ran("all", tool="compare")], {"IV": "simulated", "TP_total": "simulated"}),
        ([ran(POWER), ran("a", tool="simulate")], {"IV": "simulated", "TP_total": "queried"}),
        ([failed("nowhere", tool="simulate")], {"IV": "missed", "TP_total": "missed"}),
    ],
)
def test_a_value_is_queried_computed_simulated_or_missed(
    evidence: list[Evidence], values: dict[str, str]
) -> None:
    """Only what ran and brought something counts."""
    assert found(*evidence) == values


def test_current_output_can_be_computed_and_the_populations_demand_cannot() -> None:
    """The mean of the inputs' shares is an output only together with the most that is made."""
    share = "AVG(d.current_input / d.max_demand)"
    source = "FROM supply s JOIN demand d ON d.building_id = s.building_id GROUP BY s.building_id"
    whole, part = (ran(f"SELECT {x} {source}") for x in (f"s.max_supply * {share}", share))
    assert found(whole, scenario="building") == {"CO": "computed", "PD": "missed"}
    assert found(part, scenario="building") == {"CO": "missed", "PD": "missed"}
    read = ran("SELECT s.current_output, g.pop_demand FROM supply s, goods g")
    assert found(read, scenario="building") == {"CO": "queried", "PD": "queried"}


def test_graphs_are_measured_alike() -> None:
    """The same values behind other names."""
    cypher = ran("MATCH (s)-[f:source]->(h:Trade_node {name: 'a'}) RETURN 1.05 * SUM(f.flow)")
    trace = make_case(cypher).trace.changed(kind="graph", database="ladybug")
    assert found_values(trace, "locating", critical("locating"))["IV"] is Found.COMPUTED


def test_another_scenario_names_its_own_values_or_has_none() -> None:
    """Whoever adds a scenario adds its values beside ours."""
    assert critical("cooking") == ()
    assert found_values(make_case(ran(POWER)).trace, "cooking", ()) == {}
    own = (CriticalValue(name="LV", table="trade_node", column="local_value"),)
    read = make_case(ran("SELECT local_value FROM trade_node"))
    assert found_values(read.trace, "locating", own) == {"LV": Found.QUERIED}
