"""A trace as a page unfolds it: its passages, shortened where they are very long."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from dqa import plugins
from dqa.core.errors import DqaError
from dqa.core.events import CORE_EVENTS
from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Trace
from dqa.report.passages import Passage
from dqa.report.reading import read
from dqa.report.run_report.layout import laid_out
from dqa.report.statements import lay_out

_laid_out = lru_cache(maxsize=4_096)(lay_out)
"""Deciders send the same statement to every database."""

_ROWS, _COLUMNS, _CELL, _TEXT = 20, 24, 120, 6_000
"""The most rows, columns, and characters of a cell and of a text in a page."""


def trace_details(trace: Trace, result: Result | None, unit: str) -> dict[str, Any]:
    """Return a trace as a page shows it: `passages`, and a `picture` of its own method."""
    passages = [passage for passage in read(trace, result, unit) if passage.kind != "heading"]
    found: dict[str, Any] = {"passages": [passage_details(passage) for passage in passages]}
    picture = _picture(trace)
    return found if picture is None else found | {"picture": picture}


def passage_details(passage: Passage) -> dict[str, Any]:
    """Return a passage as a page shows it; notes say what is left out."""
    shown = passage.to_json()
    for name in ("statement", "translated"):
        if name in shown:
            shown[name] = _cut(_laid_out(shown[name]))
    if "text" in shown:
        shown["text"] = _cut(shown["text"])
    if "columns" in shown:
        rows = passage.rows[:_ROWS]
        shown["columns"] = [_cell(name) for name in passage.columns[:_COLUMNS]]
        shown["rows"] = [[_cell(cell) for cell in row[:_COLUMNS]] for row in rows]
        left_out = {"row": len(passage.rows) - _ROWS, "column": len(passage.columns) - _COLUMNS}
        more = [
            f"{counted(n, f'more {what}')} in the trace" for what, n in left_out.items() if n > 0
        ]
        shown["notes"] = [*passage.notes, *more]
    return shown


def _picture(trace: Trace) -> dict[str, Any] | None:
    if all(type(event) in CORE_EVENTS for event in trace.events):
        return None  # no method draws it, so none is imported
    for draws in plugins.trace_pictures():
        try:
            picture = draws(trace)
        except DqaError:  # the passages describe what cannot be drawn
            continue
        if picture is not None:
            return laid_out(picture).to_json()
    return None


def _cell(value: object) -> object:
    text = str(value) if isinstance(value, str | dict | list) else ""
    if len(text) > _CELL:
        return f"{text[:_CELL]}…"
    return text if isinstance(value, dict | list) else value


def _cut(text: str) -> str:
    if len(text) <= _TEXT:
        return text
    return f"{text[:_TEXT]}… ({len(text) - _TEXT:,} more characters in the trace)"
