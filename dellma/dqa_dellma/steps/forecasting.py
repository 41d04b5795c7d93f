"""State forecasting: how likely each value of each factor is, in words (section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.prompting import fold
from dqa.deciders.replies import read_object
from dqa.models.conversation import Conversation
from dqa_dellma.context.problem import Problem
from dqa_dellma.events import ForecastEvent
from dqa_dellma.prompting import prompt
from dqa_dellma.utilities.beliefs import WEIGHTS, Factors, judge

_SHOWN = 10
"""Most problems that the model is told at once."""
_WEIGHED = re.compile(r"(?P<words>[a-z ]+?) ?\((?P<weight>\d)\)")
"""Words as the prompt lists them."""
_LONGEST = 60
"""Most characters of an odd likelihood that it is shown."""


class StateForecast(Protocol):
    """The second step: factors to a belief over states."""

    def forecast(
        self, problem: Problem, factors: Factors, conversation: Conversation
    ) -> ForecastEvent:
        """Return what is believed about each factor, in their order."""
        ...


class AskedForecast:
    """Asks the model for a verbalised probability of every value (Algorithm 1).

    A word that is not one of the six, or a value that is left out, is asked for again; nothing is
    made up for it. What was not asked for is ignored, and the result names it.
    """

    def forecast(
        self, problem: Problem, factors: Factors, conversation: Conversation
    ) -> ForecastEvent:
        """Return the beliefs; `UnparsableReplyError` where no reply covers every value."""
        text = prompt(
            "forecasting",
            task=prompt("task", problem=problem),
            factors=factors,
            weights=[f"{words} ({weight})" for words, weight in WEIGHTS.items()],
        )
        return conversation.ask(text, lambda reply: _read(reply, factors), "state forecasting")


def _read(reply: str, factors: Factors) -> ForecastEvent:
    told = read_object(reply, "beliefs")
    listed = _folded(told.get("beliefs", told))
    said = {factor: _folded(listed.get(fold(factor))) for factor in factors}
    problems = [
        problem
        for factor, values in factors.items()
        for problem in _problems(factor, values, said[factor])
    ]
    if problems:
        more = f" {len(problems) - _SHOWN} more are not." if len(problems) > _SHOWN else ""
        raise UnparsableReplyError(
            f"Not every value is judged: {'; '.join(problems[:_SHOWN])}.{more} Write "
            '{"beliefs": {"<factor>": {"<value>": "<words>"}}} with every factor and value, and '
            f"for the words one of: {', '.join(WEIGHTS)}."
        )
    asked = {fold(factor): set(map(fold, values)) for factor, values in factors.items()}
    ignored = [
        *(name for name in listed if name not in asked),
        *(
            f"{factor}: {value}"
            for factor in factors
            for value in said[factor]
            if value not in asked[fold(factor)]
        ),
    ]
    words = {
        factor: {value: _words(said[factor][fold(value)]) for value in values}
        for factor, values in factors.items()
    }
    return ForecastEvent(beliefs=judge(words), ignored=tuple(ignored))


def _problems(factor: str, values: Sequence[str], said: Mapping[str, Any]) -> Iterator[str]:
    for value in values:
        words = said.get(fold(value))
        if words is None:
            yield f"'{value}' of '{factor}' is missing"
        elif _words(words) not in WEIGHTS:
            yield f"'{value}' of '{factor}' is {str(words)[:_LONGEST]!r}"


def _words(said: Any) -> str:  # noqa: ANN401  (whatever a model gave)
    """Return a likelihood as `WEIGHTS` spells it, if it is one, with or without its weight."""
    if not isinstance(said, str):
        return ""
    words = fold(re.sub(r"[_-]", " ", said)).strip(" .")
    weighed = _WEIGHED.fullmatch(words)
    right = weighed is not None and WEIGHTS.get(weighed["words"]) == int(weighed["weight"])
    return weighed["words"] if weighed is not None and right else words


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (whatever a model gave)
    """Return an object by its names as they are compared; an empty one for what is none."""
    return {fold(name): part for name, part in value.items()} if isinstance(value, dict) else {}
