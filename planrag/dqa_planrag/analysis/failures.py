"""Classify failed runs as CAN, MIS, DEEP, QUR or OTH (PlanRAG, section 5.2, Figure 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqa.evaluation.findings import Case
from dqa.evaluation.results import Outcome, Result
from dqa_planrag.analysis.critical import Asked, Found, Relevance, names_in

CLASSES = ("CAN", "MIS", "DEEP", "QUR", "OTH")

_WORTHLESS = 1.0 - 1e-9
"""A choice with at least this relative regret is not better than doing nothing."""
_QUOTES = " \t\r\n.,;:!?'\"`*"


def failure_of(
    case: Case, found: Mapping[str, Found], asked: Sequence[Asked], relevance: Relevance
) -> tuple[str, str] | None:
    """Return the class and the reason of a failure; None if the run did not fail.

    The first matching rule decides. ``docs/analysis.md`` explains the rules.

    Parameters
    ----------
    case
        A judged run.
    found
        How the run found each critical value of its scenario.
    asked
        The statements of the run.
    relevance
        The objects that decide the question, and the data.
    """
    result = case.result
    if case.correct or not case.has_steps:
        return None
    missed = [name for name, how in found.items() if how is Found.MISSED]
    vain = sum(not brought_data(one, relevance) for one in asked)
    lacks_data = bool(missed) if found else vain == len(asked)
    names = names_in(relevance.data) if relevance.data is not None else ()
    is_known = result.answer.strip(_QUOTES).casefold() in map(str.casefold, names)
    improper = result.outcome is Outcome.NO_CANDIDATE and is_known
    in_vain = bool(asked) and 2 * vain >= len(asked) and lacks_data
    rules = (
        ("QUR", in_vain, f"{vain} of {len(asked)} statements returned no data"),
        ("CAN", improper, "the answer is not a candidate"),
        ("OTH", result.outcome is not Outcome.WRONG, f"no decision to judge: {result.outcome}"),
        ("CAN", _gains_nothing(result), "the chosen candidate gains nothing"),
        ("MIS", bool(missed), f"did not retrieve: {', '.join(missed)}"),
        ("DEEP", True, "had the data, but chose a worse candidate"),
    )
    return next((name, reason) for name, holds, reason in rules if holds)


def brought_data(asked: Asked, relevance: Relevance) -> bool:
    """Return whether a statement ran and returned data.

    Sums and counts that are all null or zero are data only if everything that the statement names
    exists.
    """
    cells = [cell for row in asked.evidence.rows for cell in row]
    if any(cells):
        return True
    outputs = asked.reading.outputs.values() if asked.reading is not None else ()
    if relevance.data is None or any(value.term for value in outputs):
        return any(cell is not None for cell in cells)
    named = asked.reading.constants.values() if asked.reading is not None else ()
    names = names_in(relevance.data)
    return bool(cells) and not any(names.isdisjoint(map(str, one)) for one in named)


def _gains_nothing(result: Result) -> bool:
    """Return whether a choice is known to be no better than doing nothing."""
    if result.relative_regret is not None:
        return result.relative_regret >= _WORTHLESS
    return result.value is not None and result.baseline is not None  # nothing gains anything
