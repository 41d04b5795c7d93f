"""The Building scenario (PlanRAG, section 3.2): which building to expand for the lowest price."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.scenarios.base import read_scenario

__all__ = ["BUILDING", "LEVEL_INCREASE"]

LEVEL_INCREASE = 5
"""Levels that the chosen building gains (PlanRAG, appendix A.2)."""


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    del target  # every building may be expanded, whatever goods are asked about
    return tuple(situation["building"]["id"].tolist())


def _targets(situation: Situation, target: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    del target
    return {"goods": tuple(situation["goods"]["goods_name"].tolist())}


BUILDING = read_scenario(
    "building",
    goal="minimise",
    unit="price",
    candidate_noun="building id",
    candidates=_candidates,
    targets=_targets,
)
