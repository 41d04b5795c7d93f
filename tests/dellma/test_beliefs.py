"""Beliefs: the six words, their scores, and states drawn from them (Algorithm 1)."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from dqa.core.errors import DataError
from dqa_dellma.settings import Draws
from dqa_dellma.utilities.beliefs import (
    WEIGHTS,
    bearing_of,
    judge,
    sample_states,
)
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


@pytest.mark.parametrize("count", [1, 16, 50])
def test_values_come_as_often_as_they_are_believed(count: int) -> None:
    """A value that is believed at 60 % is drawn in 9 or 10 of 16 states, and not in 7 or 12."""
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
    """And on all of them where it is about none."""
    found = bearing_of(BELIEFS, {"Rain": ("pear",)}, ("apple", "pear"))
    assert found.tolist() == [[False, True], [True, True]]
    assert bearing_of({}, {}, ("apple", "pear")).shape == (2, 0)


def test_the_same_seed_draws_the_same_states() -> None:
    """And another one others."""
    for draws in get_args(Draws):
        drawn = [
            sample_states(BELIEFS, 50, np.random.default_rng(seed), draws) for seed in (1, 1, 2)
        ]
        assert (drawn[0] == drawn[1]).all()
        assert (drawn[0] != drawn[2]).any()
