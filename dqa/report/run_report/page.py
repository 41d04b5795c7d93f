"""The HTML page of a report on runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Alternative, Trace
from dqa.report.pages import drawn_page, stored_once
from dqa.report.passages import Passage
from dqa.report.reading import read
from dqa.report.run_report.records import QuestionTruth, Report

_SCRIPTS = ("shell", "dom", "format", "passages", "charts", "outcomes", "questions", "report")


def render_report(report: Report, details: Mapping[str, Any]) -> str:
    """Return a report as one self-contained HTML page.

    Parameters
    ----------
    report
        Figures of the report.
    details
        Results of `question_details`, by the ids of the questions.
    """
    texts: dict[str, int] = {}
    items = stored_once(details, texts)
    blocks = {"report": report.to_json(), "details": {"texts": list(texts), "items": items}}
    scripts = [f"{name}.js" for name in _SCRIPTS]
    return drawn_page("page/report.html", scripts, blocks, title=report.title)


_ROWS, _CELL, _TEXT = 20, 120, 6_000
"""Maximum numbers of rows, of characters of a cell, and of characters of a text."""
_BEST, _WORST, _VALUES = 24, 3, 160
"""Maximum numbers of best candidates, of worst candidates, and of values in the chart."""


def question_details(
    truth: QuestionTruth | None, decided: Iterable[tuple[Result, Trace | None]], unit: str
) -> dict[str, Any]:
    """Return the details of a question in the form that the page reads.

    Parameters
    ----------
    truth
        Outcomes of the candidates; None if unknown.
    decided
        Results and traces of the decisions in `QuestionRow.decisions`.
    unit
        Unit of the outcomes.
    """
    traces = {
        str(number): [_shortened(one) for one in read(trace, result, unit)[1:]]  # no heading
        for number, (result, trace) in enumerate(decided)
        if trace is not None
    }
    return {"truth": None if truth is None else truth.to_json(), "traces": traces}


def _shortened(passage: Passage) -> dict[str, Any]:
    """Return a shortened passage for the page. Its notes say how much is left out."""
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
    question: Question,
    outcomes: Outcomes | None,
    chosen: Collection[Candidate] = (),
) -> QuestionTruth:
    """Return the ground truth of a question for a report.

    Parameters
    ----------
    question
        The question.
    outcomes
        Outcomes of its candidates; None if unknown.
    chosen
        Candidates that deciders chose.
    """
    truth = QuestionTruth(text=question.text, rules=question.rules)
    if outcomes is None:
        return truth
    return truth.changed(
        outcomes=Alternative.among(outcomes, chosen, _BEST, _WORST),
        total=len(outcomes.candidates),
        values=_spread(outcomes),
    )


def _spread(outcomes: Outcomes) -> tuple[float, ...]:
    """Return the values of all candidates, best first. If there are many, return a sample."""
    values = sorted(outcomes.values.tolist(), reverse=outcomes.goal == "maximise")
    if len(values) > _VALUES:
        step = (len(values) - 1) / (_VALUES - 1)
        values = [values[round(place * step)] for place in range(_VALUES)]
    return tuple(values)
