"""Combinations of actions: the best ones there are, within their limits."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa_dellma.portfolios import PortfolioLimits, Risk, combine_actions, find_best_portfolio
from dqa_dellma.settings import Attitude
from dqa_dellma.tree.decision_tree import DecisionTree
from dqa_dellma.utilities.bradley_terry import Floats
from dqa_dellma.utilities.maximisation import weigh_by_attitude
from tests.dellma.dellma_traces import events, result_of, told_of, traced

ATTITUDES: list[tuple[Attitude, float]] = [
    ("mean", 0.2),
    ("cvar", 0.25),
    ("cvar", 1.0),
]


def world(states: int, actions: int, seed: int) -> Floats:
    """Return utilities of which no action's are the best everywhere."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(0.0, 0.8, (states, actions)) + rng.normal(0.0, 0.2, actions))


def worth(utilities: Floats, amounts: Floats, attitude: Attitude, aversion: float) -> float:
    """Return the attitude's value of amounts."""
    total = utilities @ amounts
    return float(weigh_by_attitude(total, np.ones(len(total)), attitude, aversion))


LIMITS = [
    PortfolioLimits(unit=0.125),
    PortfolioLimits(budget=10.0, costs=(3.0, 1.0, 2.0), unit=1.0),
    PortfolioLimits(budget=7.0, costs=(2.0, 1.5, 1.0), unit=0.5, most=(2.0, 1.0, 2.5)),
    PortfolioLimits(budget=4.0, unit=1.0, least=(1.0, 0.0, 1.0)),
]


@pytest.mark.parametrize(("attitude", "aversion"), ATTITUDES)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_portfolios_in_units_are_the_best_of_all(
    attitude: Attitude, aversion: float, limits: PortfolioLimits, seed: int
) -> None:
    """Of all portfolios that fit, tried one by one, none is worth more."""
    utilities = world(8, 3, seed)
    costs = np.array(limits.costs or [1.0] * 3)
    assert limits.unit is not None
    least, most = limits.least or (0.0,) * 3, limits.most or (limits.budget,) * 3
    steps = [
        np.arange(low, high + 1e-9, limits.unit) for low, high in zip(least, most, strict=True)
    ]
    best = max(
        worth(utilities, np.array(amounts), attitude, aversion)
        for amounts in product(*steps)
        if costs @ np.array(amounts) <= limits.budget + 1e-9
    )
    found = find_best_portfolio(utilities, limits, Risk(attitude, aversion))
    amounts = np.array(found.amounts)
    assert found.value == pytest.approx(best, rel=1e-6)
    assert found.value == pytest.approx(worth(utilities, amounts, attitude, aversion))
    assert found.cost <= limits.budget + 1e-9
    assert amounts / limits.unit == pytest.approx(np.round(amounts / limits.unit))


@pytest.mark.parametrize(("attitude", "aversion"), ATTITUDES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_portfolios_of_any_amounts_are_the_best_of_all(
    attitude: Attitude, aversion: float, seed: int
) -> None:
    """No move between two actions, and no portfolio of a fine grid, is worth more."""
    utilities = world(16, 3, seed)
    found = find_best_portfolio(utilities, risk=Risk(attitude, aversion))
    amounts = np.array(found.amounts)
    assert amounts.sum() == pytest.approx(1.0)
    shares = np.linspace(0.0, 1.0, 41)
    grid = [(a, b, 1.0 - a - b) for a in shares for b in shares if a + b <= 1.0]
    moved = [
        (1.0 - step) * amounts + step * corner for step in (1e-3, 1e-2) for corner in np.eye(3)
    ]
    for other in (*map(np.array, grid), *moved):
        value = worth(utilities, other, attitude, aversion)
        assert value <= found.value + 2e-6


def test_the_mean_alone_takes_one_action() -> None:
    """Without risk there is nothing to spread, and nothing is gained."""
    utilities = world(32, 4, 3)
    found = find_best_portfolio(utilities)
    assert found.single == int(utilities.mean(axis=0).argmax())
    assert found.amounts[found.single] == pytest.approx(1.0)
    assert found.gain == pytest.approx(0.0, abs=1e-9)
    assert found.expected == found.value


def test_actions_that_offset_one_another_are_combined() -> None:
    """Two actions, each good where the other is bad, are held half and half."""
    utilities = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = find_best_portfolio(utilities, risk=Risk("cvar", 0.5))
    assert found.amounts == pytest.approx((0.5, 0.5), abs=1e-3)
    assert found.gain > 0.1
    assert found.single == 0


def test_costs_and_budget_bound_amounts() -> None:
    """What costs half is bought twice; the value per cost decides."""
    utilities = np.array([[3.0, 2.0], [3.0, 2.0]])
    found = find_best_portfolio(utilities, PortfolioLimits(budget=6.0, costs=(3.0, 1.0)))
    assert found.amounts == pytest.approx((0.0, 6.0))
    assert found.value == pytest.approx(12.0)
    assert found.cost == pytest.approx(6.0)


def test_larger_utilities_change_no_amounts() -> None:
    """Utilities have no unit: any multiple of them gives the same portfolio."""
    utilities = world(16, 3, 5)
    for attitude, aversion in ATTITUDES:
        one = find_best_portfolio(utilities, PortfolioLimits(unit=0.1), Risk(attitude, aversion))
        other = find_best_portfolio(
            utilities * 1e-4, PortfolioLimits(unit=0.1), Risk(attitude, aversion)
        )
        assert other.amounts == pytest.approx(one.amounts)
        assert other.value == pytest.approx(one.value * 1e-4)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (PortfolioLimits(least=(0.8, 0.8)), "No portfolio fits the limits"),
        (
            PortfolioLimits(least=(0.8, 0.0), most=(0.5, 1.0)),
            "No portfolio fits the limits",
        ),
        (PortfolioLimits(least=(0.3, 0.3), unit=0.6), "in whole units, have to fit the budget"),
        (PortfolioLimits(unit=1e-12), "larger unit"),
    ],
)
@pytest.mark.parametrize("attitude", ["mean", "cvar"])
def test_impossible_limits_are_refused(
    limits: PortfolioLimits, problem: str, attitude: Attitude
) -> None:
    """Limits that nothing fits are an error that says which."""
    with pytest.raises(UsageError, match=problem):
        find_best_portfolio(world(4, 2, 0), limits, Risk(attitude, 0.2))


def test_shared_states_with_gaps_ask_for_more_samples() -> None:
    """Where states are shared, but none is ranked for all actions, more of them may help."""
    tree = DecisionTree.of(traced())
    assert tree.utilities is not None
    known = [None if n % 3 == 2 else one for n, one in enumerate(tree.utilities.utilities)]
    gaps = tree.changed(utilities=tree.utilities.model_copy(update={"utilities": known}))
    with pytest.raises(UsageError, match=r"more dellma\.samples"):
        combine_actions(gaps)


def test_a_decision_by_exponential_utility_asks_for_another_attitude() -> None:
    """The message names the option."""
    told = events()
    told["utilities"] = [
        told_of("utilities", 4, {**result_of(one), "attitude": "exponential", "aversion": 0.5})
        for one in told["utilities"]
    ]
    with pytest.raises(UsageError, match="name one with --attitude"):
        combine_actions(DecisionTree.of(traced(told)))
