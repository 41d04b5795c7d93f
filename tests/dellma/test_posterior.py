"""The posterior: decisions that converge, and intervals that hold as often as they say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.dellma_draws import Shape
from dqa.core.errors import DataError
from dqa_dellma.utilities.pairs import Pairs
from dqa_dellma.utilities.posterior import draw_state_weights, fit_posterior


def coverage(shape: Shape, worlds: int, seed: int) -> tuple[float, float]:
    """Return how often intervals hold the truth: of all actions, and of the chosen ones."""
    rng = np.random.default_rng(seed)
    held, chosen = [], []
    for _ in range(worlds):
        world = shape.world(rng)
        found = shape.decide(world, rng)
        truth = world.expected / world.expected.sum() * found.expected.sum()
        inside = (found.intervals[:, 0] <= truth) & (truth <= found.intervals[:, 1])
        held.append(inside.mean())
        chosen.append(inside[found.best])
    return float(np.mean(held)), float(np.mean(chosen))


@pytest.mark.parametrize(
    "worlds",
    [pytest.param(60, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.deep)],
)
def test_intervals_hold_the_truth_in_nine_of_ten_worlds(worlds: int) -> None:
    """The 90 % intervals cover 85 to 95 % of generated worlds, the chosen action's too."""
    everywhere, chosen = coverage(Shape(), worlds, seed=1)
    assert 0.85 <= everywhere <= 0.95
    assert 0.85 <= chosen <= 0.95


@pytest.mark.deep
@pytest.mark.parametrize(
    "shape",
    [
        Shape(actions=2, samples=64),
        Shape(actions=8, samples=8),
        Shape(spread=0.3, levels=0.1, samples=32),
        Shape(spread=1.5, levels=0.5),
        Shape(noise=0.5, samples=24),
        Shape(noise=2.0, samples=32, overlap=0.5),
        Shape(factors=6, samples=8),
        Shape(shared=False, samples=16),
    ],
    ids=str,
)
def test_intervals_hold_in_other_kinds_of_worlds(shape: Shape) -> None:
    """Few and many actions, small and large spread, noise, samples and overlap: near 90 %.

    100 worlds of a kind tell their coverage to 3 points or so; the bounds are two of those wider.
    """
    everywhere, _ = coverage(shape, 100, seed=2)
    assert 0.82 <= everywhere <= 0.985


def regrets(samples: int) -> tuple[float, float]:
    """Return the mean share of the best expected utility that is lost, by both rules."""
    rng = np.random.default_rng(7)
    shape, lost = Shape(samples=samples), []
    for _ in range(40):
        world = shape.world(rng)
        found = shape.decide(world, rng)
        kept = world.expected / world.expected.max()
        lost.append((1.0 - kept[found.best], 1.0 - kept[int(found.chances.argmax())]))
    paper, ours = np.mean(lost, axis=0).tolist()
    return paper, ours


@pytest.mark.deep
def test_decisions_converge_to_the_best_as_samples_grow() -> None:
    """The chosen action's true expected utility tends to the best one's, by either rule."""
    losses = [regrets(samples) for samples in (8, 32, 256)]
    for paper_and_ours in zip(*losses, strict=True):
        assert all(fewer > more for fewer, more in pairwise(paper_and_ours))
        assert paper_and_ours[-1] < 0.01
    assert all(ours <= paper for paper, ours in losses)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("shape", "worlds", "within"),
    [
        (Shape(actions=2, samples=1), 500, 0.06),
        (Shape(actions=2, samples=2), 400, 0.06),
        (Shape(samples=4), 300, 0.07),
        (Shape(actions=7, samples=8), 300, 0.07),
        (Shape(), 200, 0.07),
    ],
    ids=str,
)
def test_chances_are_the_frequencies_of_being_best(
    shape: Shape, worlds: int, within: float
) -> None:
    """With few data and with more, the likeliest action and the paper's are as often the best.

    The bounds are 2.5 standard errors or so of what is counted.
    """
    rng = np.random.default_rng(4)
    said, were = [], []
    for _ in range(worlds):
        world = shape.world(rng)
        found = shape.decide(world, rng)
        chosen = [int(found.chances.argmax()), found.best]
        said.append(found.chances[chosen])
        were.append(world.expected.argmax() == chosen)
    assert np.mean(were, axis=0) == pytest.approx(np.mean(said, axis=0), abs=within)


def pairs_of(action_of: list[int]) -> Pairs:
    """Return pairs of states of their own, without factors."""
    count = len(action_of)
    return Pairs(np.zeros((count, 0), dtype=np.int64), np.arange(count), np.array(action_of))


def test_draws_have_the_mean_and_follow_the_rankings() -> None:
    """Draws scatter around the mean, which orders items as they were ranked."""
    posterior = fit_posterior([[3, 0, 1]] * 4, pairs_of([0, 1, 0, 1]), 2)
    assert posterior.items.tolist() == [0, 1, 3]
    drawn, new = posterior.draw(20_000, np.random.default_rng(0))
    assert drawn.shape == (20_000, 3)
    assert new.shape == (20_000, 2)
    differences = drawn - drawn[:, :1]
    assert differences.mean(axis=0) == pytest.approx(posterior.mean - posterior.mean[0], abs=0.05)
    assert posterior.mean[2] > posterior.mean[0] > posterior.mean[1]


def test_more_rankings_narrow_the_posterior() -> None:
    """The same ranking seen often leaves less open than seen once."""
    rng = np.random.default_rng(0)
    widths = []
    for times in (1, 4, 16):
        posterior = fit_posterior([[0, 1], [1, 0]] * times, pairs_of([0, 1]), 2)
        drawn, _ = posterior.draw(4_000, rng)
        widths.append(float((drawn[:, 0] - drawn[:, 1]).std()))
    assert all(wide > narrow for wide, narrow in pairwise(widths))


def test_states_that_were_not_drawn_are_open() -> None:
    """An action that won each state may still do worse in a new one, and less so the better."""
    rng = np.random.default_rng(0)
    worse = []
    for times in (1, 8):
        rankings = [[2 * state, 2 * state + 1] for state in range(times)]
        count = np.arange(2 * times)
        pairs = Pairs(np.zeros((times, 0), dtype=np.int64), count // 2, count % 2)
        _, new = fit_posterior(rankings, pairs, 2).draw(4_000, rng)
        worse.append(float((new[:, 0] < new[:, 1]).mean()))
    assert 0.5 > worse[0] > worse[1] > 0.02


def test_equal_items_have_equal_utilities() -> None:
    """And lie between what was better and what was worse."""
    ranks = [[1, 2, 2, 4]] * 4
    posterior = fit_posterior([[0, 1, 2, 3]] * 4, pairs_of([0, 1, 1, 0]), 2, ranks=ranks)
    best, one, other, worst = posterior.mean
    assert one == pytest.approx(other, abs=1e-9)
    assert best > one > worst


@pytest.mark.parametrize("rankings", [[], [[]], [[1]]])
def test_nothing_compared_has_no_posterior(rankings: list[list[int]]) -> None:
    """Without two ranked items there is nothing to fit."""
    with pytest.raises(DataError, match="at least two items"):
        fit_posterior(rankings, pairs_of([0, 1]), 2)


@pytest.mark.parametrize("rankings", [[[0, 5]], [[-1, 0]], [[0, 1, 0]]])
def test_wrong_items_are_refused(rankings: list[list[int]]) -> None:
    """Items that do not exist or are named twice are errors."""
    with pytest.raises(DataError, match="name"):
        fit_posterior(rankings, pairs_of([0, 1]), 2)


def test_states_weigh_the_same_for_all_actions_that_share_them() -> None:
    """Items of a state have one weight, and states of many have Student's spread."""
    state_of, action_of = np.repeat(np.arange(12), 2), np.tile([0, 1], 12)
    weights, of_new = draw_state_weights(state_of, action_of, 40_000, np.random.default_rng(0))
    assert of_new.shape == (40_000, 1)
    assert (of_new > 0.0).all()
    assert (weights[:, ::2] == weights[:, 1::2]).all()
    assert (weights > 0.0).all()
    shares = weights[:, ::2] / weights[:, ::2].sum(axis=1, keepdims=True)
    drawn = shares @ np.arange(12.0)
    # The variance of a mean under Student's t: the squares' mean over S - 3.
    assert drawn.var() == pytest.approx(np.arange(12.0).var() / 9.0, rel=0.05)
