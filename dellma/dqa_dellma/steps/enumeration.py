"""State enumeration: the latent factors and their plausible values (section 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dqa.core.errors import UnparsableReplyError
from dqa_dellma.asking import Asker, read_object
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import AskedFor, FactorsEvent
from dqa_dellma.prompting import fold, on_one_line, prompt
from dqa_dellma.utilities.beliefs import Factor

__all__ = ["AskedEnumeration", "Enumeration", "StateEnumeration"]


@dataclass(frozen=True, slots=True)
class Enumeration:
    """What the first step found.

    Attributes
    ----------
    factors
        The latent factors with their values.
    asked_factors, asked_values
        How many a model was asked for; 0 where none was asked.
    left_out, values_left_out
        What it named beyond that: names of factors, and values by their factor's name.
    unusable
        How many of its entries are no factor.
    """

    factors: tuple[Factor, ...]
    asked_factors: int = 0
    asked_values: int = 0
    left_out: tuple[str, ...] = ()
    values_left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unusable: int = 0

    def to_event(self, step: int) -> FactorsEvent:
        """Return what a trace holds of it."""
        return FactorsEvent(
            step=step,
            asked=AskedFor(factors=self.asked_factors, values=self.asked_values),
            factors={factor.name: factor.values for factor in self.factors},
            left_out=self.left_out,
            values_left_out=self.values_left_out,
            unusable=self.unusable,
        )


class StateEnumeration(Protocol):
    """The first step: a problem to its latent factors."""

    def enumerate(self, problem: Problem, asker: Asker) -> Enumeration:
        """Return the factors with their values, each name and each of its values once."""
        ...


class AskedEnumeration:
    """Asks the model for k factors with l values each.

    What it names is taken as it comes where it differs: fewer factors or values are fewer, those
    beyond k or l are left out, a factor without values or named twice does not count. The result
    says what was asked for, what came, and what of it was left out or unusable.

    Parameters
    ----------
    factors
        k; None for two that concern all actions and two of each action's own, 16 at most.
    values
        l.
    """

    def __init__(self, factors: int | None = None, values: int = 3) -> None:
        self._factors = factors
        self._values = values

    def enumerate(self, problem: Problem, asker: Asker) -> Enumeration:
        """Return the factors with their values; `UnparsableReplyError` where none is named."""
        wanted = self._factors or min(2 + 2 * len(problem.actions), 16)
        text = prompt(
            "enumeration",
            task=prompt("task", problem=problem),
            actions=len(problem.actions),
            factors=wanted,
            values=self._values,
        )
        found = asker.ask("state enumeration", text, _read)
        kept, beyond = found.factors[:wanted], found.factors[wanted:]
        return Enumeration(
            factors=tuple(Factor(factor.name, factor.values[: self._values]) for factor in kept),
            asked_factors=wanted,
            asked_values=self._values,
            left_out=tuple(factor.name for factor in beyond),
            values_left_out={
                factor.name: factor.values[self._values :]
                for factor in kept
                if len(factor.values) > self._values
            },
            unusable=found.unusable,
        )


@dataclass(frozen=True, slots=True)
class _Named:
    """What a reply names: factors with all their values, and how many entries are none."""

    factors: tuple[Factor, ...]
    unusable: int


def _read(reply: str) -> _Named:
    listed = read_object(reply, "factors").get("factors")
    if isinstance(listed, dict):
        listed = [{"name": name, "values": values} for name, values in listed.items()]
    entries = listed if isinstance(listed, list) else []
    factors: dict[str, Factor] = {}
    for entry in entries:
        name, values = _factor(entry)
        if name and values:
            factors.setdefault(fold(name), Factor(name, values))
    if not factors:
        raise UnparsableReplyError(
            'The reply names no factor. Write {"factors": [{"name": "...", "values": [...]}]}.'
        )
    return _Named(tuple(factors.values()), len(entries) - len(factors))


def _factor(entry: Any) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401  (whatever a model gave)
    """Return an entry's name and its values, each once; nothing for what it lacks."""
    if not isinstance(entry, dict):
        return "", ()
    name, values = entry.get("name"), entry.get("values")
    texts = _texts(list(values) if isinstance(values, dict) else values)
    unlike = {fold(text): text for text in reversed(list(texts))}
    return next(_texts([name]), ""), tuple(reversed(unlike.values()))


def _texts(values: Any) -> Iterator[str]:  # noqa: ANN401  (whatever a model gave)
    """Yield what is text or a number in a list, on one line each."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, str | int | float) and (text := on_one_line(value)):
            yield text
