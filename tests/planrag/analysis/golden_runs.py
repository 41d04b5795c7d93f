"""The golden runs and their worlds."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from dqa import plugins
from dqa.core.database import Database
from dqa.core.question import Question
from dqa.core.situation import Situation, Table
from dqa_planrag.analysis.critical import Relevance

GOLDEN = Path(__file__).with_name("golden")
Databases: TypeAlias = dict[tuple[str, str], Database]
"""Worlds in databases, by both names."""


def read(name: str) -> Any:
    """Return the content of a golden file."""
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


@cache
def worlds() -> dict[str, Situation]:
    """Return the worlds of the runs."""
    made = {}
    for name, world in read("worlds").items():
        schema = plugins.scenario(world["scenario"]).schema
        rows = {t.name: world["tables"][t.name]["rows"] for t in schema.tables}
        tables = {t.name: Table.from_rows(t, rows[t.name]) for t in schema.tables}
        made[name] = Situation(schema, name, tables)
    return made


def question(scenario: str, world: str, target: dict[str, str], text: str = "") -> Question:
    """Return a question about a world."""
    return Question(scenario, "golden", text, "", world, target)


def relevance(scenario: str, world: str, about: str) -> Relevance:
    """Return the relevant data of a question about a country's home or about some goods."""
    situation = worlds()[world]
    target = {"goods": about}
    if scenario == "locating":
        country = situation.tables["country"]
        homes = dict(zip(country["country_name"], country["home_node"], strict=True))
        target = {"country": about, "home": homes[about]}
    asked = question(scenario, world, target)
    return Relevance.of(asked, plugins.scenario(scenario), situation)
