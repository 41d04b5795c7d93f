"""The measures of a folder's runs, put together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dqa.core.errors import ParseError, UnknownNameError, UsageError
from dqa.evaluation.analysis import Case, Cases, Found, Share, analyse, read_cases
from dqa.evaluation.analysis.replanning import ReplanningKind
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import Outcome
from dqa.evaluation.statistics import wilson
from tests.evaluation.analysis.runs import make_case, ran

BOTH = ran("SELECT ingoing, total_power FROM trade_node", "[1.0, 2.0]")
ONE = ran("SELECT ingoing FROM trade_node")
PLANS = tuple(f"1. Look up A{number}\n2. Choose" for number in range(7))


def silent(case: Case) -> Case:
    """Return a run that does not tell how it decided, as a baseline's."""
    return replace(case, trace=case.trace.changed(events=(), evidence=()))


def write(folder: Path, cases: list[Case]) -> None:
    """Write a run's folder by hand."""
    with (folder / "results.jsonl").open("w") as results, (folder / "traces.jsonl").open("w") as t:
        for case in cases:
            results.write(json.dumps(case.result.to_json()) + "\n")
            t.write(json.dumps(case.trace.to_json()) + "\n")


def test_accuracy_is_told_by_question_type_for_every_decider() -> None:
    """Baselines included; a question that the reference was not asked is of no type."""
    cases = Cases(
        (
            make_case(BOTH, outcome=Outcome.CORRECT),
            make_case(BOTH, BOTH, question="locating/2"),
            make_case(BOTH, decider="planrag", outcome=Outcome.CORRECT),
            make_case(BOTH, decider="planrag", question="locating/3"),
            silent(make_case(decider="first", question="locating/2")),
        )
    )
    found = analyse(cases, "iterrag")
    shares = {(row.decider, row.type.value): row.correct for row in found.accuracy}
    assert shares["iterrag", "SR"] == Share.counted(1, 1)
    assert shares["iterrag", "MR"] == Share.counted(0, 1)
    assert shares["planrag", "SR"] == Share.counted(1, 1)
    assert shares["planrag", "MR"] == Share.counted(0, 0)
    assert shares["first", "MR"] == Share.counted(0, 1)
    assert {kind.value: count for kind, count in found.question_types.items()} == {
        "SR": 1,
        "MR": 1,
        "none": 0,
    }
    with pytest.raises(UnknownNameError, match="iterrag, planrag"):
        analyse(cases, "singlerag")
    with pytest.raises(UsageError, match="'first' do not tell"):
        analyse(cases, "first")
    assert analyse(cases).accuracy == ()


def test_neither_epochs_nor_databases_make_a_share_surer() -> None:
    """A question that was asked 6 times is one: all right, of 4 that failed or not, is as 4."""
    once = [
        make_case(BOTH, plans=PLANS[:1], decider="planrag", question=f"locating/{n}")
        for n in range(4)
    ]
    often = [
        replace(case, result=case.result.changed(epoch=epoch, database=database))
        for case in once
        for epoch in (1, 2, 3)
        for database in ("sqlite", "ladybug")
    ]
    found = analyse(Cases(tuple(often)))
    (failed,), (planned,) = found.failures, found.replannings
    for share in (failed.failed, planned.total):
        assert share.of == 24
        assert (share.low, share.high) == wilson(share.count // 6, 4)


def test_re_plannings_are_counted_up_to_four_and_more() -> None:
    """A row for deciders that plan only; the last number holds the rest."""
    runs = [
        make_case(BOTH, plans=PLANS[:count], decider="planrag", question=f"locating/{count}")
        for count in (0, 1, 1 + 4, 1 + 6)
    ]
    (row,) = analyse(Cases((*runs, make_case(BOTH)))).replannings
    assert (row.scenario, row.decider) == ("locating", "planrag")
    assert [share.of for share in row.correct] == [2, 0, 0, 0, 2]
    assert row.total == Share.counted(0, 4)


def test_kinds_are_shares_of_the_questions_that_were_re_planned() -> None:
    """A question counts once for each kind that it has, however often.

    The paper's own words count re-plannings instead, which is told beside it.
    """
    old, shorter = "1. Find A\n2. Find B\n3. Choose", "1. Find A\n2. Choose"
    runs = (
        make_case(BOTH, plans=(old, shorter, old, shorter)),
        make_case(BOTH, plans=(old, shorter), question="locating/2"),
        make_case(BOTH, plans=(old,), question="locating/3"),
    )
    rows = analyse(Cases(runs)).kinds
    assert [(row.group, row.kind, row.times, row.questions, row.per_question) for row in rows] == [
        ("Increase", ReplanningKind.ADD_LOOK_UP, 1, Share.counted(1, 2), 0.5),
        ("Decrease", ReplanningKind.DELETE, 3, Share.counted(2, 2), 1.5),
    ]


def test_missed_data_and_failures_are_shares_of_all_judged_runs() -> None:
    """Right answers count in both, and may rest on too little."""
    runs = (
        make_case(BOTH),
        make_case(ONE, question="locating/2"),
        make_case(ONE, question="locating/3", outcome=Outcome.CORRECT),
        silent(make_case(decider="first")),
    )
    found = analyse(Cases(runs))
    (missed,) = found.missed
    assert missed.missed == Share.counted(2, 3)
    assert {name: dict(by) for name, by in missed.values.items()} == {
        "IV": dict.fromkeys(Found, 0) | {"shown": 3},
        "TP_total": dict.fromkeys(Found, 0) | {"shown": 1, "missed": 2},
    }
    assert found.without_data == 3
    (failures,) = found.failures
    assert failures.deep == Share.counted(1, 3)
    assert failures.mis == Share.counted(1, 3)
    assert failures.failed == Share.counted(2, 3)
    assert found.untold == {"first": 1}


def test_a_scenario_without_critical_values_has_no_table_of_them() -> None:
    """Its failures are classed without MIS."""
    found = analyse(Cases((make_case(BOTH, scenario="cooking", question="cooking/1"),)))
    assert found.missed == ()
    assert found.failures[0].deep == Share.counted(1, 1)


def test_results_and_traces_are_joined_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    """Half a line, a missing trace and a missing result cost nothing but themselves."""
    cases = [make_case(question=f"locating/{number}") for number in range(1, 5)]
    cases[3] = make_case(question="locating/4", outcome=Outcome.BUDGET)
    write(tmp_path, cases)
    traces = (tmp_path / "traces.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "traces.jsonl").write_text("".join([*traces[1:], traces[0][:40]]))
    results = (tmp_path / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "results.jsonl").write_text("".join([results[0], *results[2:], results[1][:40]]))
    found = read_cases(tmp_path)
    assert [case.key for case in found.judged] == [DecisionKey("locating/3", "mysql", "iterrag")]
    assert (found.unjudged, found.without_trace, found.without_result) == (1, 1, 1)


def test_a_folder_that_holds_no_run_says_so(tmp_path: Path) -> None:
    """Nothing there, a file, nothing in it, no result, no trace, and something else."""
    with pytest.raises(UsageError, match="does not exist"):
        read_cases(tmp_path / "none")
    with pytest.raises(UsageError, match=r"no traces\.jsonl"):
        read_cases(tmp_path)
    (tmp_path / "traces.jsonl").write_text("")
    with pytest.raises(UsageError, match="no finished decision"):
        read_cases(tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        read_cases(tmp_path / "traces.jsonl")
    write(tmp_path, [make_case()])
    (tmp_path / "traces.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ParseError, match="this is no trace"):
        read_cases(tmp_path)
