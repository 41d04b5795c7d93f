"""The rules on runs and plans that they were not made for, labelled as ``docs/analysis.md`` says.

The worlds are the golden ones; nodes, goods and the shapes of statements are others
(``variations.json``: of each run its statements, and how it came by IV and TP_total, or CO and PD).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.deciders.tools import observe
from dqa.evaluation.analysis import Asked, found_values, kind_of
from dqa.evaluation.analysis.critical_values import critical
from dqa.evaluation.analysis.statements import readings_of
from tests.evaluation.analysis.golden_runs import Databases, relevance

RUNS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("variations.json").read_text())


@pytest.mark.parametrize("run", RUNS, ids=lambda run: str(run["id"]))
def test_values(run: dict[str, Any], databases: Databases) -> None:
    """Shown, worked out, in parts, not needed or missed."""
    database, scenario = databases[run["world"], run["database"]], run["scenario"]
    asked = []
    for statement in run["statements"]:
        evidence = observe(database, statement, Limits())
        assert evidence.error is None, evidence.observation
        schema = plugins.scenario(scenario).schema
        asked.append(Asked(evidence, readings_of(evidence, schema, database.kind)))
    turning = relevance(scenario, run["world"], run["about"])
    found = found_values(asked, critical(scenario), turning)
    assert [how.value for how in found.values()] == run["values"]


PLANS = [
    (
        "1. Fetch the mills.\n2. Choose.",
        "1. Fetch all of the mills\n2. Choose",
        "Same",
        "unchanged",
    ),
    (
        "- read demand for coal\n- read supply of coal\n- decide",
        "- read the supply of coal\n- read demand for coal\n- decide",
        "Same",
        "re-order",
    ),
    (
        "[Step 1: Query the flows, Step 2: Decide]",
        "[Step 1: Query the flows, Step 2: View the powers, Step 3: Decide]",
        "Increase",
        "add look-up",
    ),
    (
        "1. Get the sources of velm\n2. Answer",
        "1. Get the sources of velm\n2. Solve the price formula for the demand\n3. Answer",
        "Increase",
        "add calculation",
    ),
    (
        "1. Get the sources of velm\n2. Answer",
        "1. Get the sources of velm\n2. Determine the mean ratio of inputs\n3. Answer",
        "Increase",
        "add calculation",
    ),
    (
        "I read the makers, then I decide.",
        "I read the makers, then I work the extra output out, then I decide.",
        "Increase",
        "add calculation",
    ),
    (
        "1. Find makers\n2. Decide",
        "1. Find makers\n2. Show their levels\n3. Multiply both\n4. Decide",
        "Increase",
        "add both actions",
    ),
    (
        "1. Look up power of dovra\n2. Decide",
        "1. Look up power of corrin\n2. Decide",
        "Same",
        "change target",
    ),
    (
        "1. Look up power of dovra\n2. Decide",
        "1. Calculate power of dovra\n2. Decide",
        "Same",
        "replace",
    ),
    (
        "1. 查询出生产工具的建筑。\n2. 计算价格。",
        "1. 计算价格。\n2. 查询出生产工具的建筑。",
        "Same",
        "re-order",
    ),
    (
        "1. 查询面粉的需求和供给。\n2. 选择。",
        "1. 查询面粉的需求。\n2. 查询面粉的供给。\n3. 选择。",
        "Increase",
        "divide to sub-steps",
    ),
    (
        "1. Get coal's price\n2. Get iron's price\n3. Decide",
        "1. Get the prices of coal and iron\n2. Decide",
        "Decrease",
        "merge",
    ),
    (
        "[1. Query a; 2. Query the history of b; 3. Decide]",
        "[1. Query a; 2. Decide]",
        "Decrease",
        "delete",
    ),
    (
        "Step 1: Get factories' outputs\nStep 2: Compare",
        "Step 1: Get the output of each factory\nStep 2: Compare",
        "Same",
        "unchanged",
    ),
    (
        "1. Read the flows\n2. Decide",
        "1. Sort the countries by size\n2. Ask nobody",
        "Same",
        "rewritten",
    ),
]


@pytest.mark.parametrize(("old", "new", "group", "kind"), PLANS)
def test_plans(old: str, new: str, group: str, kind: str) -> None:
    """Groups and kinds."""
    found = kind_of(old, new)
    assert (found.group, found.kind.value) == (group, kind)
