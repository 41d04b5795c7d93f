"""Scripts for decisions under uncertainty: replies to the steps that DeLLMa and its baselines ask.

The analyst has one figure for each action, worked out from the rows in the context. Where the rows
hold a report that names what is unknown (`dqa_dellma.scripted.reports`), it goes by that; otherwise
it has one factor for each of the weightiest actions: whether it turns out worse or better. It ranks
what may come about by the figure as the state changes it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from dqa.core.situation import Cell
from dqa.deciders.method import ScriptedReplies
from dqa.deciders.prompting import on_one_line
from dqa_dellma.scripted.reports import Report, read_report

_QUOTE = "> "
"""The mark before each line of a summary; repeated if a summary is shortened."""
_SAME = 1e-9
"""Figures that differ by less, relatively, are the same but for rounding."""
_OUTLOOK = "outlook of "
_CHANGES: Mapping[str, tuple[float, str]] = {
    "worse than it looks": (0.75, "somewhat unlikely"),
    "as it looks": (1.0, "likely"),
    "better than it looks": (1.25, "somewhat unlikely"),
}
"""The values of an outlook: the factor of the figure, and how likely it is."""

Asked = Mapping[str, Any]
"""The values of a prompt."""
Tables = list[tuple[list[str], list[list[Cell]]]]
"""Headers and rows."""


def _enumerate(asked: Asked, script: str, seed: int) -> object:
    most, width = asked["factors"], asked["values"]
    report = read_report(_tables(asked))
    if report is not None:
        named = list(report.factors.items())[:most]
        factors = [
            {"name": name, "actions": "all", "values": list(values)[:width]}
            for name, values in named
        ]
        return {"factors": factors}
    actions, figures = _actions(asked), _figures(asked, script, seed)
    values = list(_CHANGES)[:width] if width > 2 else [next(iter(_CHANGES)), list(_CHANGES)[-1]]
    weightiest = sorted(actions, key=lambda action: -figures[action])[:most]
    return {
        "factors": [
            {"name": f"{_OUTLOOK}{one}", "actions": [actions.index(one) + 1], "values": values}
            for one in weightiest
        ]
    }


def _forecast(asked: Asked, script: str, seed: int) -> object:
    del script, seed
    report = read_report(_tables(asked))
    if report is not None:
        return {"beliefs": {name: dict(values) for name, values in report.factors.items()}}
    usual = (1.0, "somewhat likely")
    beliefs = {
        name: {value: _CHANGES.get(value, usual)[1] for value in values}
        for name, values in asked["factors"].items()
    }
    return {"beliefs": beliefs}


def _rank(asked: Asked, script: str, seed: int) -> object:
    report, figures = read_report(_tables(asked)), _figures(asked, script, seed)
    worth = {}
    for place, item in enumerate(asked["items"], start=1):
        action = on_one_line(item["action"])
        change = _change(action, item["state"], report) if script == "analyst" else 1.0
        worth[place] = figures[action] * change
    best_first = sorted(worth, key=lambda place: (-worth[place], place))
    groups: list[list[int]] = []
    for place in best_first:
        same = groups and math.isclose(worth[groups[-1][0]], worth[place], rel_tol=_SAME)
        if same and asked["ties"]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return {"working": "", "rank": [one if len(one) > 1 else one[0] for one in groups]}


def _change(action: str, state: Mapping[str, str], report: Report | None) -> float:
    """Return the factor of an action's figure in a state."""
    if report is not None:
        known = {name: value for name, value in state.items() if name in report.factors}
        return report.change(action, known)
    return _CHANGES.get(state.get(f"{_OUTLOOK}{action}", ""), (1.0, ""))[0]


def _decide(asked: Asked, script: str, seed: int) -> object:
    actions, figures = _actions(asked), _figures(asked, script, seed)
    best = max(actions, key=lambda action: (figures[action], -actions.index(action)))
    named = f"Action {actions.index(best) + 1}. {best}"
    return {"decision": named, "explanation": "It has the best figure."}


def _summarise(asked: Asked, script: str, seed: int) -> object:
    """Return as many whole lines, from the first on, as fit with their marks."""
    del script, seed
    most = asked["most"]
    lines = [line.lstrip(_QUOTE) for line in asked["text"].strip().split("\n")]
    ends = accumulate(len(_QUOTE) + len(line) + 1 for line in lines)
    whole = sum(end - 1 <= most for end in ends)
    return {"summary": "\n".join(lines[:whole]) or lines[0][: most - len(_QUOTE)]}


def _think(asked: Asked, script: str, seed: int) -> object:
    del asked, script, seed
    return "Each action may turn out worse or better than the figures say, and neither is likely."


RESPONDER = ScriptedReplies(
    "dqa_dellma",
    {
        "summary": _summarise,
        "enumeration": _enumerate,
        "forecasting": _forecast,
        "elicitation": _rank,
        "zero_shot": _decide,
        "thought_factors": _think,
        "thought_chances": _think,
        "thought_decision": _decide,
    },
)
"""Answers every prompt of the package."""


def _actions(asked: Asked) -> list[str]:
    return [on_one_line(action) for action in asked["problem"].actions]


def _figures(asked: Asked, script: str, seed: int) -> Mapping[str, float]:
    """Work out one figure for each action, more of which is better, from the rows."""
    actions = _actions(asked)
    if script == "random":
        return _drawn(asked["prompt"], actions, seed)
    figures, tables = dict.fromkeys(actions, 0.0), _tables(asked)
    for header, rows in tables:
        place = next((i for i in range(len(header)) if any(str(r[i]) in figures for r in rows)), -1)
        if place < 0 or any(figures.values()):
            continue
        of_action: dict[str, list[dict[str, Cell]]] = {}
        for row in rows:
            if str(row[place]) in figures:
                named = dict(zip(header[place + 1 :], row[place + 1 :], strict=True))
                of_action.setdefault(str(row[place]), []).append(named)
        figures |= {action: _figure(found) for action, found in of_action.items()}
    return figures | _trends(tables, actions)


def _tables(asked: Asked) -> Tables:
    """Return the tables in a problem's context, where each row is a JSON array on its line."""
    tables: Tables = []
    fresh = True
    for row in asked["problem"].context.split("\n"):
        line = row.lstrip(_QUOTE)
        if not line.startswith("["):
            fresh = True
            continue
        try:
            cells = json.loads(line)
        except ValueError:
            continue  # the end of a row that was cut
        if fresh:
            tables.append(([str(cell) for cell in cells], []))
            fresh = False
        elif len(cells) == len(tables[-1][0]):
            tables[-1][1].append(cells)
    return tables


def _figure(rows: Sequence[Mapping[str, Cell]]) -> float:
    """Return an action's figure from its rows: by the columns that scenarios name, or the first."""
    last = rows[-1]
    if {"acre_yield", "price"} <= last.keys():
        return _number(last["acre_yield"]) * _number(last["price"])
    if "flow_to_home" in last:
        value = _number(last.get("local_value")) + _number(last.get("ingoing"))
        return _number(last["flow_to_home"]) + 1e-3 * value
    if {"level", "max_supply", "scarcest_input_met"} <= last.keys():
        met = last["scarcest_input_met"]
        share = 0.0 if met is None else min(_number(met), 1.0)
        return _number(last["max_supply"]) / max(_number(last["level"]), 1.0) * share
    return next((_number(c) for c in last.values() if isinstance(c, int | float)), 0.0)


def _trends(tables: Tables, actions: Sequence[str]) -> dict[str, float]:
    """Return for each action with monthly means the last one over the mean of the year before."""
    means: dict[str, list[float]] = {}
    for header, rows in tables:
        if header[-1] == "mean_price":
            for row in rows:
                means.setdefault(str(row[0]), []).append(_number(row[-1]))
    return {
        action: found[-1] / (sum(found[-12:]) / len(found[-12:]))
        for action, found in means.items()
        if action in actions and all(found)
    }


def _drawn(text: str, actions: Sequence[str], seed: int) -> dict[str, float]:
    """Draw a figure for each action, and another one for each prompt."""
    digests = {
        action: hashlib.sha256(f"{seed}\n{action}\n{text}".encode()).digest() for action in actions
    }
    return {action: float(int.from_bytes(digest[:6], "big")) for action, digest in digests.items()}


def _number(cell: Cell) -> float:
    """Return a cell as a number; 0 for NULL and for other values."""
    return float(cell) if isinstance(cell, int | float) else 0.0
