"""Why runs failed: CAN, MIS, DEEP, QUR or OTH (PlanRAG, section 5.2, Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dqa.core.evidence import Evidence
from dqa.evaluation.analysis.cases import Case
from dqa.evaluation.analysis.critical_values import Found
from dqa.evaluation.analysis.relevance import Relevance
from dqa.evaluation.analysis.statements import Asked, rows_of
from dqa.evaluation.results import Outcome, Result

_WORTHLESS = 1.0 - 1e-9
"""The relative regret from which on a choice is no better than deciding nothing."""
_LONGEST_NAME = 200
"""Characters of an answer that can be a name out of the database."""
_QUOTES = " \t\r\n.,;:!?'\"`*"


class FailureClass(StrEnum):
    """The paper's five classes, in the order in which they are tried here."""

    QUR = "QUR"
    OTH = "OTH"
    CAN = "CAN"
    MIS = "MIS"
    DEEP = "DEEP"


@dataclass(frozen=True, slots=True)
class RunFailure:
    """The class of a failed run, and the rule that put it there."""

    kind: FailureClass
    reason: str


def failure_of(
    case: Case, found: Mapping[str, Found], asked: Sequence[Asked], relevance: Relevance
) -> RunFailure | None:
    """Return why a run failed; None where it was right, or where its trace tells nothing.

    The first rule that fits decides:

    1. QUR: statements were asked, at least half of them failed or brought no data, and what a
       decision needs never came: a critical value, or, in a scenario without any, any data.
    2. OTH: no answer could be judged (step limit, replies that could not be read), or it names
       several candidates, or no candidate and nothing else that the database holds either.
    3. CAN: it answers with something of the database that is no candidate, or with a candidate
       that leads to nothing better than deciding nothing.
    4. MIS: a critical value was never looked at.
    5. DEEP: everything was at hand, and the conclusion was wrong.

    Parameters
    ----------
    case
        A judged run; what failing servers and spent budgets ended is never a failure.
    found
        How it came by its scenario's critical values; see `found_values`.
    asked
        What it asked.
    relevance
        What the question turns on, with the data.
    """
    if case.correct or not case.told or not case.result.outcome.judged:
        return None
    missed = [name for name, how in found.items() if how is Found.MISSED]
    return (
        _query_error(asked, relevance, missed, critical=bool(found))
        or _other(case, asked, relevance)
        or _improper_candidate(case)
        or (
            RunFailure(FailureClass.MIS, f"never looked at: {', '.join(missed)}")
            if missed
            else RunFailure(FailureClass.DEEP, "chose a worse candidate with the data at hand")
        )
    )


def _query_error(
    asked: Sequence[Asked], relevance: Relevance, missed: list[str], *, critical: bool
) -> RunFailure | None:
    vain = sum(not brought_data(one, relevance) for one in asked)
    lacks_data = bool(missed) if critical else vain == len(asked)
    if not asked or 2 * vain < len(asked) or not lacks_data:
        return None
    return RunFailure(FailureClass.QUR, f"{vain} of {len(asked)} statements brought nothing")


def brought_data(asked: Asked, relevance: Relevance) -> bool:
    """Whether a statement ran and brought data.

    Sums and counts alone that are all null or zero say something only of what exists: of a name
    that does not, they are as good as no row.
    """
    evidence = asked.evidence
    if evidence.error is not None or not evidence.row_count:
        return False
    found = [cell for row in rows_of(evidence) for cell in row]
    if not found or any(cell is not None and cell != 0 for cell in found):
        return True
    sums = any(output.is_sum for reading in asked.readings for output in reading.outputs)
    if sums and relevance.data is not None:
        return any(map(relevance.data.knows_all, asked.readings))
    return any(cell is not None for cell in found)


def _other(case: Case, asked: Sequence[Asked], relevance: Relevance) -> RunFailure | None:
    result = case.result
    if result.outcome is Outcome.WRONG:
        return None
    if result.outcome is Outcome.NO_CANDIDATE and _is_of_database(result.answer, asked, relevance):
        return None
    return RunFailure(FailureClass.OTH, f"no decision to judge: {result.outcome.value}")


def _improper_candidate(case: Case) -> RunFailure | None:
    result = case.result
    if result.outcome is Outcome.NO_CANDIDATE:
        return RunFailure(FailureClass.CAN, "answered with something that is no candidate")
    if _gains_nothing(result):
        return RunFailure(FailureClass.CAN, "chose a candidate that gains nothing")
    return None


def _gains_nothing(result: Result) -> bool:
    """Whether a choice leads to nothing better than deciding nothing, as far as that is known."""
    if result.relative_regret is not None:
        return result.relative_regret >= _WORTHLESS
    if result.value is None or result.baseline is None or result.goal is None:
        return False
    gain = result.value - result.baseline
    return gain <= 0.0 if result.goal == "maximise" else gain >= 0.0


def _is_of_database(answer: str, asked: Sequence[Asked], relevance: Relevance) -> bool:
    """Whether an answer, as a whole, is a name that the database knows.

    Where nobody has its data: one that stands in a cell that came back, or in quotes in a statement
    that brought data.
    """
    name = answer.strip(_QUOTES).casefold()
    if not name or len(answer) > _LONGEST_NAME:
        return False
    if relevance.data is not None:
        return name in relevance.data.names
    quoted = (f"'{name}'", f'"{name}"')
    return any(
        name in _names(one.evidence) or any(q in one.evidence.statement.casefold() for q in quoted)
        for one in asked
        if brought_data(one, relevance)
    )


def _names(evidence: Evidence) -> frozenset[str]:
    """Return the names and whole numbers that a statement brought."""
    return frozenset(
        str(cell).strip().casefold()
        for row in rows_of(evidence)
        for cell in row
        if isinstance(cell, str | int) and not isinstance(cell, bool)
    )
