"""The tables of an analysis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa.core.errors import UnknownNameError
from dqa.evaluation.findings import Analysis, Case, Cases
from dqa.evaluation.results import Outcome
from dqa_planrag.analysis import analyse
from tests.planrag.analysis.runs import empty, failed, make_case, ran

BOTH = ran("SELECT ingoing, total_power FROM trade_node", "[1.0, 2.0]")
ONE = ran("SELECT ingoing FROM trade_node")


def without_trace(case: Case) -> Case:
    """Return a run without events, as a baseline's."""
    return replace(case, trace=case.trace.changed(events=(), evidence=()))


def planned(count: int, number: int) -> Case:
    """Return a run with this number of plans."""
    plans = tuple(f"1. Look up A{n}\n2. Choose" for n in range(count))
    return make_case(BOTH, plans=plans, decider="planrag", question=f"locating/{number}")


def shares(found: Analysis, measure: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the counts of a table by decider and column."""
    (table,) = (table for table in found.tables if table.measure == measure)
    return {
        (row.decider, column): (share.count, share.of)
        for row in table.rows
        for column, share in row.shares.items()
    }


def test_accuracy_is_listed_by_question_type_for_every_decider() -> None:
    """Statements that ran are retrievals; a question without the reference has no type."""
    cases = Cases(
        (
            make_case(BOTH, failed("a"), ran("b", tool="compare"), outcome=Outcome.CORRECT),
            make_case(BOTH, empty("c"), question="locating/2"),
            make_case(failed("a"), question="locating/4"),
            make_case(BOTH, decider="planrag", outcome=Outcome.CORRECT),
            make_case(BOTH, decider="planrag", question="locating/3"),
            without_trace(make_case(decider="first", question="locating/2")),
        )
    )
    assert shares(analyse(cases, "iterrag", None), "question_types") == {
        ("iterrag", "SR"): (1, 1),
        ("iterrag", "MR"): (0, 1),
        ("iterrag", "none"): (0, 1),
        ("planrag", "SR"): (1, 1),
        ("first", "MR"): (0, 1),
    }
    with pytest.raises(UnknownNameError, match="iterrag, planrag"):
        analyse(cases, "singlerag", None)
    with pytest.raises(UnknownNameError, match="first"):
        analyse(cases, "first", None)
    assert shares(analyse(cases, None, None), "question_types") == {}


def test_re_plannings_are_counted_up_to_four_and_more() -> None:
    """Only deciders that plan have a row; the last column counts four and more."""
    runs = (*(planned(count, count) for count in (0, 1, 5, 7)), make_case(BOTH))
    assert shares(analyse(Cases(runs), None, None), "replannings") == {
        ("planrag", "0"): (0, 2),
        ("planrag", "4"): (0, 2),
        ("planrag", "total"): (0, 4),
    }


def test_missed_data_and_failures_are_shares_of_all_judged_runs() -> None:
    """Right answers count too, and may have missed data."""
    runs = (
        make_case(BOTH),
        make_case(ONE, question="locating/2"),
        make_case(ONE, question="locating/3", outcome=Outcome.CORRECT),
        without_trace(make_case(decider="first")),
        make_case(BOTH, scenario="cooking", question="cooking/1", decider="cook"),
    )
    found = analyse(Cases(runs), None, None)
    missed = {"IV": (0, 3), "TP_total": (2, 3), "any": (2, 3)}
    assert shares(found, "missed") == {("iterrag", c): counts for c, counts in missed.items()}
    assert found.without_data == 3
    failures = shares(found, "failures")
    assert [failures["iterrag", name] for name in ("DEEP", "MIS", "failed")] == [
        (1, 3),
        (1, 3),
        (2, 3),
    ]
    assert failures["cook", "DEEP"] == (1, 1)
    assert "first 1" in "".join(Cases(runs).notes())
