"""The sentence that explains a decision, based on the rankings only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.why import explain_choice
from tests.dellma.talking import problem

STATES = np.zeros((16, 1), dtype=np.int64)


def why(*figures: tuple[float, float], **changes: Any) -> str:
    """Return the sentence for actions with an expected utility and a probability each."""
    count = len(figures)
    expected = np.array([figure for figure, _ in figures])
    pairs = Pairs(STATES, np.repeat(np.arange(16), count), np.tile(np.arange(count), 16))
    found = Maximised(
        pairs=pairs,
        scores=np.zeros(len(pairs)),
        utilities=expected[pairs.action_of],
        expected=expected,
        values=expected,
        intervals=np.stack([expected / 2, expected * 2], axis=1),
        chances=np.array([chance for _, chance in figures]),
        best=int(np.nanargmax(expected)),
        ranked=np.full(count, 16),
        settings=DellmaSettings(),
    )
    return explain_choice(problem("fig", "plum", "pear"), replace(found, **changes))


def test_the_sentence_names_choice_runner_up_and_chance() -> None:
    assert why((0.0312345, 0.9), (0.02, 0.06), (0.001, 0.04)) == (
        "fig was chosen: its expected utility (the mean over 16 sampled states, without aversion "
        "to risk) is 0.0312, ahead of plum with 0.02. It is the best of 3 actions with a "
        "probability of 90 %."
    )


def test_an_attitude_to_risk_is_named() -> None:
    """Its value decides, not the mean."""
    settings, values = DellmaSettings(attitude="cvar", aversion=0.25), np.array([0.01, 0.02])
    result = why((0.03, 0.2), (0.02, 0.8), settings=settings, values=values, best=1)
    assert result.startswith("plum was chosen")
    assert "in the worst 25 % of 16 sampled states" in result
    assert "is 0.02, ahead of fig with 0.01" in result
