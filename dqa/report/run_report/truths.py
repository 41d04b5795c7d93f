"""What every candidate of a question leads to, and its picture, as a report shows them."""

from __future__ import annotations

from collections.abc import Collection

from dqa import plugins
from dqa.core.errors import DqaError
from dqa.core.pictures import Picture
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.report.run_report.layout import laid_out
from dqa.report.run_report.records import CandidateOutcome, QuestionTruth

_BEST, _WORST, _VALUES = 24, 3, 160
"""Candidates that are named, and outcomes that the strip of all of them shows."""


def truth_of(
    question: Question,
    outcomes: Outcomes | None,
    situation: Situation | None,
    chosen: Collection[Candidate] = (),
) -> QuestionTruth:
    """Return what a report shows of a question's ground truth.

    Parameters
    ----------
    question
        The question.
    outcomes
        What its candidates lead to; None where nothing tells it.
    situation
        What it is asked about; None where that is in a database alone.
    chosen
        What deciders chose.
    """
    told = QuestionTruth(text=question.text, rules=question.rules)
    if outcomes is None:
        return told
    picked = [one for one in dict.fromkeys(chosen) if one in outcomes]
    ranked = outcomes.best_first()
    named = ranked
    if len(ranked) > _BEST + _WORST:
        ends = [*ranked[:_BEST], *ranked[-_WORST:]]
        named = [*ranked[:_BEST], *(one for one in picked if one not in ends), *ranked[-_WORST:]]
    rows = [
        CandidateOutcome(candidate=one, value=outcomes.value(one), rank=outcomes.rank(one))
        for one in named
    ]
    return told.model_copy(
        update={
            "outcomes": tuple(sorted(rows, key=lambda row: row.rank)),
            "total": len(outcomes.candidates),
            "values": _spread(outcomes),
            "picture": _picture(question, outcomes, situation, tuple(picked)),
        }
    )


def _spread(outcomes: Outcomes) -> tuple[float, ...]:
    values = sorted(outcomes.values.tolist(), reverse=outcomes.goal == "maximise")
    if len(values) > _VALUES:
        step = (len(values) - 1) / (_VALUES - 1)
        values = [values[round(place * step)] for place in range(_VALUES)]
    return tuple(values)


def _picture(
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
    except DqaError:  # what cannot be drawn is still told in figures
        return None
    return None if found is None else laid_out(found)
