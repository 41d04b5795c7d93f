"""The rules on runs that they were not made for, labelled as ``docs/analysis.md`` says.

The worlds are the golden ones; nodes, goods and the shapes of statements are others
(``variations.json``: of each run its statements, and how it came by IV and TP_total, or CO and PD).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dqa import plugins
from dqa.core.database import Limits
from dqa.deciders.tools import observe
from dqa.evaluation.analysis import Asked, found_values
from dqa.evaluation.analysis.critical_values import critical
from dqa.evaluation.analysis.statements import readings_of
from tests.evaluation.analysis.golden_runs import Databases, relevance

RUNS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("variations.json").read_text())


def test_values(databases: Databases) -> None:
    """Shown, worked out, in parts, not needed or missed."""
    found = {}
    for run in RUNS:
        database, scenario = databases[run["world"], run["database"]], run["scenario"]
        asked = []
        for statement in run["statements"]:
            evidence = observe(database, statement, Limits())
            assert evidence.error is None, evidence.observation
            schema = plugins.scenario(scenario).schema
            asked.append(Asked(evidence, readings_of(evidence, schema, database.kind)))
        turning = relevance(scenario, run["world"], run["about"])
        values = found_values(asked, critical(scenario), turning).values()
        found[run["id"]] = [how.value for how in values]
    assert found == {run["id"]: run["values"] for run in RUNS}
