"""Calibration of probabilities and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.dellma_draws import Shape
from dqa_dellma.utilities.maximisation import estimate_certainty

SHAPES = {
    "usual": Shape(),
    "two actions, many states": Shape(actions=2, samples=64),
    "eight actions, few states": Shape(actions=8, samples=8),
    "four states": Shape(samples=4),
    "large differences": Shape(spread=1.5, levels=0.5),
    "small differences": Shape(spread=0.3, levels=0.1, samples=32),
    "much noise": Shape(noise=2.0, samples=32, overlap=0.5),
    "states of their own": Shape(shared=False, samples=16),
    "even states": Shape(actions=4, factors=8, draws="stratified"),
}


def calibration(shape: Shape, worlds: int) -> tuple[float, float, float]:
    """Return the mean probability of the choice, the share of right choices, and the coverage."""
    chances, right, held = [], [], []
    for number in range(worlds):
        rng = np.random.default_rng([5, number])
        world = shape.world(rng)
        found = shape.decide(world, rng)
        chances.append(found.chances[found.best])
        right.append(world.expected.argmax() == found.best)
        truth = world.expected / world.expected.sum() * found.expected.sum()
        held.append(((found.intervals[:, 0] <= truth) & (truth <= found.intervals[:, 1])).mean())
    return float(np.mean(chances)), float(np.mean(right)), float(np.mean(held))


@pytest.mark.deep
def test_a_choice_is_right_as_often_as_its_chance_says() -> None:
    """The mean probability is near the share of right choices, and 90 % intervals hold.

    1,350 worlds measure the share to 1.3 points. The bounds are at least twice that.
    """
    found = np.array([calibration(shape, 150) for shape in SHAPES.values()])
    claimed, right, held = found.mean(axis=0)
    assert right - 0.06 <= claimed <= right + 0.03
    assert 0.9 <= held <= 0.99


def test_equal_actions_share_the_chance() -> None:
    drawn = np.array([[0.2, 0.2, 0.1], [0.3, 0.3, 0.1]])
    _, chances = estimate_certainty(np.array([0.25, 0.25, 0.1]), drawn, 8)
    assert chances.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize(
    ("values", "states", "chances"), [([0.3, 0.1], 1, [0.5, 0.5]), ([np.nan, 0.1], 8, [0.0, 1.0])]
)
def test_one_state_or_one_action_has_no_interval(
    values: list[float], states: int, chances: list[float]
) -> None:
    drawn = np.array([values] * 4)
    intervals, found = estimate_certainty(np.array(values), drawn, states)
    assert np.isnan(intervals).all()
    assert found.tolist() == chances
