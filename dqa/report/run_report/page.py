"""A report as a page: one self-contained HTML file that opens anywhere, offline."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from dqa import plugins
from dqa.core.errors import DqaError
from dqa.core.events import CORE_EVENTS
from dqa.core.pictures import Picture, PictureNode
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.text import counted
from dqa.evaluation.results import Result
from dqa.evaluation.traces import Trace
from dqa.report.pages import drawn_page, stored_once
from dqa.report.passages import Passage
from dqa.report.reading import read
from dqa.report.run_report.records import CandidateOutcome, QuestionTruth, Report

_SCRIPTS = ("shell", "dom", "format", "passages", "charts", "pictures", "questions", "report")


@dataclass(frozen=True)
class QuestionDetails:
    """The details of a question in a page.

    Attributes
    ----------
    truth
        What every candidate leads to; None where that is not known.
    traces
        By place of the decision in its question's row; see `dqa.report.run_report.page`.
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
    scripts = [f"{name}.js" for name in _SCRIPTS]
    return drawn_page("page/report.html", scripts, blocks, title=report.title)


_ROWS, _COLUMNS, _CELL, _TEXT = 20, 24, 120, 6_000
"""The most rows, columns, and characters of a cell and of a text in a page."""
_BEST, _WORST, _VALUES = 24, 3, 160
"""Candidates that are named, and outcomes that the strip of all of them shows."""


def trace_details(trace: Trace, result: Result | None, unit: str) -> dict[str, Any]:
    """Return a trace as a page shows it: `passages`, and a `picture` of its own method."""
    passages = [passage for passage in read(trace, result, unit) if passage.kind != "heading"]
    found: dict[str, Any] = {"passages": [_shortened(passage) for passage in passages]}
    picture = _trace_picture(trace)
    return found if picture is None else found | {"picture": picture.to_json()}


def _shortened(passage: Passage) -> dict[str, Any]:
    """Return a passage as a page shows it; notes count the rest."""
    shown = passage.to_json()
    for name in ("statement", "translated", "text"):
        if name in shown:
            shown[name] = _cut(shown[name])
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


def _cell(value: object) -> object:
    text = str(value) if isinstance(value, str | dict | list) else ""
    if len(text) > _CELL:
        return f"{text[:_CELL]}…"
    return text if isinstance(value, dict | list) else value


def _cut(text: str) -> str:
    if len(text) <= _TEXT:
        return text
    return f"{text[:_TEXT]}… ({len(text) - _TEXT:,} more characters in the trace)"


def _trace_picture(trace: Trace) -> Picture | None:
    if all(type(event) in CORE_EVENTS for event in trace.events):
        return None  # no method draws it, so none is imported
    for draws in plugins.trace_pictures():
        try:
            picture = draws(trace)
        except DqaError:  # the passages describe what cannot be drawn
            continue
        if picture is not None:
            return laid_out(picture)
    return None


def truth_of(
    question: Question,
    outcomes: Outcomes | None,
    situation: Situation | None,
    chosen: Collection[Candidate] = (),
) -> QuestionTruth:
    """Return the ground truth of a question for a report.

    Parameters
    ----------
    question
        The question.
    outcomes
        The outcomes of its candidates; None where they are not known.
    situation
        Its situation; None where that is in a database alone.
    chosen
        What deciders chose.
    """
    if outcomes is None:
        return QuestionTruth(text=question.text, rules=question.rules)
    picked = tuple(one for one in dict.fromkeys(chosen) if one in outcomes)
    named = ranked = outcomes.best_first()
    if len(ranked) > _BEST + _WORST:
        named = list(dict.fromkeys((*ranked[:_BEST], *picked, *ranked[-_WORST:])))
    rows = [
        CandidateOutcome(candidate=one, value=outcomes.value(one), rank=outcomes.rank(one))
        for one in named
    ]
    return QuestionTruth(
        text=question.text,
        rules=question.rules,
        outcomes=tuple(sorted(rows, key=lambda row: row.rank)),
        total=len(outcomes.candidates),
        values=_spread(outcomes),
        picture=_question_picture(question, outcomes, situation, picked),
    )


def _spread(outcomes: Outcomes) -> tuple[float, ...]:
    """Return the values of all candidates, best first; of very many, evenly picked ones."""
    values = sorted(outcomes.values.tolist(), reverse=outcomes.goal == "maximise")
    if len(values) > _VALUES:
        step = (len(values) - 1) / (_VALUES - 1)
        values = [values[round(place * step)] for place in range(_VALUES)]
    return tuple(values)


def _question_picture(
    question: Question,
    outcomes: Outcomes,
    situation: Situation | None,
    chosen: tuple[Candidate, ...],
) -> Picture | None:
    if situation is None:
        return None
    try:
        draws = plugins.question_pictures(question.scenario)
        found = None if draws is None else draws(situation, question, outcomes, chosen)
    except DqaError:  # the figures describe what cannot be drawn
        return None
    return None if found is None else laid_out(found)


_SWEEPS = 8
"""Sweeps over the layers; more change little (Sugiyama, Tagawa and Toda 1981)."""


def laid_out(picture: Picture) -> Picture:
    """Return the picture with its nodes in the order in which each layer shows them.

    Nodes move to the mean place of their neighbours (the barycentre), sweep by sweep, forth and
    back. Equal nodes keep their order, so the same picture is always drawn alike.
    """
    layers: dict[int, list[PictureNode]] = {}
    for node in picture.nodes:
        layers.setdefault(node.layer, []).append(node)
    neighbours: dict[str, list[str]] = {node.id: [] for node in picture.nodes}
    for edge in picture.edges:
        if edge.source != edge.target:
            neighbours[edge.source].append(edge.target)
            neighbours[edge.target].append(edge.source)
    places: dict[str, float] = {}

    def number(layer: list[PictureNode]) -> None:
        """Note where each node stands in its layer, from 0 to 1."""
        places.update((node.id, (n + 0.5) / len(layer)) for n, node in enumerate(layer))

    def barycentre(node: PictureNode) -> float:
        around = [places[other] for other in neighbours[node.id]] or [places[node.id]]
        return sum(around) / len(around)

    for layer in layers.values():
        number(layer)
    for sweep in range(_SWEEPS):
        for depth in sorted(layers, reverse=bool(sweep % 2)):
            layers[depth].sort(key=barycentre)
            number(layers[depth])
    nodes = tuple(node for depth in sorted(layers) for node in layers[depth])
    return picture.model_copy(update={"nodes": nodes})
