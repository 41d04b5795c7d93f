"""Beliefs: the six words, their scores, and states drawn from them (Algorithm 1)."""

from __future__ import annotations

import numpy as np
import pytest

from dqa.core.errors import DataError
from dqa_dellma.utilities.beliefs import WEIGHTS, describe_state, judge, sample_states
from tests.dellma.talking import BELIEFS


def test_the_six_words_weigh_six_to_one() -> None:
    """In the paper's order (section 3.2)."""
    assert list(WEIGHTS.values()) == [6, 5, 4, 3, 2, 1]
    values = judge({"f": dict(zip("abcdef", WEIGHTS, strict=True))})["f"].values()
    np.testing.assert_allclose([likely.probability for likely in values], np.arange(6, 0, -1) / 21)
    assert [likely.words for likely in values] == list(WEIGHTS)


@pytest.mark.parametrize("words", [("likely", "certain"), ("likely", ""), ()])
def test_nothing_else_is_a_belief(words: tuple[str, ...]) -> None:
    """One of the words for every value, or an error."""
    with pytest.raises(DataError, match="needs one of very likely"):
        judge({"f": dict(zip("ab", words, strict=False))})


def test_states_are_drawn_from_independent_margins() -> None:
    """Frequencies come to the scaled scores, and factors do not depend on each other."""
    states = sample_states(BELIEFS, 40_000, np.random.default_rng(3))
    assert states.shape == (40_000, 2)
    np.testing.assert_allclose(states.sum(axis=0) / 40_000, [2 / 7, 1 / 7], atol=0.01)
    assert abs(np.corrcoef(states[:, 0], states[:, 1])[0, 1]) < 0.02


def test_the_same_seed_draws_the_same_states() -> None:
    """And another one others."""
    drawn = [sample_states(BELIEFS, 50, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()


def test_a_state_is_described_by_names() -> None:
    """Each factor with the value it took; without factors there is one empty state."""
    assert describe_state(BELIEFS, np.array([1, 0])) == {"Rain": "much", "Demand": "low"}
    assert sample_states({}, 3, np.random.default_rng(0)).shape == (3, 0)
