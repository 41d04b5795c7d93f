"""The HTML page of a report on runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Alternative, Trace
from dqa.report.pages import drawn_page
from dqa.report.reading import Passage, read
from dqa.report.run_report.records import Report

_SCRIPTS = ("shell", "dom", "format", "passages", "charts", "outcomes", "questions", "report")


def render_report(report: Report, details: Mapping[str, Any]) -> str:
    """Return a report as one self-contained HTML page.

    Parameters
    ----------
    report
        Figures of the report.
    details
        Results of `question_details`, by the keys of the questions.
    """
    blocks = {"report": report.to_json(), "details": details}
    scripts = [f"{name}.js" for name in _SCRIPTS]
    return drawn_page("page/report.html", scripts, blocks, title=report.title)


_ROWS, _CELL, _TEXT = 20, 120, 6_000
"""Maximum numbers of rows, of characters of a cell, and of characters of a text."""
_BEST, _WORST, _VALUES = 24, 3, 160
"""Maximum numbers of best candidates, of worst candidates, and of values in the chart."""


def question_details(
    truth: Mapping[str, Any] | None, decided: Iterable[tuple[Result, Trace | None]], unit: str
) -> dict[str, Any]:
    """Return the details of a question in the form that the page reads.

    Parameters
    ----------
    truth
        Result of `truth_of`; None if the question is unknown.
    decided
        The result and the trace of each decision in `QuestionRow.decisions`, in the same order.
    unit
        Unit of the outcomes.
    """
    traces = {
        number: [_shortened(one) for one in read(trace, result, unit)[1:]]  # no heading
        for number, (result, trace) in enumerate(decided)
        if trace is not None
    }
    return {"truth": truth, "traces": traces}


def _shortened(passage: Passage) -> dict[str, Any]:
    """Return a shortened passage for the page. Its note says how much is left out."""
    shown = passage.to_json()
    for name in ("statement", "translated", "text"):
        text = shown.get(name, "")
        if len(text) > _TEXT:
            shown[name] = f"{text[:_TEXT]}… ({len(text) - _TEXT:,} more characters in the trace)"
    if passage.columns:
        shown["columns"] = list(map(_cell, passage.columns))
        shown["rows"] = [list(map(_cell, row)) for row in passage.rows[:_ROWS]]
        more = len(passage.rows) - _ROWS
        rest = [f"{counted(more, 'more row')} in the trace"] if more > 0 else []
        shown["notes"] = [*passage.notes, *rest]
    return shown


def _cell(value: object) -> object:
    text = str(value) if isinstance(value, str | dict | list) else ""
    return f"{text[:_CELL]}…" if len(text) > _CELL else value


def truth_of(
    question: Question, outcomes: Outcomes | None, chosen: Iterable[Candidate] = ()
) -> dict[str, Any]:
    """Return the text and rules of a question, and the outcomes of its candidates.

    Parameters
    ----------
    question
        The question.
    outcomes
        Outcomes of the candidates; None if unknown. If there are many candidates, the page shows
        only the outcomes of the best, the worst and the chosen candidates.
    chosen
        Candidates that deciders chose.
    """
    truth: dict[str, Any] = {"text": question.text, "rules": question.rules}
    if outcomes is None:
        return truth | {"outcomes": (), "total": None, "values": ()}
    values = np.sort(outcomes.values)[:: -1 if outcomes.goal == "maximise" else 1]
    sample = np.linspace(0, len(values) - 1, min(len(values), _VALUES)).round().astype(int)
    return truth | {
        "outcomes": Alternative.among(outcomes, chosen, _BEST, _WORST),
        "total": len(values),
        "values": values[sample].tolist(),
    }
