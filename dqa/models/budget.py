"""The budget of a run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dqa.core.budgets import Prices
from dqa.core.decision import Usage
from dqa.core.errors import BudgetSpentError, UsageError


class Budget:
    """The budget of a run, shared by all its threads.

    No call starts once the budget is spent. The cost of a reply is known only when it arrives, so a
    run can exceed the budget by one call of each thread.

    Parameters
    ----------
    tokens
        Most tokens, of requests and replies together; None for any number.
    cost
        Most money, at `prices`; None for any amount.
    prices
        Prices of tokens.
    spent
        Returns the usage of earlier parts of the run and of other processes.

    Raises
    ------
    UsageError
        Money is limited and there are no prices.
    """

    def __init__(
        self,
        tokens: int | None = None,
        cost: float | None = None,
        prices: Prices | None = None,
        spent: Callable[[], Usage] = Usage,
    ) -> None:
        if cost is not None and prices is None:
            raise UsageError(
                "A budget in money needs prices: give --price-input and --price-output, for a "
                "million tokens each."
            )
        self._tokens = tokens
        self._cost = cost
        self._prices = prices or Prices()
        self._elsewhere = spent
        self._spent = Usage()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Usage:
        """The usage so far."""
        return self._elsewhere() + self._spent

    def check(self) -> None:
        """Raise `BudgetSpentError` if the budget is spent."""
        spent = self.spent
        tokens, cost = _tokens(spent), self._prices.cost(spent)
        if self._tokens is not None and tokens >= self._tokens:
            raise BudgetSpentError(
                f"The budget of {self._tokens:,} tokens is spent ({tokens:,} used)."
            )
        if self._cost is not None and cost >= self._cost:
            raise BudgetSpentError(f"The budget of {self._cost:g} is spent ({cost:.4f} used).")

    def spend(self, usage: Usage) -> None:
        """Add the usage of one call."""
        with self._lock:
            self._spent += usage

    def learn(self, spent: Usage) -> None:
        """Set the usage of the whole run, if this process knows only a part of it."""
        with self._lock:
            if _tokens(spent) > _tokens(self._spent):
                self._spent = spent


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
