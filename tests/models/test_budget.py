"""What a run may spend."""

from __future__ import annotations

import pytest

from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, UsageError
from dqa.models.budget import Budget, Prices


def test_nothing_is_refused_before_the_budget_is_spent() -> None:
    """The call that spends the last token still runs; the next one does not."""
    budget = Budget(tokens=100)
    budget.spend(Usage(90, 9, 1))
    budget.check()
    budget.spend(Usage(1, 0, 1))
    with pytest.raises(BudgetSpentError, match="budget of 100 tokens is spent"):
        budget.check()


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


def test_a_run_that_goes_on_remembers_what_it_spent() -> None:
    """The budget is the run's, not the command's."""
    with pytest.raises(BudgetSpentError):
        Budget(tokens=10, spent=Usage(6, 4)).check()
