"""Prices of tokens, the budget of one decision, and its usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from dqa.core.errors import UsageError
from dqa.core.text import counted

if TYPE_CHECKING:
    from dqa.core.decision import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a million tokens, in one currency.

    Attributes
    ----------
    input, output
        Of requests and of replies.
    cached
        Of the tokens of requests that the provider had cached; None for the price `input`.
    reasoning
        Of the tokens of replies that are reasoning; None for the price `output`.
    """

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    reasoning: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs."""
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        if self.cached is not None:
            cost += usage.cached_tokens * (self.cached - self.input)
        if self.reasoning is not None:
            cost += usage.reasoning_tokens * (self.reasoning - self.output)
        return cost / _MILLION

    def known_cost(self, usage: Usage) -> float | None:
        """Return what `usage` costs; None where a server has not counted all tokens."""
        tokens = usage.input_tokens + usage.output_tokens
        return None if usage.uncounted or (usage.calls and not tokens) else self.cost(usage)


@dataclass(frozen=True, slots=True)
class DecisionBudget:
    """The budget of one decision; None for no bound.

    Attributes
    ----------
    seconds
        Most seconds from the start of the decision.
    statements
        Most calls of tools: statements, simulations and look-ups.
    rows
        Most rows that these return together.
    tokens
        Most tokens, of requests and replies together.
    cost
        Most money, by the prices.
    price_input, price_output
        The prices of a million tokens of requests and of replies.
    price_cached, price_reasoning
        The prices of cached tokens of requests, and of reasoning tokens of replies; None for the
        same.

    Raises
    ------
    UsageError
        One of them is not more than 0.
    """

    seconds: float | None = None
    statements: int | None = None
    rows: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price_input: float | None = None
    price_output: float | None = None
    price_cached: float | None = None
    price_reasoning: float | None = None

    def __post_init__(self) -> None:
        """Check that every bound is more than 0."""
        for name in ("seconds", "statements", "rows", "tokens", "cost"):
            bound = getattr(self, name)
            if bound is not None and not bound > 0:  # NaN is refused too
                raise UsageError(f"budget: {name} (--max-{name}) must be more than 0, not {bound}.")

    def cost_of(self, usage: Usage) -> float:
        """Return the cost of usage."""
        more = (self.price_cached, self.price_reasoning)
        return Prices(self.price_input or 0.0, self.price_output or 0.0, *more).cost(usage)


ENDLESS = DecisionBudget()


Spent: TypeAlias = Mapping[str, float]
"""The usage of a decision so far, by the names of the bounds."""

_PER_STEP = {"seconds": "{:g} seconds", "tokens": "{:,} tokens", "cost": "a cost of {:g}"}
"""Bounds that every step uses up, and their texts."""
_OF_READING = {"statements": "statement", "rows": "row"}
"""Bounds of what tools return, and their nouns."""


class Meter:
    """Reports when a budget has no room left but for the decision itself. Used by one thread.

    When the budget ends a run, the model is asked once more, for its decision. The cost of that is
    not known before: it counts as much as the largest step so far. So a run continues only while
    there is room for two such steps.
    """

    def __init__(self, budget: DecisionBudget) -> None:
        self._bounds = {
            name: bound
            for name in (*_PER_STEP, *_OF_READING)
            if (bound := getattr(budget, name)) is not None
        }
        self._before = dict.fromkeys(_PER_STEP, 0.0)
        self._largest = dict.fromkeys(_PER_STEP, 0.0)

    def step(self, spent: Spent) -> None:
        """Record the usage after a step."""
        for name in _PER_STEP:
            self._largest[name] = max(self._largest[name], spent[name] - self._before[name])
            self._before[name] = spent[name]

    def has_read_enough(self, spent: Spent) -> str | None:
        """Return the bound of reading that is reached; None for none."""
        for name, most in self._bounds.items():
            if name in _OF_READING and spent[name] >= most:
                return counted(int(most), _OF_READING[name])
        return None

    def has_no_room(self, spent: Spent, steps: int = 2) -> str | None:
        """Return the bound that leaves no room for some steps; None for none.

        Parameters
        ----------
        spent
            The usage.
        steps
            By default a step and the decision; 0 where the bound itself is reached.
        """
        for name, most in self._bounds.items():
            if name in _PER_STEP and (
                spent[name] >= most or spent[name] + steps * self._largest[name] > most
            ):
                return _PER_STEP[name].format(most)
        return None
