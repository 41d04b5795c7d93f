"""The Building scenario (PlanRAG, section 3.2): which building to expand for the lowest price."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from dqa.question import Candidate
from dqa.scenarios.base import Scenario, read_schema, scenario_folder
from dqa.situation import Situation

__all__ = ["BUILDING", "LEVEL_INCREASE"]

LEVEL_INCREASE = 5
"""Levels that the chosen building gains (PlanRAG, appendix A.2)."""


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    del target  # every building may be expanded, whatever goods are asked about
    return tuple(situation["building"]["id"].tolist())


_FOLDER = scenario_folder("building")

BUILDING = Scenario(
    name="building",
    schema=read_schema("building"),
    rules=(_FOLDER / "rules.md").read_text("utf-8").strip(),
    template=Template((_FOLDER / "question.txt").read_text("utf-8").strip()),
    goal="minimise",
    unit="price",
    candidate_noun="building id",
    candidates=_candidates,
)
