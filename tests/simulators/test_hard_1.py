"""The set ``hard-1`` is reproducible to the byte and resistant to heuristics.

Each question has one sure answer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from benchmarks.make_set import read_plan
from dqa import plugins
from dqa.core.question_set import QuestionSet
from dqa.evaluation.shortcuts import measure_shortcuts
from dqa.loaders.sets import SetManifest, read_set

SCENARIOS = ("locating", "building")


def manifest() -> SetManifest:
    """Return the manifest of the set."""
    path = plugins.question_set("hard-1") / "manifest.json"
    return SetManifest.model_validate(json.loads(path.read_text("utf-8")))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("the first", marks=pytest.mark.slow),
        pytest.param("the whole", marks=pytest.mark.deep),
    ],
)
def hard(request: pytest.FixtureRequest) -> QuestionSet:
    """Read the first questions of each scenario, or the whole set; both are checked against its
    hashes.
    """
    return read_set("hard-1", limit=8 if request.param == "the first" else None)


@pytest.fixture(scope="module")
def few(hard: QuestionSet) -> QuestionSet:
    """Return the questions about one world of each scenario and size."""
    first: dict[tuple[str, int], str] = {}
    for question in hard.questions:
        key = question.scenario, hard.situation_of(question).row_count // 1000
        first.setdefault(key, question.situation)
    chosen = tuple(question for question in hard.questions if question.situation in first.values())
    return replace(hard, questions=chosen)


def test_the_manifest_stays_the_same() -> None:
    """Its hash pins worlds, questions, answers and files."""
    text = (plugins.question_set("hard-1") / "manifest.json").read_bytes()
    assert hashlib.sha256(text).hexdigest()[:16] == "8a08f8ec7f8ac042"


def check_sure(questions: QuestionSet) -> None:
    """Check that each answer leads by more than rounding, and by 1 % under the labels' rules."""
    label_rules = manifest().label_rules
    for question in questions.questions:
        situation = questions.situation_of(question)
        simulator = plugins.simulator(question.scenario)
        assert set(label_rules) <= set(simulator.rule_sets)
        for rules in simulator.rule_sets:
            outcome = simulator.outcomes(situation, [question], rules)[0]
            assert outcome.ties == questions.truth_of(question).answers
            assert outcome.margin > 1e-6 * abs(outcome.best)
            assert not outcome.decided_by_last_bit
            if rules == label_rules[0]:
                assert outcome.baseline is not None
                assert outcome.margin >= 0.01 * abs(outcome.best - outcome.baseline)


def test_answers_are_sure_under_every_rule_set(few: QuestionSet) -> None:
    """No other candidate ties with an answer."""
    check_sure(few)


def test_every_shipped_heuristic_is_resisted(few: QuestionSet) -> None:
    """The plan names all heuristics of both scenarios, and none is right."""
    shipped = {h.name for name in SCENARIOS for h in plugins.scenario(name).heuristics}
    assert set(read_plan("hard-1").resist) == shipped
    found = [one for one in measure_shortcuts(few) if one.name in shipped]
    assert {one.name for one in found} == shipped
    assert {one.right for one in found} == {0}
