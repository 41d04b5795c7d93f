"""Rates, concurrency, retries and budgets, in simulated time."""

from __future__ import annotations

import threading

import pytest

from dqa.core.budgets import DecisionBudget, Prices
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, UsageError
from dqa.models.policy import Budget, Limiter, Retry
from tests.models.conftest import Hours


def test_requests_are_spread_evenly_over_a_minute_and_pauses_are_not_saved(hours: Hours) -> None:
    """Sixty per minute is one per second, without a burst after an idle hour."""
    limiter = Limiter(requests_per_minute=60, clock=hours.clock)
    starts = []
    for idle in (0.0, 0.0, 3_600.0, 0.0):
        hours.now += idle
        with limiter.place(0):
            starts.append(hours.now - 1_000.0)
    assert starts == [0.0, 1.0, 3_601.0, 3_602.0]


def test_no_more_calls_at_once_than_allowed() -> None:
    """Nine threads, three places: never a fourth inside."""
    limiter, inside, most = Limiter(concurrency=3), [0], [0]
    lock, full = threading.Lock(), threading.Barrier(3)

    def call() -> None:
        with limiter.place(0):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            full.wait(60.0)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=call) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [3]


def test_pauses_double_within_their_jitter_and_their_bounds() -> None:
    """Between half and all of 1, 2, 4, 8 and then 8 seconds; then no more."""
    retry = Retry(retries=5, first=1.0, longest=8.0, total=100.0)
    pauses = [retry.pause("request", attempt, None, 0.0) or 0.0 for attempt in range(1, 7)]
    for pause, whole in zip(pauses, [1.0, 2.0, 4.0, 8.0, 8.0, 0.0], strict=True):
        assert whole / 2 <= pause <= whole


def test_money_is_counted_at_the_prices_given() -> None:
    """Prices are for a million tokens; cached and reasoning tokens have their own."""
    usage = Usage(1_000, 100, 1, cached_tokens=800, reasoning_tokens=60)
    cost = (200 * 2 + 800 * 0.5 + 40 * 10 + 60 * 20) / 1e6
    prices = Prices(2.0, 10.0, 0.5, 20.0)
    decision = DecisionBudget(
        cost=1.0, price_input=2.0, price_output=10.0, price_cached=0.5, price_reasoning=20.0
    )
    assert prices.cost(usage) == pytest.approx(cost)
    assert decision.cost_of(usage) == pytest.approx(cost)
    assert prices.known_cost(usage + Usage(calls=1, uncounted=1)) is None
    budget = Budget(cost=2.0, prices=Prices(2.0, 10.0))
    budget.spend(Usage(500_000, 99_999))
    budget.check()
    budget.spend(Usage(0, 1))
    with pytest.raises(BudgetSpentError):
        budget.check()
    with pytest.raises(UsageError, match="--price-input"):
        Budget(cost=1.0)
