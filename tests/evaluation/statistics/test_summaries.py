"""Accuracy, its interval, and what is left out of it."""

from __future__ import annotations

import pytest

from dqa.evaluation.results import Outcome
from dqa.evaluation.statistics.clusters import normalised_utility
from dqa.evaluation.statistics.summaries import summarise
from tests.evaluation.statistics.results import result


def test_infrastructure_failures_are_counted_but_not_judged() -> None:
    """Accuracy is correct over questions without those that a failing server ended."""
    outcomes = [Outcome.CORRECT, Outcome.WRONG, Outcome.STEP_LIMIT, Outcome.INFRASTRUCTURE]
    (row,) = summarise(result(n, outcome) for n, outcome in enumerate(outcomes))
    line = row.to_json()
    assert (row.questions, row.judged) == (4, 3)
    assert row.accuracy == pytest.approx(1 / 3)
    assert (line["wrong"], line["step_limit"], line["infrastructure"]) == (1, 1, 1)
    assert row.mean_tokens == 12.0
    assert row.mean_steps == 1.0


def test_normalised_utility_is_the_share_of_the_best() -> None:
    """A loss is below 0; where the best is no gain, only the best counts; no choice is 0."""
    for value, best, share in (
        (3.0, 4.0, 0.75),
        (-1.0, 4.0, -0.25),
        (None, 4.0, 0.0),
        (0.0, 0.0, 1.0),
        (-2.0, 0.0, 0.0),
        (-1.0, -1.0, 1.0),
        (-2.0, -1.0, 0.0),
        (None, -1.0, 0.0),
    ):
        assert normalised_utility(value, best) == share


def test_judged_questions_without_a_choice_have_no_utility() -> None:
    """They count as 0; what a failing server ended does not count."""
    ended = {
        Outcome.CORRECT: 4.0,
        Outcome.WRONG: 1.0,
        Outcome.NO_CANDIDATE: None,
        Outcome.UNPARSABLE: None,
        Outcome.INFRASTRUCTURE: None,
    }
    results = [
        result(1, outcome).changed(value=value, best_value=4.0, baseline=0.0, goal="maximise")
        for outcome, value in ended.items()
    ]
    (row,) = summarise(results)
    assert row.normalised_utility == pytest.approx(1.25 / 4)
    (row,) = summarise(each.changed(best_value=-1.0, value=-1.0) for each in results[:2])
    assert row.normalised_utility == 1.0


def test_ties_and_the_official_label_are_counted_side_by_side() -> None:
    """Whatever the run counted as right; a question without an official answer has its ties."""
    tied = result(1, Outcome.CORRECT).changed(choice="b", ties=("a", "b"), official="a")
    alone = result(2, Outcome.CORRECT).changed(choice="a", ties=("a",), official="a")
    mine = result(3, Outcome.CORRECT).changed(choice="a", ties=("a", "c"), official=None)
    failed = result(4, Outcome.INFRASTRUCTURE).changed(official="a")
    mislabelled = result(5, Outcome.WRONG).changed(choice="x", ties=("a",), official="x")
    (row,) = summarise([tied, alone, mine, failed, mislabelled])
    assert (row.judged, row.with_ties, row.by_label) == (4, 3, 3)
