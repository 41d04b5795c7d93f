"""Why runs failed: CAN, MIS, DEEP, QUR or OTH (PlanRAG, section 5.2, Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dqa.core.evidence import Evidence
from dqa.evaluation.analysis.cases import Case
from dqa.evaluation.analysis.critical_values import Found
from dqa.evaluation.analysis.statements import brought_data, cells
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


def failure_of(case: Case, found: Mapping[str, Found]) -> RunFailure | None:
    """Return why a run failed; None where it was right, or where its trace tells nothing.

    The first rule that fits decides:

    1. QUR: statements were asked, at least half of them failed or brought no data, and what a
       decision needs never came: a critical value, or, in a scenario without any, any data.
    2. OTH: no answer could be judged (step limit, replies that could not be read), or it names
       several candidates, or no candidate and nothing else that the database returned either.
    3. CAN: it answers with something of the database that is no candidate, or with a candidate
       that leads to nothing better than deciding nothing.
    4. MIS: a critical value was neither queried nor computed.
    5. DEEP: everything was at hand, and the conclusion was wrong.

    Parameters
    ----------
    case
        A judged run; what failing servers and spent budgets ended is never a failure.
    found
        How it came by its scenario's critical values; see `found_values`.
    """
    if case.correct or not case.told or not case.result.outcome.judged:
        return None
    missed = [name for name, how in found.items() if how is Found.MISSED]
    return (
        _query_error(case, missed, critical=bool(found))
        or _other(case)
        or _improper_candidate(case)
        or (
            RunFailure(FailureClass.MIS, f"never queried or computed: {', '.join(missed)}")
            if missed
            else RunFailure(FailureClass.DEEP, "chose a worse candidate with the data at hand")
        )
    )


def _query_error(case: Case, missed: list[str], *, critical: bool) -> RunFailure | None:
    asked = case.trace.evidence
    vain = sum(not brought_data(evidence) for evidence in asked)
    lacks_data = bool(missed) if critical else vain == len(asked)
    if not asked or 2 * vain < len(asked) or not lacks_data:
        return None
    return RunFailure(FailureClass.QUR, f"{vain} of {len(asked)} statements brought nothing")


def _other(case: Case) -> RunFailure | None:
    result = case.result
    if result.outcome is Outcome.WRONG:
        return None
    if result.outcome is Outcome.NO_CANDIDATE and _is_of_database(result.answer, case):
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


def _is_of_database(answer: str, case: Case) -> bool:
    """Whether an answer, as a whole, is a name that the database knows, as far as this run saw.

    It stands in a cell that came back, or in quotes in a statement that brought data.
    """
    name = answer.strip(_QUOTES).casefold()
    if not name or len(answer) > _LONGEST_NAME:
        return False
    quoted = (f"'{name}'", f'"{name}"')
    return any(
        name in _names(evidence) or any(q in evidence.statement.casefold() for q in quoted)
        for evidence in case.trace.evidence
        if brought_data(evidence)
    )


def _names(evidence: Evidence) -> frozenset[str]:
    """Return the names and whole numbers that a statement brought."""
    return frozenset(
        str(cell).strip().casefold()
        for cell in cells(evidence)
        if isinstance(cell, str | int) and not isinstance(cell, bool)
    )
