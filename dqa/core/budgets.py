"""What one decision may cost, and how far that is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from dqa.core.errors import UsageError

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class DecisionBudget:
    """What one decision may cost before it is made by what has been seen; None for any amount.

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
        """Refuse a budget under which nothing could be looked up."""
        for name in ("seconds", "statements", "rows", "scanned", "tokens", "cost"):
            given = getattr(self, name)
            if given is not None and not given > 0:  # nor is what is no number
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


class Meter:
    """Says when a budget is spent but for what the decision itself takes. Used by one thread.

    A model is asked once more for its decision when the budget ends a run. What that takes is not
    known before: it is taken for as much as the largest step so far, so a run goes on only while
    there is room for two such steps.

    Parameters
    ----------
    budget
        What may be spent.
    clock
        Where time comes from.
    """

    def __init__(self, budget: DecisionBudget, clock: Callable[[], float] = perf_counter) -> None:
        self._budget = budget
        self._clock = clock
        self._began = clock()
        self._before = self._largest = Spent()

    def read(
        self, tokens_in: int, tokens_out: int, statements: int, rows: int, scanned: int
    ) -> Spent:
        """Return what is spent."""
        return Spent(
            self._clock() - self._began,
            tokens_in + tokens_out,
            self._budget.cost_of(tokens_in, tokens_out),
            statements,
            rows,
            scanned,
        )

    def step(self, spent: Spent) -> None:
        """Take note of what there is to pay behind a step."""
        before, largest = self._before, self._largest
        self._before = spent
        self._largest = Spent(
            max(largest.seconds, spent.seconds - before.seconds),
            max(largest.tokens, spent.tokens - before.tokens),
            max(largest.cost, spent.cost - before.cost),
        )

    def has_read_enough(self, spent: Spent) -> str | None:
        """Return which bound of reading is reached, in words; None for none."""
        budget = self._budget
        if budget.statements is not None and spent.statements >= budget.statements:
            return f"{budget.statements:,} statement{'s' if budget.statements > 1 else ''}"
        if budget.rows is not None and spent.rows >= budget.rows:
            return f"{budget.rows:,} row{'s' if budget.rows > 1 else ''}"
        if budget.scanned is not None and spent.scanned >= budget.scanned:
            return f"{budget.scanned:,} scanned row{'s' if budget.scanned > 1 else ''}"
        return None

    def has_no_room(self, spent: Spent) -> str | None:
        """Return which bound leaves no room for a step and the decision; None for none."""
        return self._reached(
            Spent(
                spent.seconds + 2 * self._largest.seconds,
                spent.tokens + 2 * self._largest.tokens,
                spent.cost + 2 * self._largest.cost,
            ),
            beyond=True,
        ) or self._reached(spent)

    def is_overdrawn(self, spent: Spent) -> bool:
        """Whether there is no room even for the decision."""
        return self._reached(spent) is not None

    def _reached(self, spent: Spent, *, beyond: bool = False) -> str | None:
        budget = self._budget
        for used, most, words in (
            (spent.seconds, budget.seconds, "{:g} seconds"),
            (spent.tokens, budget.tokens, "{:,} tokens"),
            (spent.cost, budget.cost, "a cost of {:g}"),
        ):
            if most is not None and (used > most or (used == most and not beyond)):
                return words.format(most)
        return None
