"""Ranks, ties and regrets of candidates."""

from __future__ import annotations

import numpy as np
import pytest

from dqa.core.simulator import Goal, Outcomes


def profits(*values: float, baseline: float = 1.0) -> Outcomes:
    """Return the profits of candidates a, b, c, ..."""
    return Outcomes(tuple("abcdef"[: len(values)]), np.array(values), "maximise", baseline)


def test_values_that_differ_by_rounding_tie() -> None:
    """The answer has the best exact value. Candidates within rounding are equally good."""
    last_bit = float(np.nextafter(3.0, 4.0))
    outcomes = profits(3.0, 1.0, last_bit, 3.0 - 1e-11)
    assert (outcomes.answer, outcomes.best) == ("c", last_bit)
    assert outcomes.ties == ("a", "c")
    assert outcomes.decided_by_last_bit
    assert [outcomes.rank(c) for c in "abcd"] == [1, 4, 1, 3]
    assert (outcomes.regret("a"), outcomes.relative_regret("a")) == (0.0, 0.0)
    nothing_gained = profits(float(np.nextafter(1.0, 2.0)), 0.5)
    assert nothing_gained.relative_regret("b") == float("inf")
    assert outcomes.margin == pytest.approx(1e-11, rel=1e-3)


def test_candidates_behind_the_best_share_a_rank_up_to_rounding() -> None:
    """Two candidates with equal regret share a rank."""
    outcomes = profits(5.0, 2.0, float(np.nextafter(2.0, 3.0)), 1.0)
    assert [outcomes.rank(c) for c in "abcd"] == [1, 2, 2, 4]


@pytest.mark.parametrize("goal", ["maximise", "minimise"])
def test_a_question_that_nothing_moves_is_a_tie_of_all(goal: Goal) -> None:
    """Candidates that differ only by rounding all tie."""
    values = np.array([7.1 * (1.0 + 1e-15 * i) for i in range(210)])
    outcomes = Outcomes(tuple(range(210)), values, goal, baseline=7.1)
    assert outcomes.ties == tuple(range(210))
    assert (outcomes.margin, outcomes.rank(209), outcomes.regret(100)) == (0.0, 1, 0.0)
    assert outcomes.relative_regret(0) == 0.0


def test_regret_is_absolute_and_relative_to_the_best_gain() -> None:
    """Without a baseline, the relative regret is unknown."""
    outcomes = profits(1.0, 3.0, 2.0)
    assert [outcomes.regret(c) for c in "abc"] == [2.0, 0.0, 1.0]
    assert [outcomes.relative_regret(c) for c in "abc"] == [1.0, 0.0, 0.5]
    prices = Outcomes((1, 2, 3), np.array([5.0, 4.0, 7.0]), "minimise", 6.0)
    assert (prices.answer, prices.margin) == (2, 1.0)
    assert (prices.regret(3), prices.relative_regret(3)) == (3.0, 1.5)
    losses = profits(-3.0, -4.0, baseline=0.0)
    dearer = Outcomes((1, 2), np.array([7.0, 8.0]), "minimise", 6.0)
    assert losses.relative_regret("b") == dearer.relative_regret(2) == float("inf")
    bill = Outcomes(("a", "b"), np.array([75.0, 90.0]), "minimise")
    assert (bill.answer, bill.regret("b"), bill.relative_regret("b")) == ("a", 15.0, None)
