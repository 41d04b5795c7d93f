"""Portfolios of actions: the best within their limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa_dellma.portfolios import Limits, combine_actions, find_best_amounts
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.bradley_terry import Floats
from tests.dellma.dellma_traces import decided

SHARES = [1.0, 0.25]
"""Shares of worst states; 1 is the mean."""


def world(states: int, actions: int, seed: int) -> Floats:
    """Return utilities in which no action is best in every state."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.0, 0.8, (states, actions)) + rng.normal(0.0, 0.2, actions))


def limits(count: int = 3, **changes: Any) -> Limits:
    """Return limits; amounts default to shares of the whole."""
    usual: dict[str, Any] = {"budget": 1.0, "costs": np.ones(count), "most": np.full(count, np.inf)}
    return Limits(**usual | changes)


LIMITS = [
    limits(unit=0.125),
    limits(budget=7.0, costs=np.array([2.0, 1.5, 1.0]), unit=0.5, most=np.array([2.0, 1.0, 2.5])),
]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("bounds", LIMITS, ids=range(2))
def test_portfolios_in_units_are_the_best_of_all(share: float, bounds: Limits) -> None:
    """Compared with every portfolio that fits."""
    utilities, bounds = world(8, 3, 0), replace(bounds, share=share)
    assert bounds.unit is not None
    steps = [np.arange(0.0, min(most, bounds.budget) + 1e-9, bounds.unit) for most in bounds.most]
    best = max(
        bounds.value(utilities @ np.array(amounts))
        for amounts in product(*steps)
        if bounds.costs @ np.array(amounts) <= bounds.budget + 1e-9
    )
    amounts = find_best_amounts(utilities, bounds)
    assert bounds.value(utilities @ amounts) == pytest.approx(best, rel=1e-6)
    assert bounds.costs @ amounts <= bounds.budget + 1e-9
    assert amounts / bounds.unit == pytest.approx(np.round(amounts / bounds.unit))


@pytest.mark.parametrize("share", SHARES)
def test_portfolios_of_any_amounts_are_the_best_of_all(share: float) -> None:
    """No portfolio of a fine grid is better, and the scale of the utilities does not matter."""
    utilities, bounds = world(16, 3, 1), limits(share=share)
    amounts = find_best_amounts(utilities, bounds)
    assert amounts.sum() == pytest.approx(1.0)
    shares = np.linspace(0.0, 1.0, 41)
    grid = [np.array([a, b, 1.0 - a - b]) for a in shares for b in shares if a + b <= 1.0]
    value = bounds.value(utilities @ amounts)
    assert all(bounds.value(utilities @ other) <= value + 2e-6 for other in grid)
    assert find_best_amounts(utilities * 1e-4, bounds) == pytest.approx(amounts, abs=1e-6)


def test_a_unit_that_is_too_small_is_refused() -> None:
    with pytest.raises(UsageError, match="larger unit"):
        find_best_amounts(world(4, 2, 0), limits(2, unit=1e-12))


def test_shared_states_with_gaps_ask_for_more_samples() -> None:
    """No shared state is ranked for all actions."""
    tree = DecisionTree.of(decided())
    assert tree.utilities is not None
    assert tree.pairs is not None
    cells = zip(tree.pairs.state_of, tree.pairs.action_of, tree.utilities.utilities, strict=True)
    actions = len(tree.utilities.actions)
    known = [None if state % actions == action else one for state, action, one in cells]
    gaps = tree.changed(utilities=tree.utilities.model_copy(update={"utilities": known}))
    with pytest.raises(UsageError, match=r"more dellma\.samples"):
        combine_actions(gaps)
