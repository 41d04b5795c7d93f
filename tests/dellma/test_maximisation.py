"""From rankings to the action of the largest expected utility."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.bradley_terry import fit_scores
from dqa_dellma.utilities.maximisation import (
    Maximised,
    average_utilities,
    maximise,
    scale_utilities,
    weigh_by_attitude,
)
from dqa_dellma.utilities.pairs import Pairs
from tests.dellma.talking import ranking

# Three states, each paired with both actions: item 2 s + a.
PAIRS = Pairs(np.array([[0], [1], [2]]), np.repeat([0, 1, 2], 2), np.tile([0, 1], 3))


def decide(rankings: list[list[int]], *, pairs: Pairs = PAIRS, **settings: Any) -> Maximised:
    """Maximise over complete rankings."""
    made = [ranking(items) for items in rankings]
    return maximise(pairs, made, 2, DellmaSettings(**settings))


def test_expected_utilities_are_the_papers() -> None:
    """Softmax over all scores, and the mean of each action's pairs."""
    found = decide([[1, 3, 0, 5, 2, 4]])
    scores = fit_scores([[1, 3, 0, 5, 2, 4]], 6, "pairs", 2e-3)
    shares = np.exp(scores) / np.exp(scores).sum()
    assert found.scores == pytest.approx(scores)
    assert found.utilities == pytest.approx(shares)
    assert found.expected == pytest.approx([shares[::2].mean(), shares[1::2].mean()])
    assert found.values == pytest.approx(found.expected)
    assert found.best == 1
    assert found.chances[1] > 0.5
    assert found.chances.sum() == pytest.approx(1.0)
    assert (found.intervals[:, 0] < found.intervals[:, 1]).all()
    assert found.ranked.tolist() == [3, 3]


def test_pairs_that_a_ranking_leaves_out_stay_in_the_mean() -> None:
    """They have the regulariser's score, as in the release; unshown pairs do not count."""
    rankings = [ranking((1, 0, 2), (0, 1, 2, 3), omitted=1), ranking((), (4, 5), omitted=2)]
    found = maximise(PAIRS, rankings, 2, DellmaSettings())
    scores = fit_scores([[1, 0, 2]], 6, "pairs", 2e-3)
    shares = np.exp(scores[:4]) / np.exp(scores[:4]).sum()
    assert found.utilities[:4] == pytest.approx(shares)
    assert np.isnan(found.utilities[4:]).all()
    assert found.expected == pytest.approx([shares[::2].mean(), shares[1::2].mean()])
    assert found.ranked.tolist() == [2, 2]


def test_softmax_within_an_action_weighs_its_scores() -> None:
    """Each action's mean is weighted by the softmax of its own scores."""
    scores, action_of = np.array([0.0, 1.0, 3.0, -1.0]), np.array([0, 0, 1, 1])
    utilities = scale_utilities(scores, action_of, "action", 0.5)
    weights = np.exp([0.0, 2.0]) / np.exp([0.0, 2.0]).sum()
    assert average_utilities(utilities, action_of, 2)[0] == pytest.approx(weights[1])
    found = decide([[1, 3, 0, 5, 2, 4]], scale="action", temperature=0.1, alpha=2e-8)
    assert found.best == 1


def test_an_action_that_was_not_ranked_is_not_chosen() -> None:
    """It has no value and no probability; the trace holds None."""
    found = decide([[1, 3, 5]])
    assert found.best == 1
    assert np.isnan(found.expected[0])
    assert found.chances.tolist() == [0.0, 1.0]
    first = found.found(["a", "b"], "why").actions[0]
    assert first.expected_utility is None
    assert first.interval == (None, None)
    assert first.ranked == 0


# Action 0 is good in one state and bad in two; action 1 is medium in all.
RISKY = [[0, 1, 3, 5, 2, 4]] * 2


@pytest.mark.parametrize(
    ("attitude", "aversion", "best"),
    [
        ("cvar", 1.0, 0),
        ("cvar", 0.34, 1),
    ],
)
def test_the_attitude_decides(attitude: str, aversion: float, best: int) -> None:
    """Careful attitudes take the action whose bad states are less bad."""
    found = decide(RISKY, alpha=0.1, attitude=attitude, aversion=aversion)
    assert found.best == best
    assert (found.values <= found.expected + 1e-12).all()
    assert found.intervals[best, 0] <= found.intervals[best, 1]


def test_cvar_is_the_mean_of_the_worst_share() -> None:
    """Half of four states are the two worst; weights count states."""
    utilities = np.array([4.0, 1.0, 3.0, 2.0])
    assert weigh_by_attitude(utilities, np.ones(4), "cvar", 0.5) == pytest.approx(1.5)
    assert weigh_by_attitude(utilities, np.ones(4), "cvar", 0.375) == pytest.approx(4.0 / 3.0)
    weights = np.array([1.0, 2.0, 1.0, 0.0])
    assert weigh_by_attitude(utilities, weights, "cvar", 0.75) == pytest.approx(5.0 / 3.0)
