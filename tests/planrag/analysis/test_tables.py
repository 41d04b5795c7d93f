"""The tables of an analysis."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.evaluation.findings import Analysis, Case, Cases, Share, read_cases
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome
from dqa.evaluation.statistics import wilson
from dqa_planrag.analysis import analyse
from tests.planrag.analysis.runs import empty, failed, make_case, ran

BOTH = ran("SELECT ingoing, total_power FROM trade_node", "[1.0, 2.0]")
ONE = ran("SELECT ingoing FROM trade_node")


def silent(case: Case) -> Case:
    """Return a run that does not say how it decided, as a baseline's."""
    return replace(case, trace=case.trace.changed(events=(), evidence=()))


def planned(count: int, number: int) -> Case:
    """Return a run with so many plans."""
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


def test_accuracy_is_told_by_question_type_for_every_decider() -> None:
    """Statements that ran are retrievals; a question without the reference is of no type."""
    cases = Cases(
        (
            make_case(BOTH, failed("a"), ran("b", tool="compare"), outcome=Outcome.CORRECT),
            make_case(BOTH, empty("c"), question="locating/2"),
            make_case(failed("a"), question="locating/4"),
            make_case(BOTH, decider="planrag", outcome=Outcome.CORRECT),
            make_case(BOTH, decider="planrag", question="locating/3"),
            silent(make_case(decider="first", question="locating/2")),
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
    with pytest.raises(UsageError, match="'first' do not tell"):
        analyse(cases, "first", None)
    assert shares(analyse(cases, None, None), "question_types") == {}


def test_neither_epochs_nor_databases_make_a_share_surer() -> None:
    """A question that was asked 6 times is one: all right, of 4 that failed or not, is as 4."""
    often = [
        replace(case, result=case.result.changed(epoch=epoch, database=database))
        for case in (planned(1, n) for n in range(4))
        for epoch in (1, 2, 3)
        for database in ("sqlite", "ladybug")
    ]
    found = analyse(Cases(tuple(often)), None, None)
    tables = {table.measure: table.rows[0].shares for table in found.tables if table.rows}
    for share in (tables["failures"]["failed"], tables["replannings"]["total"]):
        assert share.of == 24
        assert (share.low, share.high) == wilson(share.count // 6, 4)


def test_re_plannings_are_counted_up_to_four_and_more() -> None:
    """A row for deciders that plan only; the last number holds the rest."""
    runs = (*(planned(count, count) for count in (0, 1, 5, 7)), make_case(BOTH))
    assert shares(analyse(Cases(runs), None, None), "replannings") == {
        ("planrag", "0"): (0, 2),
        ("planrag", "4"): (0, 2),
        ("planrag", "total"): (0, 4),
    }


def test_missed_data_and_failures_are_shares_of_all_judged_runs() -> None:
    """Right answers count in both, and may rest on too little."""
    runs = (
        make_case(BOTH),
        make_case(ONE, question="locating/2"),
        make_case(ONE, question="locating/3", outcome=Outcome.CORRECT),
        silent(make_case(decider="first")),
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


def test_results_and_traces_are_joined_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    """Half a line, a missing trace and a missing result cost nothing but themselves."""
    cases = [make_case(question=f"locating/{number}") for number in range(1, 5)]
    cases[3] = make_case(question="locating/4", outcome=Outcome.BUDGET)
    results = [json.dumps(case.result.to_json()) + "\n" for case in cases]
    traces = [json.dumps(case.trace.to_json()) + "\n" for case in cases]
    (tmp_path / "traces.jsonl").write_text("".join([*traces[1:], traces[0][:40]]))
    (tmp_path / "results.jsonl").write_text("".join([results[0], *results[2:], results[1][:40]]))
    found = read_cases(tmp_path)
    assert [case.result.key for case in found.judged] == [
        DecisionKey("locating/3", "mysql", "iterrag")
    ]
    assert (found.unjudged, found.without_trace, found.without_result) == (1, 1, 1)


def test_a_folder_that_holds_no_run_says_so(tmp_path: Path) -> None:
    """Nothing there, nothing in it, no result, and something else."""
    with pytest.raises(UsageError, match="does not exist"):
        read_cases(tmp_path / "none")
    (tmp_path / "traces.jsonl").write_text("")
    with pytest.raises(UsageError, match="no finished decision"):
        read_cases(tmp_path)
    (tmp_path / "results.jsonl").write_text(json.dumps(make_case().result.to_json()) + "\n")
    (tmp_path / "traces.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ParseError, match="this is no trace"):
        read_cases(tmp_path)


def test_nothing_has_no_share() -> None:
    """Neither a rate nor an interval."""
    assert Share.among([]) == Share(count=0, of=0, rate=None, low=None, high=None)
