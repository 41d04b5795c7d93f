"""Beliefs: the six words, their scores, and states drawn from them (Algorithm 1)."""

from __future__ import annotations

import numpy as np
import pytest

from dqa.core.errors import DataError
from dqa_dellma.utilities.beliefs import (
    WEIGHTS,
    bearing_of,
    judge,
    sample_states,
)
from tests.dellma.talking import BELIEFS


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
