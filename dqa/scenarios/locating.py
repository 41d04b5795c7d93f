"""The Locating scenario (PlanRAG, section 3.1): where to place a merchant for the most profit."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from dqa.question import Candidate
from dqa.scenarios.base import Scenario, read_schema, scenario_folder
from dqa.situation import Situation

__all__ = ["LOCATING"]


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    home = target["home"]
    return tuple(node for node in situation["trade_node"]["trade_node"].tolist() if node != home)


_FOLDER = scenario_folder("locating")

LOCATING = Scenario(
    name="locating",
    schema=read_schema("locating"),
    rules=(_FOLDER / "rules.md").read_text("utf-8").strip(),
    template=Template((_FOLDER / "question.txt").read_text("utf-8").strip()),
    goal="maximise",
    unit="profit",
    candidate_noun="trade node",
    candidates=_candidates,
)
