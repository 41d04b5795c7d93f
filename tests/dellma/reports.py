"""Reading a report of an uncertain season, as the generated worlds word it.

A report says how likely each value of each factor is, and what it does to each crop::

    Rainfall: drought is likely, usual rain is unlikely.
    With rainfall drought: yield lower, price much higher.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

from dqa.deciders.method import ScriptedReplies
from dqa.models.scripted import ProgramModel
from dqa_dellma.scripted.analyst import rank_by

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


def enumerate_report(asked: Mapping[str, Any]) -> object:
    """Name the factors of the report."""
    report = _report_of(asked)
    return {
        "factors": [
            {"name": name, "actions": "all", "values": list(values)[: asked["values"]]}
            for name, values in list(report.factors.items())[: asked["factors"]]
        ]
    }


def forecast_report(asked: Mapping[str, Any]) -> object:
    """Judge values as the report does."""
    factors = _report_of(asked).factors.items()
    return {"beliefs": {name: dict(values) for name, values in factors}}


def rank_by_report(asked: Mapping[str, Any]) -> object:
    """Rank by revenue, as the report says that the state changes it."""
    report, revenues = _report_of(asked), _revenues(asked)
    worth = {
        place: revenues[str(item["action"])] * report.change(str(item["action"]), item["state"])
        for place, item in enumerate(asked["items"], start=1)
    }
    return {"rank": rank_by(worth, ties=asked["ties"])}


def decide_by_revenue(asked: Mapping[str, Any]) -> object:
    """Decide for the largest revenue of the last year."""
    revenues = _revenues(asked)
    return {"decision": max(revenues, key=lambda crop: revenues[crop])}


READER = ScriptedReplies(
    "dqa_dellma",
    {
        "enumeration": enumerate_report,
        "forecasting": forecast_report,
        "elicitation": rank_by_report,
        "zero_shot": decide_by_revenue,
    },
)


class ReportReader(ProgramModel):
    """Decides by the report in the context."""

    def _reply(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:
        return READER.reply(messages, tools, "report", 0)


def _revenues(asked: Mapping[str, Any]) -> dict[str, float]:
    """Return each crop's yield times price of its last row."""
    revenues: dict[str, float] = {}
    for header, rows in _tables(asked):
        if {"acre_yield", "price"} <= set(header):
            for row in rows:
                cells = dict(zip(header, row, strict=True))
                revenues[str(row[0])] = float(cells["acre_yield"]) * float(cells["price"])
    return revenues


def _report_of(asked: Mapping[str, Any]) -> Report:
    report = read_report(_tables(asked))
    assert report is not None
    return report


def _tables(asked: Mapping[str, Any]) -> list[tuple[list[str], list[list[Any]]]]:
    tables: list[tuple[list[str], list[list[Any]]]] = []
    begins = True
    for line in asked["problem"].context.split("\n"):
        if not line.startswith("["):
            begins = True
        elif begins:
            tables.append((json.loads(line), []))
            begins = False
        else:
            tables[-1][1].append(json.loads(line))
    return tables
