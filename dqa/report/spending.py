"""The models of decisions, their tokens and calls, and the cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self

from pydantic import Field

from dqa.core.decision import Usage
from dqa.core.records import Record
from dqa.core.text import counted
from dqa.evaluation.results import NO_MODEL, Result
from dqa.models.registry import is_scripted

if TYPE_CHECKING:
    from dqa.core.budgets import Prices


class Spending(Record):
    """The tokens and calls of all models, and their cost.

    Attributes
    ----------
    cost
        The cost. None if there are no prices, or if a server reported no tokens.
    unknown
        Number of calls without token counts.
    priced
        Whether there are prices.
    """

    input_tokens: int
    output_tokens: int
    calls: int
    cost: float | None
    unknown: int = Field(default=0, exclude=True)
    priced: bool = Field(default=False, exclude=True)

    @classmethod
    def of(cls, used: Usage, cost: float | None, unknown: int | None = None) -> Self:
        """Return the spending. The cost is known only if the servers reported all tokens."""
        unknown = used.unknown if unknown is None else unknown
        return cls(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            calls=used.calls,
            cost=None if unknown else cost,
            unknown=unknown,
            priced=cost is not None,
        )

    def __str__(self) -> str:
        used = f"{counted(self.input_tokens, 'token')} in, {self.output_tokens:,} out"
        line = f"Spent: {used}, {counted(self.calls, 'call')}"
        line += f" ({self.unknown:,} without token counts)" if self.unknown else ""
        cost = "unknown" if self.cost is None else f"{self.cost:.4f}"
        return f"{line}; cost {cost}." if self.priced else f"{line}."


def spending(
    results: Sequence[Result],
    prices: Prices | None = None,
    more: Usage = Usage(),  # noqa: B008  (frozen)
) -> Spending:
    """Return the spending for results. `more` is further usage that belongs to no result."""
    used = sum((result.usage for result in results), more)
    unknown = sum((result.usage.unknown for result in results), more.uncounted)
    return Spending.of(used, None if prices is None else prices.cost(used), unknown)


def usage_text(used: Usage) -> str:
    """Describe the tokens of a decision."""
    counts = {
        "cached": used.cached_tokens,
        "reasoning": used.reasoning_tokens,
        "calls without token counts": used.unknown,
    }
    parts = [f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out"]
    return ", ".join([*parts, *(f"{count:,} {name}" for name, count in counts.items() if count)])


def model_lines(models: Iterable[str]) -> list[str]:
    """Return a line for each model, and a line about scripted models.

    If no decider uses a model, return one line that says so. Otherwise, deciders without a model
    get no line.
    """
    distinct = list(dict.fromkeys(models))
    used = [model for model in distinct if model != NO_MODEL]
    lines = [model_line(model) for model in used or distinct]
    return [*lines, *([_SCRIPTED] if any(map(is_scripted, used)) else [])]


_SCRIPTED = "Differences between scripted programs say nothing about language models."


def model_line(model: str) -> str:
    """Return a line with the name of the model.

    If a scripted program replaces the model, the line says so.
    """
    if model == NO_MODEL:
        return "Model: none (dqa connects no model)."
    parts = model.split(" + ")
    programs = [part for part in parts if is_scripted(part)]
    note = f" Of these, {programs[0]} is a program, not a language model." if programs else ""
    if len(programs) == len(parts):
        note = " A scripted program, not a language model."
    return f"Model: {model}.{note}"
