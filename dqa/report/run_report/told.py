"""A trace as a page unfolds it: its passages as plain values, with long ones cut and said to be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dqa import plugins
from dqa.core.errors import DqaError
from dqa.core.events import CORE_EVENTS
from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import Called, Heading, Passage, Prompt, Section, passage_to_json
from dqa.report.reading import read
from dqa.report.run_report.layout import laid_out
from dqa.report.statements import lay_out

_laid_out = lru_cache(maxsize=4_096)(lay_out)
"""Deciders ask the same statement of every database."""

_ROWS, _COLUMNS, _CELL, _TEXT = 20, 24, 120, 6_000
"""What a page shows of a result's rows, columns and cells, and of any other text."""


def told(trace: Trace, result: Result | None, unit: str) -> dict[str, Any]:
    """Return a trace as the page shows it: `passages`, and a `picture` of its own method."""
    passages = [_passage(one) for one in read(trace, result, unit) if not isinstance(one, Heading)]
    found: dict[str, Any] = {"passages": passages}
    picture = _picture(trace)
    if picture is not None:
        found["picture"] = picture
    return found


def _picture(trace: Trace) -> dict[str, Any] | None:
    if all(type(event) in CORE_EVENTS for event in trace.events):
        return None  # no method has anything to say of it, and none is imported
    for draws in plugins.trace_pictures():
        try:
            picture = draws(trace)
        except DqaError:  # what cannot be drawn is still told in words
            continue
        if picture is not None:
            return laid_out(picture).to_json()
    return None


def _passage(passage: Passage) -> dict[str, Any]:
    if isinstance(passage, Called):
        return _called(passage)
    if isinstance(passage, Prompt):
        return {
            "kind": passage.kind,
            "role": passage.role,
            "task": _sections(passage.task),
            "before": _sections(passage.before),
        }
    return {
        name: cut(value) if isinstance(value, str) else value
        for name, value in passage_to_json(passage).items()
        if value not in (None, "", (), [])
    }


def _called(called: Called) -> dict[str, Any]:
    shown = {
        "kind": called.kind,
        "step": called.step,
        "tool": called.tool,
        "asked": cut(_laid_out(called.asked)),
        "translated": None if called.translated is None else cut(_laid_out(called.translated)),
        "columns": [_cell(name) for name in called.columns[:_COLUMNS]],
        "rows": [[_cell(cell) for cell in row[:_COLUMNS]] for row in called.rows[:_ROWS]],
        "text": cut(called.text),
        "notes": [*called.notes, *_left_out(called)],
        "error": called.error,
        "done": called.done,
    }
    return {name: value for name, value in shown.items() if value not in (None, "", [])}


def _left_out(called: Called) -> list[str]:
    """Return what of a result the page does not show."""
    rows, columns = len(called.rows) - _ROWS, len(called.columns) - _COLUMNS
    found = []
    if rows > 0:
        found.append(f"{counted(rows, 'more row')} of this result in the trace")
    if columns > 0:
        found.append(f"{counted(columns, 'more column')} of this result in the trace")
    return found


def _sections(sections: Sequence[Section]) -> list[dict[str, str]]:
    return [{"title": section.title, "text": cut(section.text)} for section in sections]


def _cell(value: object) -> object:
    if isinstance(value, str) and len(value) > _CELL:
        return f"{value[:_CELL]}…"
    if isinstance(value, dict | list):
        return cut(str(value))[:_CELL]
    return value


def cut(text: str) -> str:
    """Return a text, cut where it is very long, with how much more there is."""
    if len(text) <= _TEXT:
        return text
    return f"{text[:_TEXT]}… ({len(text) - _TEXT:,} more characters in the trace)"
