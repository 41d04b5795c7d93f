"""The Agriculture scenario (DeLLMa, section 4.1): which crop to plant for the most revenue."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.scenarios.base import listed_in, read_scenario

__all__ = ["AGRICULTURE"]


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    return listed_in(situation["crop"]["crop"], target, "crops")


AGRICULTURE = read_scenario(
    "agriculture",
    goal="maximise",
    unit="revenue of an acre",
    candidate_noun="crop",
    candidates=_candidates,
)
