"""The HTML page of one decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dqa.core.decision import Ending
from dqa.core.text import counted
from dqa.evaluation.traces import Trace
from dqa.report.pages import rendered
from dqa.report.reading import Passage, read
from dqa.report.spending import Spending, model_line

_FRAME = frozenset({"heading", "prompt", "answer", "spent", "verdict", "unjudged"})
"""Kinds of passages that the page shows outside the list of steps."""
_PROVENANCE = {
    "time": "Time",
    "user": "User",
    "decision": "Decision",
    "dqa": "Version of dqa",
    "policy": "Policy",
}
"""Fields of a record's provenance with their titles. Older records have no provenance."""


def render_decision(trace: Trace) -> str:
    """Return the record of a decision as one self-contained HTML page."""
    safe = Trace.from_json(trace.to_json())  # without secrets
    passages = [passage for passage in read(safe) if passage.kind not in _FRAME]
    calls = sum(passage.kind == "called" for passage in passages)
    replies, plans = counted(safe.steps, "reply", "replies"), counted(len(safe.plans), "plan")
    tools = counted(calls, "statement or simulation", "statements and simulations")
    return rendered(
        "dqa.report",
        "page/decision.html",
        trace=safe,
        asked=safe.asked,
        reason=_reason(safe, passages),
        facts=list(_facts(safe)),
        passages=passages,
        statements={text for one in passages for text in (one.statement, one.translated)},
        counts=f"{replies}, {tools}, {plans}",
        shown=_shown,
    )


def _facts(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the title and the value of each fact in the list of facts, such as the database."""
    if trace.provenance is not None:
        for name, title in _PROVENANCE.items():
            if value := getattr(trace.provenance, name):
                yield title, str(value)
    yield "Question", trace.question
    yield "Database", trace.database
    yield "Decider", trace.decider
    yield "Model", model_line(trace.model).removeprefix("Model: ")
    yield "Spent", str(Spending.of(trace.usage, trace.cost)).removeprefix("Spent: ")
    yield "Seconds", f"{trace.seconds:.3g}"


def _reason(trace: Trace, passages: list[Passage]) -> str:
    """Return the last thought of a decision. Without thoughts, return the recorded reason."""
    thoughts = [passage.text for passage in passages if passage.kind == "thought"]
    if thoughts and trace.ending is Ending.ANSWERED:
        return thoughts[-1]
    return "" if trace.provenance is None else trace.provenance.reason


def _shown(value: Any) -> str:  # noqa: ANN401  (any cell)
    """Return the text of a cell; None becomes NULL."""
    return "NULL" if value is None else str(value)
