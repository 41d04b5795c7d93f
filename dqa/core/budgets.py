"""The budget of one decision, and how much of it is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from dqa.core.errors import UsageError
from dqa.core.text import counted

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class DecisionBudget:
    """The most that a decision may cost before it must be made; None for no bound.

    Attributes
    ----------
    seconds
        Most seconds, from the first look at the question on.
    statements
        Most calls of tools: statements, simulations, whatever is looked up.
    rows
        Most rows that these return together.
    scanned
        Most rows that the database goes through for them, where it says how many: MySQL and MariaDB
        do, of results that no limit cut. Elsewhere the rows that it returned count.
    tokens
        Most tokens, of requests and replies together.
    cost
        Most money, by the prices.
    price_input, price_output
        What a million tokens of requests and of replies cost.

    Raises
    ------
    UsageError
        One of them is not more than 0.
    """

    seconds: float | None = None
    statements: int | None = None
    rows: int | None = None
    scanned: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price_input: float | None = None
    price_output: float | None = None

    def __post_init__(self) -> None:
        """Check that every bound is more than 0."""
        for name in ("seconds", "statements", "rows", "scanned", "tokens", "cost"):
            given = getattr(self, name)
            if given is not None and not given > 0:  # NaN is refused too
                raise UsageError(f"budget: {name} (--max-{name}) must be more than 0, not {given}.")

    def cost_of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what tokens cost."""
        return (
            tokens_in * (self.price_input or 0.0) + tokens_out * (self.price_output or 0.0)
        ) / _MILLION


ENDLESS = DecisionBudget()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a decision has used so far, in the terms of its budget."""

    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    statements: int = 0
    rows: int = 0
    scanned: int = 0


_PER_STEP = {"seconds": "{:g} seconds", "tokens": "{:,} tokens", "cost": "a cost of {:g}"}
"""Bounds that every step uses up, and their texts."""
_OF_READING = {"statements": "statement", "rows": "row", "scanned": "scanned row"}
"""Bounds of what tools return, and their nouns."""


class Meter:
    """Reports when a budget has no room left but for the decision itself. Used by one thread.

    When the budget ends a run, the model is asked once more, for its decision. The cost of that is
    not known before: it counts as much as the largest step so far. So a run continues only while
    there is room for two such steps.

    Parameters
    ----------
    budget
        What may be spent.
    clock
        Returns the time in seconds.
    """

    def __init__(self, budget: DecisionBudget, clock: Callable[[], float] = perf_counter) -> None:
        self._budget = budget
        self._clock = clock
        self._began = clock()
        self._before = Spent()
        self._largest = dict.fromkeys(_PER_STEP, 0.0)

    def read(
        self, tokens_in: int, tokens_out: int, statements: int, rows: int, scanned: int
    ) -> Spent:
        """Return what is spent."""
        seconds, cost = self._clock() - self._began, self._budget.cost_of(tokens_in, tokens_out)
        return Spent(seconds, tokens_in + tokens_out, cost, statements, rows, scanned)

    def step(self, spent: Spent) -> None:
        """Record what is spent after a step."""
        for name, largest in self._largest.items():
            used = getattr(spent, name) - getattr(self._before, name)
            self._largest[name] = max(largest, used)
        self._before = spent

    def has_read_enough(self, spent: Spent) -> str | None:
        """Return the bound of reading that is reached; None for none."""
        for name, noun in _OF_READING.items():
            most = getattr(self._budget, name)
            if most is not None and getattr(spent, name) >= most:
                return counted(most, noun)
        return None

    def has_no_room(self, spent: Spent) -> str | None:
        """Return the bound that leaves no room for a step and the decision; None for none."""
        for name, text in _PER_STEP.items():
            most, used = getattr(self._budget, name), getattr(spent, name)
            if most is not None and (used >= most or used + 2 * self._largest[name] > most):
                return text.format(most)
        return None

    def is_overdrawn(self, spent: Spent) -> bool:
        """Whether there is no room even for the decision."""
        bounds = ((getattr(self._budget, name), getattr(spent, name)) for name in _PER_STEP)
        return any(most is not None and used >= most for most, used in bounds)
