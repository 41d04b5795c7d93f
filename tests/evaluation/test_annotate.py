"""Annotating question sets: best decisions beside official answers."""

from __future__ import annotations

import pytest

from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.truth import Truth
from dqa.evaluation.audit import annotate
from tests.simulators.worlds import economy, world


def mixed() -> QuestionSet:
    """Three questions on two situations, scenarios interleaved."""
    trade = world(
        countries=[("A", "home", 1.0), ("B", "mid", 1.0)],
        nodes=[("mid", 1.0, False), ("far", 1.0, False), ("home", 1.0, False)],
        flows=[("mid", "home")],
        presence=[("home", "A", True, False, 1.0), ("mid", "A", False, False, 1.0),
                  ("mid", "B", True, False, 1.0)],
        name="trade",
    )  # fmt: skip
    works = economy(
        goods=[(0, 20.0, 5.0)],
        buildings=[(1, 5), (2, 5)],
        supply=[(0, 2, 4.0, 1.0)],
        demand=[],
        name="works",
    )
    a, b = {"country": "A", "home": "home"}, {"country": "B", "home": "mid"}
    return QuestionSet(
        "mixed",
        (
            Question("locating", "1", "", "", "trade", a),
            Question("building", "1", "", "", "works", {"goods": "goods0"}),
            Question("locating", "2", "", "", "trade", b),
        ),
        {"trade": trade, "works": works},
        truths={"locating/1": Truth(("mid",)), "building/1": Truth((2,))},
    )


def test_ties_margin_and_agreement() -> None:
    """A unique best agrees; of ties only the first does; without a label nothing is said."""
    annotations = annotate(mixed(), "paper")
    asked = [(a.scenario, a.question) for a in annotations]
    assert asked == [("locating", 1), ("building", 1), ("locating", 2)]
    first, second, third = annotations
    assert (first.answer, first.ties, first.agrees) == ("mid", ("mid",), True)
    assert first.margin > 0
    # A building without inputs keeps its output, so neither expansion changes anything.
    assert (second.answer, second.ties, second.margin) == (1, (1, 2), 0.0)
    assert second.agrees is False
    assert third.official is None
    assert third.agrees is None


def test_a_scenario_without_simulator_is_named() -> None:
    """A user's own question has no ground truth here."""
    question = Question("custom", "1", "", "", "trade")
    with pytest.raises(UsageError, match="'custom' has no simulator"):
        annotate(QuestionSet("own", (question,), mixed().situations), "paper")
