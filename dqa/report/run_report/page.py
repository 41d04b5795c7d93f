"""A report as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from dqa.report.pages import rendered
from dqa.report.run_report.packing import Packer, compressed, spelled_json, to_json
from dqa.report.run_report.records import QuestionRow, QuestionTruth, Report

_SCRIPTS = (
    "dom",
    "data",
    "format",
    "highlight",
    "charts",
    "compared",
    "pictures",
    "passages",
    "questions",
    "main",
)
"""In the order in which they need each other."""


@dataclass(frozen=True)
class QuestionDetails:
    """What a page unfolds of a question.

    Attributes
    ----------
    truth
        None where nothing tells it.
    traces
        By place of the decision in its question's row, as `dqa.report.run_report.told` has it.
    """

    truth: QuestionTruth | None = None
    traces: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """Truth and traces, in the order of the block."""
        return [{} if self.truth is None else self.truth.to_json(), *self.traces.values()]


def render_report(report: Report, details: Mapping[str, QuestionDetails]) -> str:
    """Return a report as one HTML page that asks no network for anything.

    Parameters
    ----------
    report
        Its figures.
    details
        What it unfolds, by the questions' ids.
    """
    packer = Packer()
    rows = [_placed(row, details.get(row.id), packer) for row in report.questions]
    shared, blocks = packer.blocks()
    told = report.model_copy(update={"questions": tuple(rows)})
    first = spelled_json({"report": told.to_json(), "texts": shared})
    return _page(report.title, [compressed(first), *map(compressed, blocks)], live=False)


def render_live_page(title: str) -> str:
    """Return the page that asks the server it came from for the report, again and again."""
    return _page(title, [], live=True)


def live_report(report: Report) -> bytes:
    """Return the figures as a live page asks for them."""
    return spelled_json({"report": report.to_json(), "texts": []}).encode(errors="replace")


def live_details(details: QuestionDetails) -> bytes:
    """Return what a live page unfolds of a question: the truth, then traces by their places."""
    packer = Packer()
    packer.add(details.items)
    _, blocks = packer.blocks()
    (block,) = blocks
    places = to_json(list(details.traces))
    return f'{{"places":{places},{block[1:]}'.encode(errors="replace")


def _placed(row: QuestionRow, details: QuestionDetails | None, packer: Packer) -> QuestionRow:
    if details is None:
        return row
    block, place = packer.add(details.items)
    at = {number: place + 1 + offset for offset, number in enumerate(details.traces)}
    decisions = [
        decision.model_copy(update={"trace": (block, at[number])}) if number in at else decision
        for number, decision in enumerate(row.decisions)
    ]
    truth = None if details.truth is None else (block, place)
    return row.model_copy(update={"truth": truth, "decisions": tuple(decisions)})


def _page(title: str, blocks: Sequence[str], *, live: bool) -> str:
    style, script = _style(), _script()
    return rendered(
        "dqa.report",
        "run_report/page.html",
        title=title,
        style=Markup(style),  # noqa: S704  (a file of this package)
        script=Markup(script),  # noqa: S704  (files of this package)
        style_hash=_hash(style),
        script_hash=_hash(script),
        blocks=blocks,
        live=live,
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def _style() -> str:
    return _file("page.css")


@cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(_scripts()) + "\n})();\n"


def _scripts() -> Iterator[str]:
    for name in _SCRIPTS:
        yield _file(f"script/{name}.js")


def _file(name: str) -> str:
    return (files("dqa.report.run_report") / name).read_text("utf-8")
