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
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from dqa.core.situation import Cell
from dqa.models.scripted.steps import number
from dqa_dellma.scripted.reports import Report, read_report

_STEP = re.compile(r"^# Step: (?P<name>.+)$", re.MULTILINE)
_ACTION = re.compile(r"^Action \d+\. (?P<name>.+)$", re.MULTILINE)
_ITEM = re.compile(
    r"^Item (?P<item>\d+)\. Action (?P<number>\d+)\. .+\n(?P<state>(?:- .+\n)*)", re.MULTILINE
)
_ASKED = re.compile(
    r"Name (?P<factors>\d+) such factors.*?For each factor give (?P<values>\d+)", re.DOTALL
)
_FACTOR = re.compile(r"^- (?P<name>\".+\"): (?P<values>\[.+\])$", re.MULTILINE)
_CONTEXT = re.compile(r"^# Context$", re.MULTILINE)
_AT_MOST = re.compile(r"in at most (\d+) characters")
_PART = re.compile(r"^# (?:Rules|Rows)$", re.MULTILINE)
_QUOTE = "> "
"""What stands before each line of a summary; more than once, where a summary is shortened."""
_MAY_TIE = re.compile(r"in a list of their own:$", re.MULTILINE)
_SAME = 1e-9
"""Figures that differ by less, relatively, are the same but for rounding."""
_OUTLOOK = "outlook of "
_CHANGES: Mapping[str, tuple[float, str]] = {
    "worse than it looks": (0.75, "somewhat unlikely"),
    "as it looks": (1.0, "likely"),
    "better than it looks": (1.25, "somewhat unlikely"),
}
"""The values of an outlook: what each multiplies the figure by, and how likely it is."""


class DellmaResponder:
    """Answers DeLLMa's steps for a scripted model, as the entry point ``dqa.scripted`` names it."""

    def answers(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation asks for one of the steps."""
        return bool(messages) and _STEP.search(messages[-1].text) is not None

    def reply(
        self, messages: Sequence[BaseMessage], tools: Sequence[Any], script: str, seed: int
    ) -> AIMessage:
        """Return what a script says to the last step; see `reply_to_step`."""
        del tools
        return AIMessage(reply_to_step(messages[-1].text, script, seed))


RESPONDER = DellmaResponder()


def reply_to_step(text: str, script: str, seed: int) -> str:
    """Return what a script says to a step.

    Parameters
    ----------
    text
        The prompt.
    script
        ``analyst``; ``greedy`` for one that looks at figures and no state, ``random`` for one that
        looks at neither.
    seed
        Of chance.
    """
    steps = _STEP.findall(text)
    actions = _ACTION.findall(_CONTEXT.split(text, maxsplit=1)[0])
    figures = _figures(text, actions) if script != "random" else _drawn(text, actions, seed)
    if steps[-1].startswith("shorten"):
        return json.dumps({"summary": _summary(text)})
    if steps[-1].startswith("name what"):
        return json.dumps({"factors": _factors(text, actions, figures)})
    if steps[-1].startswith("judge"):
        return json.dumps({"beliefs": _beliefs(text)})
    if steps[-1].startswith("rank"):
        ranked = _rank(text, actions, figures, by_state=script == "analyst")
        return json.dumps({"working": "", "rank": ranked})
    if steps[-1].startswith("decide"):
        best = max(actions, key=lambda action: (figures[action], -actions.index(action)))
        named = f"Action {actions.index(best) + 1}. {best}"
        return json.dumps({"decision": named, "explanation": "It has the best figure."})
    return "Each action may turn out worse or better than the figures say, and neither is likely."


def _summary(text: str) -> str:
    """Return as many whole lines, from the first on, as a summary may hold with their marks."""
    told, _, asked = _PART.split(text, maxsplit=1)[-1].rpartition("\n# Step:")
    lines = [line.lstrip(_QUOTE) for line in told.strip().split("\n")]
    most = int(found[1]) if (found := _AT_MOST.search(asked)) else len(text)
    ends = accumulate(len(_QUOTE) + len(line) + 1 for line in lines)
    whole = sum(end - 1 <= most for end in ends)
    return "\n".join(lines[:whole]) or lines[0][: most - len(_QUOTE)]


def _figures(text: str, actions: Sequence[str]) -> dict[str, float]:
    """Work out one figure an action, more of which is better, from the rows in a prompt."""
    figures = dict.fromkeys(actions, 0.0)
    for header, rows in _tables(text):
        place = next((i for i in range(len(header)) if any(str(r[i]) in figures for r in rows)), -1)
        if place < 0 or any(figures.values()):
            continue
        of_action: dict[str, list[dict[str, Cell]]] = {}
        for row in rows:
            if str(row[place]) in figures:
                named = dict(zip(header[place + 1 :], row[place + 1 :], strict=True))
                of_action.setdefault(str(row[place]), []).append(named)
        figures |= {action: _figure(found) for action, found in of_action.items()}
    trends = _trends(text, actions)
    return figures | trends


def _tables(text: str) -> list[tuple[list[str], list[list[Cell]]]]:
    """Return the tables in a prompt: a header and rows, each a JSON array on its line."""
    tables: list[tuple[list[str], list[list[Cell]]]] = []
    fresh = True
    for row in text.split("\n"):
        line = row.lstrip(_QUOTE)
        if not line.startswith("["):
            fresh = True
            continue
        try:
            cells = json.loads(line)
        except ValueError:
            # The end of a row that was cut.
            continue
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
        return number(last["acre_yield"]) * number(last["price"])
    if "flow_to_home" in last:
        value = number(last.get("local_value")) + number(last.get("ingoing"))
        return number(last["flow_to_home"]) + 1e-3 * value
    if {"level", "max_supply", "scarcest_input_met"} <= last.keys():
        met = last["scarcest_input_met"]
        share = 0.0 if met is None else min(number(met), 1.0)
        return number(last["max_supply"]) / max(number(last["level"]), 1.0) * share
    return next((number(c) for c in last.values() if isinstance(c, int | float)), 0.0)


def _trends(text: str, actions: Sequence[str]) -> dict[str, float]:
    """Return for each action with monthly means the last one over the mean of the year before."""
    means: dict[str, list[float]] = {}
    for header, rows in _tables(text):
        if header[-1] == "mean_price":
            for row in rows:
                means.setdefault(str(row[0]), []).append(number(row[-1]))
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


def _factors(
    text: str, actions: Sequence[str], figures: Mapping[str, float]
) -> list[dict[str, Any]]:
    asked = _ASKED.search(text)
    most, width = (int(asked["factors"]), int(asked["values"])) if asked else (2, 3)
    report = read_report(_tables(text))
    if report is not None:
        named = list(report.factors.items())[:most]
        return [
            {"name": name, "actions": "all", "values": list(values)[:width]}
            for name, values in named
        ]
    weightiest = sorted(figures, key=lambda action: -figures[action])[:most]
    values = list(_CHANGES)[:width] if width > 2 else [next(iter(_CHANGES)), list(_CHANGES)[-1]]
    return [
        {"name": f"{_OUTLOOK}{action}", "actions": [actions.index(action) + 1], "values": values}
        for action in weightiest
    ]


def _beliefs(text: str) -> dict[str, dict[str, str]]:
    listed = text[[step.start() for step in _STEP.finditer(text)][-1] :]
    report = read_report(_tables(text))
    if report is not None:
        return {name: dict(values) for name, values in report.factors.items()}
    return {
        json.loads(found["name"]): {
            value: _CHANGES.get(value, (1.0, "somewhat likely"))[1]
            for value in json.loads(found["values"])
        }
        for found in _FACTOR.finditer(listed)
    }


def _rank(
    text: str, actions: Sequence[str], figures: Mapping[str, float], *, by_state: bool
) -> list[int | list[int]]:
    report = read_report(_tables(text))
    worth: dict[int, float] = {}
    for item in _ITEM.finditer(text):
        action, state = actions[int(item["number"]) - 1], item["state"]
        change = 1.0
        if by_state and report is not None:
            change = report.change(action, _state(state, report))
        elif by_state:
            for value, (factor, _) in _CHANGES.items():
                change *= factor if f"{_OUTLOOK}{action}: {value}\n" in state else 1.0
        worth[int(item["item"])] = figures[action] * change
    return _equal_together(worth) if _MAY_TIE.search(text) else _best_first(worth)


def _best_first(worth: Mapping[int, float]) -> list[int | list[int]]:
    return [*sorted(worth, key=lambda place: (-worth[place], place))]


def _equal_together(worth: Mapping[int, float]) -> list[int | list[int]]:
    """Return places best first, those of one worth in a list of their own."""
    groups: list[list[int]] = []
    for place in sorted(worth, key=lambda place: (-worth[place], place)):
        if groups and math.isclose(worth[groups[-1][0]], worth[place], rel_tol=_SAME):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [group if len(group) > 1 else group[0] for group in groups]


def _state(text: str, report: Report) -> dict[str, str]:
    """Return the value of each of a report's factors in an item's state."""
    return {
        name: value
        for name, values in report.factors.items()
        for value in values
        if f"- {name}: {value}\n" in text
    }
