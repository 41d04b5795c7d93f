"""A report as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dqa.report.pages import drawn_page, page_json, stored_once
from dqa.report.run_report.records import QuestionTruth, Report

_SCRIPTS = ("shell", "dom", "format", "passages", "charts", "pictures", "questions", "report")


@dataclass(frozen=True)
class QuestionDetails:
    """The details of a question in a page.

    Attributes
    ----------
    truth
        What every candidate leads to; None where that is not known.
    traces
        By place of the decision in its question's row; see `dqa.report.run_report.details`.
    """

    truth: QuestionTruth | None = None
    traces: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the details as the page reads them."""
        truth = None if self.truth is None else self.truth.to_json()
        return {"truth": truth, "traces": {str(place): one for place, one in self.traces.items()}}


def render_report(report: Report, details: Mapping[str, QuestionDetails]) -> str:
    """Return a report as one HTML page that asks no network for anything.

    Parameters
    ----------
    report
        Its figures.
    details
        The details of questions, by their ids.
    """
    texts: dict[str, int] = {}
    items = {name: stored_once(one.to_json(), texts) for name, one in details.items()}
    blocks = {"report": report.to_json(), "details": {"texts": list(texts), "items": items}}
    return _page(report.title, blocks, live=False)


def render_live_page(title: str) -> str:
    """Return the page that asks the server it came from for the report, again and again."""
    return _page(title, {}, live=True)


def live_report(report: Report) -> bytes:
    """Return the figures as a live page asks for them."""
    return page_json({"report": report.to_json()}).encode(errors="replace")


def live_details(details: QuestionDetails) -> bytes:
    """Return the details of a question for a live page."""
    return page_json(details.to_json()).encode(errors="replace")


def _page(title: str, blocks: Mapping[str, Any], *, live: bool) -> str:
    scripts = [f"{name}.js" for name in _SCRIPTS]
    return drawn_page("page/report.html", scripts, blocks, title=title, live=live)
