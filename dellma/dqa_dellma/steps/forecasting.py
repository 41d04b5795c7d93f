"""State forecasting: the likelihood of each value of each factor, in words (section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dqa.core.errors import UnparsableReplyError
from dqa.deciders.prompting import fold
from dqa.deciders.replies import listed, read_object
from dqa_dellma.findings import Forecast
from dqa_dellma.utilities.beliefs import WEIGHTS, Factors, judge

_WEIGHED = re.compile(r"(?P<words>[a-z ]+?) ?\((?P<weight>\d)\)")
"""A phrase with its weight, as the prompt lists it."""
_LONGEST = 60
"""The maximum number of characters of an invalid likelihood in a message."""


def read_forecast(reply: str, factors: Factors) -> Forecast:
    """Read a verbalised probability of every value (Algorithm 1).

    Names that were not asked for are ignored. The result lists them.

    Raises
    ------
    UnparsableReplyError
        A value is missing, or its phrase is not in `WEIGHTS`.
    """
    found = read_object(reply, "beliefs")
    named = _folded(found.get("beliefs", found))
    words_of = {factor: _folded(named.get(fold(factor))) for factor in factors}
    problems = [
        problem
        for factor, values in factors.items()
        for problem in _problems(factor, values, words_of[factor])
    ]
    if problems:
        raise UnparsableReplyError(
            f"Some values have no valid likelihood: {listed(problems)}. Write "
            '{"beliefs": {"<factor>": {"<value>": "<words>"}}} with every factor and value. The '
            f"words must be one of: {', '.join(WEIGHTS)}."
        )
    expected = {fold(factor): set(map(fold, values)) for factor, values in factors.items()}
    ignored = [
        *(name for name in named if name not in expected),
        *(
            f"{factor}: {value}"
            for factor in factors
            for value in words_of[factor]
            if value not in expected[fold(factor)]
        ),
    ]
    words = {
        factor: {value: _words(words_of[factor][fold(value)]) for value in values}
        for factor, values in factors.items()
    }
    return Forecast(beliefs=judge(words), ignored=tuple(ignored))


def _problems(factor: str, values: Sequence[str], said: Mapping[str, Any]) -> Iterator[str]:
    for value in values:
        words = said.get(fold(value))
        if words is None:
            yield f"'{value}' of '{factor}' is missing"
        elif _words(words) not in WEIGHTS:
            yield f"'{value}' of '{factor}' is {str(words)[:_LONGEST]!r}"


def _words(said: Any) -> str:  # noqa: ANN401  (JSON from a model)
    """Return a phrase in the spelling of `WEIGHTS`, without the weight that may follow it."""
    if not isinstance(said, str):
        return ""
    words = fold(re.sub(r"[_-]", " ", said)).strip(" .")
    weighed = _WEIGHED.fullmatch(words)
    right = weighed is not None and WEIGHTS.get(weighed["words"]) == int(weighed["weight"])
    return weighed["words"] if weighed is not None and right else words


def _folded(value: Any) -> Mapping[str, Any]:  # noqa: ANN401  (JSON from a model)
    """Return a JSON object with case-folded names; an empty object for any other value."""
    return {fold(name): part for name, part in value.items()} if isinstance(value, dict) else {}
