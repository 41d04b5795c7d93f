"""Reading a report of an uncertain season, as the generated worlds word it.

A report says how likely each value of each factor is, and what it does to each crop::

    Rainfall: drought is likely, usual rain is unlikely.
    With rainfall drought: yield lower, price much higher.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

_SIZES: Mapping[str, float] = {"much lower": 0.7, "lower": 0.85, "higher": 1.15, "much higher": 1.3}
_WORDS = "very likely|likely|somewhat likely|somewhat unlikely|unlikely|very unlikely"
_FACTOR = re.compile(
    rf"(?P<name>[A-Z][\w ]+): (?P<values>[\w ]+ is (?:{_WORDS})(?:, [\w ]+ is (?:{_WORDS}))*)\."
)
_VALUE = re.compile(rf"(?P<value>[\w ]+) is (?P<words>{_WORDS})(?:, |\Z)")
_EFFECT = re.compile(
    r"With (?P<state>[\w ]+): (?P<sizes>(?:(?:, )?(?:yield|price) (?:much )?(?:lower|higher))+)\."
)
_SIZE = re.compile(r"(?:much )?(?:lower|higher)")

Tables: TypeAlias = Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]]
"""A header and rows each."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says.

    Attributes
    ----------
    factors
        By factor, in words how likely each of its values is.
    effects
        By crop, what "factor value" multiplies its revenue by.
    """

    factors: Mapping[str, Mapping[str, str]]
    effects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def change(self, crop: str, state: Mapping[str, str]) -> float:
        """Return what a state, factor to value, multiplies a crop's revenue by."""
        change = 1.0
        for factor, value in state.items():
            change *= self.effects.get(crop, {}).get(f"{factor} {value}".lower(), 1.0)
        return change


def read_report(
    tables: Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]],
) -> Report | None:
    """Find a report in the tables of a prompt; None where there is none.

    Parameters
    ----------
    tables
        A header and rows each.
    """
    factors: dict[str, dict[str, str]] = {}
    effects: dict[str, dict[str, float]] = {}
    for header, rows in tables:
        for row in rows:
            if header[-1] == "overview":
                factors |= _factors(str(row[-1]))
            elif header[-1] == "summary":
                effects[str(row[0])] = _effects(str(row[-1]))
    return Report(factors, effects) if factors else None


def _factors(text: str) -> dict[str, dict[str, str]]:
    return {
        found["name"]: {v["value"]: v["words"] for v in _VALUE.finditer(found["values"])}
        for found in _FACTOR.finditer(text)
    }


def _effects(text: str) -> dict[str, float]:
    effects: dict[str, float] = {}
    for found in _EFFECT.finditer(text):
        change = 1.0
        for size in _SIZE.findall(found["sizes"]):
            change *= _SIZES[size]
        effects[found["state"].lower()] = change
    return effects
