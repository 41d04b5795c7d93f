"""Audit and annotate official labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.truth import Truth
from dqa.evaluation.audit import (
    BY_TEXT,
    DATA_DEFECT,
    EVERY,
    NONE,
    TIE,
    ReleaseAudit,
    annotate,
    audit,
)
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


def test_recorded_outcomes_need_no_simulator() -> None:
    """The best candidate of a user's own database is the best one recorded, by no rule set."""
    question = Question("custom", "1", "", "", "sales", candidates=("a", "b"))
    truths = {"custom/1": Truth(("b",), (1.0, 2.0))}
    own = QuestionSet("own", (question,), {}, truths=truths, locations={"sales": "sales.db"})
    (found,) = annotate(own)
    assert (found.answer, found.value, found.margin, found.rule_set) == ("b", 2.0, 1.0, "")
    assert found.agrees
    (label,) = audit(own).labels
    assert (label.verdict, label.best) == (EVERY, {"": "b"})


@pytest.fixture(scope="module")
def shared(release: QuestionSet) -> ReleaseAudit:
    """The audit of the release."""
    return audit(release)


def labelled(*answers: str | int) -> QuestionSet:
    """The mixed set with other official answers."""
    questions = mixed()
    asked = questions.questions[: len(answers)]
    truths = {q.key: Truth((answer,)) for q, answer in zip(asked, answers, strict=True)}
    return replace(questions, questions=asked, truths=truths)


def test_verdicts_of_small_labels() -> None:
    """Agreement, a tie, a wrong label and a label that is no candidate are told apart."""
    assert [label.verdict for label in audit(labelled("mid", 1)).labels] == [EVERY, TIE]
    wrong, other_tie = audit(labelled("far", 2)).labels
    assert wrong.verdict == NONE
    assert wrong.rank["paper"] == 2
    assert (other_tie.verdict, other_tie.agrees["released"]) == (TIE, False)
    (defect,) = audit(labelled("atlantis")).labels
    assert defect.verdict == DATA_DEFECT
    assert "atlantis" in defect.reason
    missing = audit(mixed()).labels[2]
    assert (missing.verdict, missing.official) == (DATA_DEFECT, None)


RESTS = "rests on"


@pytest.mark.parametrize(
    ("best_under", "verdict"),
    [
        ({"released", "clean", "paper"}, EVERY),
        ({"clean", "paper"}, BY_TEXT),
        ({"released", "clean"}, f"{RESTS} the program's inland bonus"),
        ({"released"}, f"{RESTS} double counting"),
        (set(), NONE),
    ],
)
def test_verdicts_name_what_a_label_rests_on(
    monkeypatch: pytest.MonkeyPatch, best_under: set[str], verdict: str
) -> None:
    """What the rule sets under which it is best count by, and the others do not."""

    def simulated(asked: QuestionSet, rules: str) -> list[Outcomes]:
        values = np.array([2.0, 1.0] if rules in best_under else [1.0, 2.0])
        return [Outcomes(("mid", "far"), values, "maximise", 0.5) for _ in asked.questions]

    monkeypatch.setattr("dqa.evaluation.audit.simulate_all", simulated)
    (label,) = audit(labelled("mid")).labels
    assert label.verdict == verdict
    for name in ("released", "clean", "paper"):
        assert label.agrees[name] is (name in best_under)
        assert (f"Under {name}, the label is best." in label.reason) is (name in best_under)
        assert (f"Under {name}, far is best" in label.reason) is (name not in best_under)


AGREEING = {
    150: {"released": 150, "clean": 133, "paper": 128},
    200: {"released": 200, "clean": 178, "paper": 173},
    74: {"released": 74, "paper": 68},
    101: {"released": 101, "paper": 94},
}
"""By the labels of a scenario in a copy of the release, those that agree with each rule set."""


def test_the_labels_of_the_release_rest_on_what_was_found(shared: ReleaseAudit) -> None:
    """Every label agrees under `released`; the text's bonus clears some and costs seven."""
    for totals in shared.totals:
        assert totals.agree == AGREEING[totals.labels]
        assert sum(totals.verdicts.values()) == totals.labels
    locating, building = shared.totals
    assert locating.decided_by_last_bit == 0
    assert locating.verdicts[BY_TEXT] == {150: 2, 200: 3}[locating.labels]
    assert locating.verdicts["rests on the program's inland bonus"] == 7
    assert locating.agree["paper"] - locating.agree["clean"] == locating.verdicts[BY_TEXT] - 7
    found = {label.question for label in shared.labels if label.decided_by_last_bit}
    assert {"25", "30", "40", "71", "126"} <= found <= {"25", "30", "40", "71", "73", "126"}
    assert building.ties == building.decided_by_last_bit == len(found)
