"""The scenario that the documentation shows is one."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.situation import Situation, Table
from dqa.deciders.base import Settings
from dqa.deciders.baselines import Oracle
from dqa.loaders.asked import ask_scenario
from dqa.scenarios import register

DOCUMENT = Path(__file__).parents[2] / "docs" / "scenarios.md"


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
def test_the_documented_scenario_is_asked_and_decided(tmp_path: Path, backend: str) -> None:
    """As it stands there, on a table of three branches."""
    blocks = dict(
        re.findall(r"```(text|toml)\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)[:2]
    )
    (tmp_path / "scenario.toml").write_text(blocks["toml"], "utf-8")
    (tmp_path / "question.txt").write_text(blocks["text"], "utf-8")
    (tmp_path / "rules.md").write_text(
        "1. A branch that is closed earns and costs nothing.", "utf-8"
    )
    scenario = register(tmp_path)
    (table,) = scenario.schema.tables
    rows = [("Leeds", 90.0, 20.0, 60.0), ("York", 80.0, 20.0, 40.0), ("Hull", 70.0, 30.0, 25.0)]
    firm = Situation(scenario.schema, "firm", {"branch": Table.from_rows(table, rows)})
    with closing(plugins.backend(backend).load(firm)) as database:
        question = ask_scenario(scenario, database, {"kept": "Leeds"})
        assert question.candidates == ("Hull", "York")
        assert Oracle(None).decide(question, database).choice == "Hull"


@pytest.mark.parametrize("backend", ["sqlite", "ladybug"])
def test_the_documented_heuristic_is_a_decider(tmp_path: Path, backend: str) -> None:
    """With the name and description that stand there."""
    text = DOCUMENT.read_text("utf-8")
    blocks = dict(re.findall(r"```(text|toml)\n(.*?)```", text, re.DOTALL)[:2])
    (statement,) = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    (name,) = re.findall(r'`(name = "least-revenue")`', text)
    (description,) = re.findall(r'`(description = "the branch with the least revenue")`', text)
    declared = f"{blocks['toml']}\n[[heuristics]]\n{name}\n{description}\n"
    (tmp_path / "scenario.toml").write_text(declared, "utf-8")
    (tmp_path / "question.txt").write_text(blocks["text"], "utf-8")
    (tmp_path / "rules.md").write_text("1. Nothing else counts.", "utf-8")
    (tmp_path / "heuristics").mkdir()
    (tmp_path / "heuristics" / "least-revenue.sql").write_text(statement, "utf-8")
    scenario = register(tmp_path)
    (table,) = scenario.schema.tables
    rows = [("Leeds", 90.0, 20.0, 60.0), ("York", 80.0, 20.0, 40.0), ("Hull", 70.0, 30.0, 25.0)]
    firm = Situation(scenario.schema, "firm", {"branch": Table.from_rows(table, rows)})
    with closing(plugins.backend(backend).load(firm)) as database:
        question = ask_scenario(scenario, database, {"kept": "Hull"})
        decider = plugins.decider("least-revenue")(None, Settings())
        assert decider.decide(question, database).choice == "York"
