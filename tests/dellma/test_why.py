"""The sentence that explains a decision, based on the rankings only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dqa_dellma.problem import Problem
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import Beliefs, judge
from dqa_dellma.utilities.maximisation import Maximised
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.why import explain_choice, find_influences

BELIEFS = judge(
    {
        "rain": {"dry": "likely", "wet": "unlikely"},
        "demand": {"low": "likely", "high": "likely"},
    }
)
STATES = np.array([[rain, demand] for rain in (0, 1) for demand in (0, 1)] * 4)
"""Sixteen states, four of each kind."""


def elicited(*figures: tuple[float, float], rainy: float = 0.0, **changes: Any) -> Maximised:
    """Return a result in which each action has an expected utility and a probability.

    The first action's utility is higher by `rainy` where it is wet, and lower where it is dry.
    """
    count = len(figures)
    expected = np.array([figure for figure, _ in figures])
    pairs = Pairs(STATES, np.repeat(np.arange(16), count), np.tile(np.arange(count), 16))
    utilities = expected[pairs.action_of]
    wet = STATES[pairs.state_of, 0] == 1
    utilities = utilities + np.where(pairs.action_of == 0, np.where(wet, rainy, -rainy), 0.0)
    found = Maximised(
        pairs=pairs,
        scores=np.zeros(len(pairs)),
        utilities=utilities,
        expected=expected,
        values=expected,
        intervals=np.stack([expected / 2, expected * 2], axis=1),
        chances=np.array([chance for _, chance in figures]),
        best=int(np.nanargmax(expected)),
        ranked=np.where(np.isnan(expected), 0, 16),
        settings=DellmaSettings(),
    )
    return replace(found, **changes)


def why(found: Maximised, *actions: str | int, beliefs: Beliefs = BELIEFS) -> str:
    """Return the sentence; actions default to fig, plum and pear."""
    names = actions or ("fig", "plum", "pear")[: len(found.values)]
    return explain_choice(Problem("Which fruit?", names, ""), beliefs, found)


def test_the_sentence_names_choice_runner_up_chance_and_attitude() -> None:
    result = why(elicited((0.0312345, 0.9), (0.02, 0.06), (0.001, 0.04)))
    assert result == (
        "fig was chosen: its expected utility (the mean over 16 sampled states, without aversion "
        "to risk) is 0.0312, ahead of plum with 0.02. It is the best of 3 actions with a "
        "probability of 90 %. No single factor value explains the lead."
    )


def test_another_action_that_is_likelier_the_best_is_named() -> None:
    """A few states with a large utility raise the value, but not the probability."""
    result = why(elicited((0.03, 0.1), (0.02, 0.3), (0.01, 0.6)))
    assert "10 %. pear is more likely the best (60 %)" in result


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (DellmaSettings(attitude="cvar", aversion=0.25), "in the worst 25 % of 16 sampled states"),
        (DellmaSettings(attitude="exponential", aversion=2.0), "by a risk aversion of 2"),
    ],
)
def test_an_attitude_to_risk_is_named(settings: DellmaSettings, words: str) -> None:
    """Its value decides, not the mean."""
    values = np.array([0.01, 0.02])
    cautious = elicited((0.03, 0.2), (0.02, 0.8), settings=settings, values=values, best=1)
    result = why(cautious)
    assert result.startswith("plum was chosen")
    assert words in result
    assert "is 0.02, ahead of fig with 0.01" in result


def test_the_factor_that_favours_the_choice_is_named() -> None:
    """With the lead for this value, and otherwise."""
    result = why(elicited((0.03, 0.9), (0.02, 0.1), rainy=0.005))
    assert result.endswith(
        'Its lead in utility is largest if "rain" is "wet" (0.015, otherwise 0.005).'
    )


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_taken_for_an_influence(seed: int) -> None:
    found = elicited((0.03, 0.9), (0.02, 0.1))
    noise = np.random.default_rng(seed).normal(0.0, 0.01, len(found.utilities))
    assert find_influences(found.pairs, found.utilities + noise, BELIEFS, 0, 1) == ()
