"""What a run may spend."""

from __future__ import annotations

import pytest

from dqa.core.budgets import DecisionBudget, Prices
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, UsageError
from dqa.models.budget import Budget


def test_money_is_counted_at_the_prices_given() -> None:
    """Prices are for a million tokens, in and out apart."""
    prices = Prices(input=2.0, output=10.0)
    assert prices.cost(Usage(500_000, 100_000)) == pytest.approx(2.0)
    budget = Budget(cost=2.0, prices=prices)
    budget.spend(Usage(500_000, 99_999))
    budget.check()
    budget.spend(Usage(0, 1))
    with pytest.raises(BudgetSpentError, match=r"budget of 2 is spent \(2.0000 used\)"):
        budget.check()


def test_money_without_prices_is_a_mistake_of_use() -> None:
    """The message names the options."""
    with pytest.raises(UsageError, match="--price-input"):
        Budget(cost=1.0)


def test_the_budget_of_a_decision_has_the_same_prices_as_that_of_a_run() -> None:
    """Cached tokens and reasoning tokens have prices of their own."""
    usage = Usage(1_000, 100, 1, cached_tokens=800, reasoning_tokens=60)
    prices = Prices(2.0, 10.0, 0.5, 20.0)
    budget = DecisionBudget(
        cost=1.0, price_input=2.0, price_output=10.0, price_cached=0.5, price_reasoning=20.0
    )
    assert budget.cost_of(usage) == pytest.approx(prices.cost(usage))
    assert budget.cost_of(usage) == pytest.approx((200 * 2 + 800 * 0.5 + 40 * 10 + 60 * 20) / 1e6)
