"""The Locating scenario (PlanRAG, section 3.1): where to place a merchant for the most profit."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.scenarios.base import read_scenario

__all__ = ["LOCATING"]


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    home = target["home"]
    return tuple(node for node in situation["trade_node"]["trade_node"].tolist() if node != home)


def _targets(situation: Situation, target: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """Return the countries, and the one home of the country that is asked about."""
    country = situation["country"]
    homes = dict(zip(country["country_name"].tolist(), country["home_node"].tolist(), strict=True))
    home = homes.get(target.get("country", ""))
    return {"country": tuple(homes), "home": () if home is None else (home,)}


LOCATING = read_scenario(
    "locating",
    goal="maximise",
    unit="profit",
    candidate_noun="trade node",
    candidates=_candidates,
    targets=_targets,
)
