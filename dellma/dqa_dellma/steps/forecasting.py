"""State forecasting: how likely each value of each factor is, in words (section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dqa.core.errors import UnparsableReplyError
from dqa_dellma.asking import Asker, read_object
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import ForecastEvent, Likelihood
from dqa_dellma.prompting import fold, prompt
from dqa_dellma.utilities.beliefs import WEIGHTS, Belief, Beliefs, Factor

__all__ = ["AskedForecast", "Forecast", "StateForecast"]

_SHOWN = 10
"""Most problems that the model is told at once."""
_LONGEST = 60
"""Most characters of an odd likelihood that it is shown."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the second step found.

    Attributes
    ----------
    beliefs
        What is believed about each factor, in the order in which they were named.
    ignored
        Names in a model's reply that nobody asked about.
    """

    beliefs: Beliefs
    ignored: tuple[str, ...] = ()

    def to_event(self, step: int) -> ForecastEvent:
        """Return what a trace holds of it."""
        beliefs = {belief.factor.name: _likelihoods(belief) for belief in self.beliefs.factors}
        return ForecastEvent(step=step, beliefs=beliefs, ignored=self.ignored)


def _likelihoods(belief: Belief) -> dict[str, Likelihood]:
    judged = zip(belief.factor.values, belief.words, belief.probabilities.tolist(), strict=True)
    return {
        value: Likelihood(words=words, probability=probability)
        for value, words, probability in judged
    }


class StateForecast(Protocol):
    """The second step: factors to a belief over states."""

    def forecast(self, problem: Problem, factors: Sequence[Factor], asker: Asker) -> Forecast:
        """Return what is believed about each factor, in their order."""
        ...


class AskedForecast:
    """Asks the model for a verbalised probability of every value (Algorithm 1).

    A word that is not one of the six, or a value that is left out, is asked for again; nothing is
    made up for it. What was not asked for is ignored, and the result names it.
    """

    def forecast(self, problem: Problem, factors: Sequence[Factor], asker: Asker) -> Forecast:
        """Return the beliefs; `UnparsableReplyError` where no reply covers every value."""
        text = prompt(
            "forecasting",
            task=prompt("task", problem=problem),
            factors=factors,
            words=tuple(WEIGHTS),
        )
        return asker.ask("state forecasting", text, lambda reply: _read(reply, factors))


def _read(reply: str, factors: Sequence[Factor]) -> Forecast:
    told = read_object(reply, "beliefs")
    listed = _folded(told.get("beliefs", told))
    said = {factor.name: _folded(listed.get(fold(factor.name))) for factor in factors}
    problems = [problem for factor in factors for problem in _problems(factor, said[factor.name])]
    if problems:
        more = f" {len(problems) - _SHOWN} more are not." if len(problems) > _SHOWN else ""
        raise UnparsableReplyError(
            f"Not every value is judged: {'; '.join(problems[:_SHOWN])}.{more} Write "
            '{"beliefs": {"<factor>": {"<value>": "<words>"}}} with every factor and value, and '
            f"for the words one of: {', '.join(WEIGHTS)}."
        )
    asked = {fold(factor.name): set(map(fold, factor.values)) for factor in factors}
    ignored = [
        *(name for name in listed if name not in asked),
        *(
            f"{factor.name}: {value}"
            for factor in factors
            for value in said[factor.name]
            if value not in asked[fold(factor.name)]
        ),
    ]
    beliefs = Beliefs(tuple(_belief(factor, said[factor.name]) for factor in factors))
    return Forecast(beliefs, tuple(ignored))


def _belief(factor: Factor, said: Mapping[str, Any]) -> Belief:
    return Belief(factor, tuple(_words(said[fold(value)]) for value in factor.values))


def _problems(factor: Factor, said: Mapping[str, Any]) -> Iterator[str]:
    for value in factor.values:
        words = said.get(fold(value))
        if words is None:
            yield f"'{value}' of '{factor.name}' is missing"
        elif _words(words) not in WEIGHTS:
            yield f"'{value}' of '{factor.name}' is {str(words)[:_LONGEST]!r}"


def _words(said: Any) -> str:  # noqa: ANN401  (whatever a model gave)
    """Return a likelihood as `WEIGHTS` spells it, if it is one."""
    return fold(re.sub(r"[_-]", " ", said)).strip(" .") if isinstance(said, str) else ""


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (whatever a model gave)
    """Return an object by its names as they are compared; an empty one for what is none."""
    return {fold(name): part for name, part in value.items()} if isinstance(value, dict) else {}
