"""A decision as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

from typing import Any

from dqa.evaluation.traces import Trace
from dqa.report.pages import rendered
from dqa.report.passages import Called
from dqa.report.reading import read
from dqa.report.tables import Spending, model_line

_STEPS = frozenset({"called", "failure", "fault", "noted", "plan", "reply", "thought"})
"""The passages that are steps on the way to the decision; the rest of a page says the others."""


def render_decision(trace: Trace) -> str:
    """Return the record of a decision as one HTML page; nothing in it is from elsewhere."""
    told = Trace.from_json(trace.to_json())  # without secrets in what was said
    passages = read(told)
    return rendered(
        "dqa.report",
        "decision_page.html",
        trace=told,
        asked=told.asked,
        steps=[passage for passage in passages if passage.kind in _STEPS],
        statements=sum(isinstance(passage, Called) for passage in passages),
        model=model_line(told.model),
        spent=str(Spending.of(told.usage, told.cost)),
        shown=_shown,
    )


def _shown(value: Any) -> str:  # noqa: ANN401  (any cell)
    """Return a cell as a reader sees it; NULL is told apart from a text."""
    if value is None:
        return "NULL"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
