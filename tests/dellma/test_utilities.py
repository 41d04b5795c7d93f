"""Beliefs, pairs, expected utilities and the sentence about the choice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import DataError
from dqa_dellma.settings import DellmaSettings
from dqa_dellma.utilities.beliefs import WEIGHTS, bearing_of, judge, sample_states
from dqa_dellma.utilities.bradley_terry import fit_scores
from dqa_dellma.utilities.maximisation import (
    Maximised,
    average_utilities,
    maximise,
    scale_utilities,
    weigh_by_attitude,
)
from dqa_dellma.utilities.pairs import Pairs, cut_minibatches, draw_pairs
from dqa_dellma.utilities.why import explain_choice
from tests.dellma.talking import BELIEFS, problem, ranking


def test_the_six_words_weigh_six_to_one() -> None:
    """The order is the paper's (section 3.2)."""
    assert list(WEIGHTS.values()) == [6, 5, 4, 3, 2, 1]
    values = judge({"f": dict(zip("abcdef", WEIGHTS, strict=True))})["f"].values()
    np.testing.assert_allclose([likely.probability for likely in values], np.arange(6, 0, -1) / 21)
    assert [likely.words for likely in values] == list(WEIGHTS)


@pytest.mark.parametrize("words", [("likely", "certain"), ("likely", ""), ()])
def test_other_words_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match="needs one of very likely"):
        judge({"f": dict(zip("ab", words, strict=False))})


def test_states_are_drawn_from_independent_margins() -> None:
    """Frequencies match the scaled scores, and factors are independent."""
    states = sample_states(BELIEFS, 40_000, np.random.default_rng(3))
    assert states.shape == (40_000, 2)
    np.testing.assert_allclose(states.sum(axis=0) / 40_000, [2 / 7, 1 / 7], atol=0.01)
    assert abs(np.corrcoef(states[:, 0], states[:, 1])[0, 1]) < 0.02


@pytest.mark.parametrize("count", [1, 16, 50])
def test_stratified_values_are_as_frequent_as_believed(count: int) -> None:
    """A value of probability 0.6 is drawn in 9 or 10 of 16 states."""
    words = {"a": "very likely", "b": "somewhat unlikely", "c": "very unlikely"}
    beliefs = judge({f"f{number}": words for number in range(12)})
    chances = np.array([0.6, 0.3, 0.1])
    for seed in range(20):
        states = sample_states(beliefs, count, np.random.default_rng(seed), "stratified")
        assert states.shape == (count, 12)
        for column in states.T:
            missed = np.bincount(column, minlength=3) - count * chances
            assert np.abs(missed).max() < 1.0 + 1e-9


def test_a_factor_bears_on_the_actions_that_it_is_about() -> None:
    """A factor without actions bears on all of them."""
    found = bearing_of(BELIEFS, {"Rain": ("pear",)}, ("apple", "pear"))
    assert found.tolist() == [[False, True], [True, True]]
    assert bearing_of({}, {}, ("apple", "pear")).shape == (2, 0)


def drawn(actions: int, seed: int = 1, **own: Any) -> Pairs:
    """Draw pairs of some actions."""
    bearing = np.ones((actions, len(BELIEFS)), dtype=np.bool_)
    return draw_pairs(BELIEFS, bearing, DellmaSettings(**own), np.random.default_rng(seed))


def test_every_action_meets_the_same_states() -> None:
    """The seed gives the order."""
    pairs = drawn(3, samples=8)
    met = sorted(zip(pairs.state_of.tolist(), pairs.action_of.tolist(), strict=True))
    assert met == [(state, action) for state in range(8) for action in range(3)]
    assert pairs.state_of.tolist() != sorted(pairs.state_of.tolist())
    assert pairs.action_of.tolist() == drawn(3, samples=8).action_of.tolist()
    assert pairs.action_of.tolist() != drawn(3, 2, samples=8).action_of.tolist()


def test_naive_pairs_have_states_of_their_own() -> None:
    """The total is as set, with equally many states per action."""
    pairs = drawn(4, shared=False, samples=50)
    assert sorted(pairs.state_of.tolist()) == list(range(50))
    assert sorted(np.bincount(pairs.action_of).tolist()) == [12, 12, 13, 13]
    assert pairs.action_of.tolist() != sorted(pairs.action_of.tolist())
    for action in range(4):
        own = pairs.states[pairs.state_of[pairs.action_of == action]]
        assert (np.abs(own.sum(axis=0) - len(own) * np.array([2 / 7, 1 / 7])) < 1.0).all()


@pytest.mark.parametrize(
    ("count", "size", "overlap", "starts"),
    [
        (256, 32, 0.25, range(0, 241, 24)),
        (64, 32, 0.25, (0, 24, 48)),
        (9, 4, 0.0, (0, 4, 7)),
        (2, 32, 0.25, (0,)),
        (0, 32, 0.25, ()),
    ],
)
def test_minibatches_overlap_and_reach_the_end(
    count: int, size: int, overlap: float, starts: tuple[int, ...]
) -> None:
    """The release's numbers for 4 actions (11 of 256 items), and no single item at the end."""
    batches = cut_minibatches(count, size, overlap)
    assert [batch.start for batch in batches] == list(starts)
    assert sorted({item for batch in batches for item in batch}) == list(range(count))
    assert all(len(batch) <= size for batch in batches)
    assert all(len(batch) > 1 for batch in batches if count > 1)


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


@pytest.mark.parametrize(("attitude", "aversion", "best"), [("cvar", 1.0, 0), ("cvar", 0.34, 1)])
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
