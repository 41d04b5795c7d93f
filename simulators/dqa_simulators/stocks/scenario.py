"""The Stocks scenario (DeLLMa, section 4.2): which stock to buy and sell for the largest return."""

from __future__ import annotations

from collections.abc import Mapping

from dqa.core.question import Candidate
from dqa.core.situation import Situation
from dqa.scenarios.base import listed_in, read_scenario

__all__ = ["STOCKS"]


def _candidates(situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
    return listed_in(situation["stock"]["symbol"], target, "symbols")


STOCKS = read_scenario(
    "stocks",
    goal="maximise",
    unit="gain on a dollar",
    candidate_noun="stock symbol",
    candidates=_candidates,
)
