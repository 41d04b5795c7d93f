"""The prices of tokens, and the budget and usage of one decision."""

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
    """The prices of a million tokens, by kind of token, all in the same currency.

    Attributes
    ----------
    input, output
        The prices of request tokens and of reply tokens.
    cached
        The price of request tokens that the provider read from its cache. None means the price
        `input`.
    reasoning
        The price of reasoning tokens in replies. None means the price `output`.
    """

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    reasoning: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return the cost of `usage`."""
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        if self.cached is not None:
            cost += usage.cached_tokens * (self.cached - self.input)
        if self.reasoning is not None:
            cost += usage.reasoning_tokens * (self.reasoning - self.output)
        return cost / _MILLION

    def known_cost(self, usage: Usage) -> float | None:
        """Return the cost of `usage`; None if the tokens of some calls are unknown."""
        return None if usage.tokens is None else self.cost(usage)


@dataclass(frozen=True, slots=True)
class DecisionBudget:
    """The budget of one decision. A limit of None means no limit.

    Attributes
    ----------
    seconds
        The maximum time in seconds from the start of the decision.
    statements
        The maximum number of tool calls: statements, simulations and look-ups.
    rows
        The maximum number of rows that all tool calls return together.
    tokens
        The maximum number of tokens of requests and replies together.
    cost
        The maximum cost, in the currency of the prices. Without prices, the cost is 0.
    price_input, price_output
        The prices of a million tokens of requests and of replies.
    price_cached
        The price of a million cached request tokens. None means `price_input`.
    price_reasoning
        The price of a million reasoning tokens in replies. None means `price_output`.

    Raises
    ------
    UsageError
        A limit or a price is 0 or less.
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
        """Check the limits."""
        for name in ("seconds", "statements", "rows", "tokens", "cost"):
            bound = getattr(self, name)
            if bound is not None and not bound > 0:  # also refuses NaN
                raise UsageError(f"budget: {name} (--max-{name}) must be more than 0, not {bound}.")

    def cost_of(self, usage: Usage) -> float:
        """Return the cost of `usage`."""
        more = (self.price_cached, self.price_reasoning)
        return Prices(self.price_input or 0.0, self.price_output or 0.0, *more).cost(usage)


ENDLESS = DecisionBudget()


Spent: TypeAlias = Mapping[str, float]
"""How much of each limit a decision has used so far, by the name of the limit."""

_PER_STEP = {"seconds": "{:g} seconds", "tokens": "{:,} tokens", "cost": "a cost of {:g}"}
"""The limits that every step uses up, each with its format in messages."""
_OF_READING = {"statements": "statement", "rows": "row"}
"""The limits that only tool calls use up, each with its noun in messages."""


class Meter:
    """Measures how much of a decision's budget is used. A meter is not safe for several threads.

    When a limit is almost reached, the model gets one last request, which asks for its decision.
    That request is assumed to use as much of the budget as the largest step so far. A decider
    therefore continues only while two such steps fit: the next step and the last request.
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
        """Return the limit on statements or rows that is reached; None if neither is reached."""
        for name, most in self._bounds.items():
            if name in _OF_READING and spent[name] >= most:
                return counted(int(most), _OF_READING[name])
        return None

    def has_no_room(self, spent: Spent, steps: int = 2) -> str | None:
        """Return the limit that `steps` more steps would exceed; None if there is no such limit.

        Parameters
        ----------
        spent
            The usage so far.
        steps
            The number of steps that must still fit into the budget. The default of 2 means one more
            step and then the decision. With 0, only a limit that is already reached is returned.
        """
        for name, most in self._bounds.items():
            if name in _PER_STEP and (
                spent[name] >= most or spent[name] + steps * self._largest[name] > most
            ):
                return _PER_STEP[name].format(most)
        return None
