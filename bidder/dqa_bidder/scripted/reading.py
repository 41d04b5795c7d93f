"""Reading a prompt of BIDDER or a baseline: its task, its state, its actions, its returns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dqa.worlds.scripted import Shown
from dqa.worlds.world import GameEvent

_TASK = re.compile(r"^# Task: (?P<name>.+)$", re.MULTILINE)
_SCENARIO = re.compile(r"\A# Scenario: (?P<name>.+)$", re.MULTILINE)
_VIEWER = re.compile(r"^# Position, as (?P<name>.+) knows it$", re.MULTILINE)
_MOVER = re.compile(r"^It is the turn of: (?P<name>.+)$", re.MULTILINE)
_LEGAL = re.compile(r"^Legal actions(?: to estimate)?: (?P<list>\[.*\])$", re.MULTILINE)
_FORM = re.compile(r'^Legal as well: (?P<form>".*"), with words', re.MULTILINE)
_MOST = re.compile(r"^Choose the (?P<most>\d+) actions", re.MULTILINE)
_COUNT = re.compile(r"^Propose (?P<count>\d+) different", re.MULTILINE)
_SCALE = re.compile(r"^Payoffs lie between (?P<low>\S+) and (?P<high>\S+)\.", re.MULTILINE)
_EVENT = re.compile(
    r"^(?P<number>\d+)\. \[(?P<stage>[^\]]*)\] (?P<actor>[^:]+): (?P<action>.+?)"
    r"(?: \((?P<detail>[^()]*)\))?(?: - assumed)?$",
    re.MULTILINE,
)
_INFERRED = re.compile(r'^- (?P<player>[^,]+), (?P<name>".+?"): (?P<state>".*")$', re.MULTILINE)
_VARIABLE = re.compile(
    r"^Variable: (?P<name>\".+?\") of (?P<player>[^:]+): .*States: (?P<states>\[.*\])$",
    re.MULTILINE,
)
_RETURN = re.compile(r'^Return of (?P<action>".*?"): (?P<value>[-\d.e]+)', re.MULTILINE)
_THOUGHT = re.compile(r'^Thought (?P<number>\d+), which decides for (?P<action>".*")', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt asks, and what it shows.

    Attributes
    ----------
    task
        What its last heading says.
    scenario
        Name of the world, or of the scenario.
    shown
        The state; its events are () for a question that is no move.
    rows
        What the database holds.
    text
        The whole prompt.
    """

    task: str
    scenario: str
    shown: Shown
    rows: str
    text: str

    @property
    def variables(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """The hidden variables that are asked for: player, name, states."""
        for found in _VARIABLE.finditer(self._asked):
            yield found["player"], json.loads(found["name"]), tuple(json.loads(found["states"]))

    @property
    def most(self) -> int | None:
        """How many actions are to be named; None for all."""
        found = _MOST.search(self._asked)
        return None if found is None else int(found["most"])

    @property
    def form(self) -> str:
        """What may be written beside the actions; empty for nothing."""
        found = _FORM.search(self._asked)
        return "" if found is None else str(json.loads(found["form"]))

    @property
    def goal(self) -> str:
        """The question, on one line."""
        return " ".join(_section(self.text, "Question").split())

    @property
    def count(self) -> int:
        """How many thoughts are to be proposed."""
        found = _COUNT.search(self._asked)
        return 1 if found is None else int(found["count"])

    @property
    def returns(self) -> dict[str, float]:
        """The returns of the actions."""
        found = _RETURN.finditer(self._asked)
        return {json.loads(one["action"]): float(one["value"]) for one in found}

    @property
    def thoughts(self) -> dict[int, str]:
        """The actions that thoughts decide for, by their numbers."""
        found = _THOUGHT.finditer(self._asked)
        return {int(one["number"]): json.loads(one["action"]) for one in found}

    @property
    def _asked(self) -> str:
        return self.text[_last(_TASK, self.text).start() :]


def asks(text: str) -> bool:
    """Whether a text is a prompt of BIDDER or of one of its baselines."""
    return _SCENARIO.match(text) is not None and _TASK.search(text) is not None


def read_prompt(text: str) -> Asked:
    """Read a prompt."""
    task = _last(_TASK, text)
    asked = text[task.start() :]
    viewer = _VIEWER.search(text)
    mover = _MOVER.search(asked)
    legal = _LEGAL.search(asked)
    scale = _SCALE.search(asked)
    scenario = _SCENARIO.match(text)
    moves = _section(text, "Moves so far")
    inferred = _INFERRED.finditer(_section(text, "Inferred of others"))
    shown = Shown(
        viewer=viewer["name"] if viewer else "",
        mover=mover["name"] if mover else "",
        state="" if viewer is None else _section(text, viewer.group().removeprefix("# ")),
        events=tuple(_event(found) for found in _EVENT.finditer(moves)),
        actions=tuple(json.loads(legal["list"])) if legal else (),
        hidden={
            (one["player"], json.loads(one["name"])): json.loads(one["state"]) for one in inferred
        },
        scale=(float(scale["low"]), float(scale["high"])) if scale else None,
    )
    name = scenario["name"] if scenario else ""
    return Asked(task["name"], name, shown, _section(text, "What the database holds"), text)


def _event(found: re.Match[str]) -> GameEvent:
    detail = found["detail"] or ""
    return GameEvent(int(found["number"]), found["stage"], found["actor"], found["action"], detail)


def _section(text: str, title: str) -> str:
    """Return what stands below a heading, up to the next one of ours; the last such heading."""
    start = text.rfind(f"\n# {title}\n")
    if start < 0:
        return ""
    below = text[start + len(title) + 4 :]
    end = re.search(r"^# ", below, re.MULTILINE)
    return below[: end.start() if end else None].strip()


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = list(pattern.finditer(text))
    return found[-1]


def rows_of(text: str) -> Iterator[list[Any]]:
    """Yield the rows of the tables in a text: JSON arrays, one a line, headers included."""
    for line in text.split("\n"):
        if line.startswith("["):
            try:
                yield json.loads(line)
            except ValueError:
                continue  # the end of a row that was cut
