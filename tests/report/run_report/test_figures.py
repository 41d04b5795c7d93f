"""Figures of a report, compared with the results of its runs and with `dqa compare`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dqa
from dqa.evaluation.results import Outcome, Result
from tests.stored import change_record, record_of


@pytest.fixture(scope="session", params=["agents", "drawn"])
def run(request: pytest.FixtureRequest, run_folder: Path, drawn_run: dqa.Run) -> dqa.Run:
    """Return a run of agents, and one with epochs, prices and failures."""
    return drawn_run if request.param == "drawn" else dqa.read_run(run_folder)


@pytest.fixture(scope="session")
def report(run: dqa.Run) -> dqa.Report:
    """Return the figures of the run."""
    return dqa.read_report(run)


def test_figures_are_those_of_the_run_and_of_compare(run: dqa.Run, report: dqa.Report) -> None:
    """Accuracies, epochs, totals with intervals, and pairs with p-values."""
    accuracies = [one for found in report.contestants for one in found.accuracies]
    assert sorted(accuracies, key=repr) == sorted(run.summaries, key=repr)
    epochs = [one for found in report.contestants for one in found.epochs]
    assert sorted(epochs, key=repr) == sorted(run.epochs, key=repr)
    compared = dqa.compare(run)
    assert set(report.pairs) == set(compared.pairs)
    standings = {one.name: one for one in compared.standings}
    for found in report.contestants:
        wanted = standings[found.name]
        for field in ("judged", "correct", "accuracy", "relative_regret", "rank", "efficiency"):
            assert getattr(found.figures, field) == getattr(wanted, field)
    assert report.best == max(report.contestants, key=lambda one: one.accuracy or 0.0).name


def test_questions_and_their_decisions(run: dqa.Run, report: dqa.Report) -> None:
    """Each row of the list equals the decisions of the run."""
    names = (
        *("outcome", "choice", "value", "regret", "relative_regret", "rank", "steps"),
        *("statements", "plans", "error", "ended_by"),
    )
    shown = {
        (one.key, made.database, report.contestants[made.contestant].name, made.epoch): made
        for one in report.questions
        for made in one.decisions
    }
    assert shown.keys() == {result.key for result in run.results}
    for result in run.results:
        made = shown[result.key]
        assert [getattr(made, name) for name in names] == [getattr(result, name) for name in names]
        assert made.tokens == result.usage.tokens
    for row in report.questions:
        judged = [r for r in run.results if r.question == row.key and r.outcome.judged]
        right = [r for r in judged if r.outcome is Outcome.CORRECT]
        assert (row.judged, row.correct) == (len(judged), len(right))


def test_the_same_decider_of_two_runs_is_two_contestants(run_folder: Path, tmp_path: Path) -> None:
    """They differ by their runs, and share the questions."""
    again = tmp_path / "second"
    shutil.copytree(run_folder, again)
    one, both = dqa.read_report(run_folder), dqa.read_report(run_folder, again)
    assert [found.name for found in both.contestants] == [
        f"{name}:{found.name}" for name in ("first", "second") for found in one.contestants
    ]
    assert len(both.questions) == len(one.questions)
    first, second = (both.contestants[place].figures for place in (0, len(one.contestants)))
    assert first.accuracy == second.accuracy == one.contestants[0].figures.accuracy
    record = record_of(again)
    change_record(again, record | {"spec": record["spec"] | {"strict_official": True}})
    with pytest.raises(dqa.UsageError, match="count different answers as right"):
        dqa.read_report(run_folder, again)


def test_a_run_with_changed_questions_explains_the_missing_outcomes(
    run_folder: Path, tmp_path: Path
) -> None:
    """Changed data is never shown as the data of the question."""
    gone = Path(shutil.copytree(run_folder, tmp_path / "gone"))
    change_record(gone, record_of(gone) | {"content_hash": "0" * 64})
    report = dqa.write_report(gone, tmp_path / "page.html")
    assert report.outcomes is not None
    assert "have changed since" in report.outcomes


def test_the_headline_compares_deciders_on_the_same_questions(drawn_run: dqa.Run) -> None:
    """Even if the best decider answered only easy questions that the others were not asked."""

    def headline(*results: Result) -> str:
        return dqa.read_report(dqa.Run(results)).headline

    judged = [one for one in drawn_run.results if one.outcome.judged]
    easy = [one for one in judged if one.question < "locating/2"]
    hard = [one for one in judged if one not in easy and one.decider == "careful"]
    failed = {r.question for r in drawn_run.results if not r.outcome.judged}
    shared = [one for one in easy if one.question not in failed]
    alike, third = headline(*shared), (one.changed(decider="third") for one in hard)
    differing = headline(*shared, *hard)
    assert differing.removesuffix(alike) not in {"", differing}
    assert "careful" not in headline(*shared, *third)
    once = [r for r in judged if r.question not in failed and r.key[1::2] == ("sqlite", 1)]
    alone = tuple(one.changed(situation=one.question) for one in once)
    report = dqa.read_report(dqa.Run(alone))
    (pair,) = (one for one in report.pairs if {one.first, one.second} == {"bold", "careful"})
    assert pair.holm_by_situations != pair.holm_by_questions
    assert f"p = {pair.holm_by_questions:.3f}" in report.headline


def test_a_question_has_the_answer_of_a_judged_decision(drawn_run: dqa.Run) -> None:
    """Even if its first decision crashed."""
    judged = next(one for one in drawn_run.results if one.outcome.judged)
    nothing = {"outcome": Outcome.CRASHED, "choice": None, "official": None, "ties": ()}
    crashed = judged.changed(decider="broken", best_value=None, goal=None, **nothing)
    (row,) = dqa.read_report(dqa.Run((crashed, judged))).questions
    assert (row.official, row.ties, row.tied, row.goal) == ("a", ("a",), 1, "maximise")
