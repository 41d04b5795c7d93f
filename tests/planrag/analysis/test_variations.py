"""The rules on runs that they were not written for, labelled by ``docs/analysis.md``.

The worlds are the golden ones with other nodes, goods and statements. ``variations.json`` holds the
statements of each run, and the way it learnt IV and TP_total, or CO and PD.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.evidence import Evidence
from dqa.deciders.tools import observe
from dqa_planrag.analysis.critical import Relevance, found_values, read_statements
from tests.planrag.analysis.golden_runs import Databases, relevance
from tests.planrag.analysis.runs import empty, failed, make_case, ran

RUNS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("variations.json").read_text())
POWER = "SELECT total_power FROM trade_node WHERE trade_node = 'ulmen'"


def values_of(
    scenario: str, turning: Relevance, database: str, evidence: list[Evidence]
) -> list[str]:
    """Return how a run learnt its scenario's critical values."""
    known = plugins.scenario(scenario)
    kind = "graph" if database == "ladybug" else "relational"
    asked = read_statements(make_case(*evidence, database=database, kind=kind).trace, known)
    found = found_values(asked, known.document.critical_values, turning)
    return [how.value for how in found.values()]


def test_values(databases: Databases) -> None:
    """Shown, worked out, in parts, not needed or missed."""
    found = {}
    for run in RUNS:
        database = databases[run["world"], run["database"]]
        evidence = [observe(database, statement, Limits()) for statement in run["statements"]]
        turning = relevance(run["scenario"], run["world"], run["about"])
        found[run["id"]] = values_of(run["scenario"], turning, run["database"], evidence)
    assert found == {run["id"]: run["values"] for run in RUNS}


@pytest.mark.parametrize(
    ("evidence", "values"),
    [
        ([], ["missed", "missed"]),
        ([ran(POWER, "[21.5]")], ["missed", "shown"]),
        ([failed(POWER), empty(POWER)], ["missed", "missed"]),
        (
            [ran("SELECT SUM(flow) FROM flow WHERE dest = 'velm'", "[null]")],
            ["worked out", "missed"],
        ),
        ([ran("SELECT SUM(flow) FROM flow WHERE dest = 'Velm'", "[null]")], ["missed", "missed"]),
        (
            [ran("SELECT source, flow FROM flow WHERE dest = 'corrin'", '["velm", 0.0]')],
            ["missed", "missed"],
        ),
        ([ran("all", tool="compare")], ["simulated", "simulated"]),
    ],
)
def test_only_relevant_rows_count(evidence: list[Evidence], values: list[str]) -> None:
    """Lomar's home is corrin, where value arrives from velm, ulmen and north_pass."""
    about = relevance("locating", "straits", "Lomar")
    assert values_of("locating", about, "sqlite", evidence) == values


def test_without_the_data_any_node_counts() -> None:
    """The relevant nodes are unknown then, and parts cannot be complete."""
    shown = ran("SELECT ingoing FROM trade_node", "[11.918]")
    part = ran("SELECT flow FROM flow WHERE dest = 'x'", "[1]")
    mean = ran("SELECT AVG(ingoing) FROM trade_node", "[4.0]")
    for evidence, how in ((shown, "shown"), (part, "missed"), (mean, "missed")):
        assert values_of("locating", Relevance(), "sqlite", [evidence]) == [how, "missed"]


def test_all_inputs_of_the_target_are_relevant() -> None:
    """Nodes from which value reaches home; goods, their inputs, and the producers of all."""
    nodes = relevance("locating", "straits", "Lomar").keys
    assert nodes == {"trade_node": frozenset({"corrin", "velm", "ulmen", "north_pass"})}
    fish = relevance("building", "harbour", "fish").keys
    assert fish["goods"] == frozenset({18, 19, 13, 16, 17, 15})
    assert fish["building"] == frozenset({312, 313, 314, 315, 304, 305, 309, 310, 311, 308})
