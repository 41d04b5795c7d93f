"""Baselines need no model, and the oracle is right wherever it is asked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dqa import plugins
from dqa.core.decider import Decider, UpperBound
from dqa.core.decision import Ending
from dqa.core.errors import UsageError
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.truth import Truth
from dqa.deciders.base import Settings
from dqa.deciders.baselines import FIRST, ORACLE, RANDOM
from dqa.loaders.generator.generate import generate


def told(truths: Mapping[str, Truth]) -> Decider:
    """The oracle that knows what is on record."""
    oracle = ORACLE(None, Settings())
    assert isinstance(oracle, UpperBound)
    return oracle.with_truths(truths)


@pytest.mark.parametrize("database", ["sqlite", "ladybug"])
def test_the_oracle_reads_the_answer_out_of_any_database(
    questions: QuestionSet, database: str
) -> None:
    """What the writer wrote is read back whole, so simulating it gives the known answer."""
    decider = ORACLE(None, Settings())
    for question in questions.questions:
        opened = plugins.backend(database).load(questions.situation_of(question))
        try:
            assert decider.decide(question, opened).choice == questions.truth_of(question).official
        finally:
            opened.close()


def test_the_oracle_goes_by_the_rules_that_judge(release: QuestionSet) -> None:
    """If the rule sets disagree, it returns the best answer of its own rule set."""
    simulator = plugins.simulator("locating")
    apart = 0
    for question in release.select(("locating",), 40).questions:
        situation = release.situation_of(question)
        best = {
            rules: simulator.outcomes(situation, [question], rules)[0].answer
            for rules in ("released", "paper")
        }
        if best["released"] == best["paper"]:
            continue
        apart += 1
        database = plugins.backend("sqlite").load(situation)
        for rules, answer in best.items():
            assert ORACLE(None, Settings(rules=rules)).decide(question, database).choice == answer
        database.close()
    assert apart


@pytest.mark.parametrize("scenario", ["agriculture", "stocks"])
def test_the_oracle_goes_by_the_record_where_there_is_one(scenario: str) -> None:
    """No scenario of a record has a simulator."""
    for question in (made := generate((scenario,), 2, 3)).questions:
        database = plugins.backend("sqlite").load(made.situation_of(question))
        oracle = told(made.truths)
        oracle.check(question)
        assert oracle.decide(question, database).choice == made.truth_of(question).official
        database.close()


def test_baselines_refuse_before_a_run_what_they_can_never_decide() -> None:
    """Without candidates nothing can be picked, and without a record or rules nothing judged."""
    (question,) = (recorded := generate(("stocks",), 1, 3)).questions
    for decider in (FIRST(None, Settings()), RANDOM(None, Settings()), told(recorded.truths)):
        decider.check(question)
        with pytest.raises(UsageError):
            decider.check(Question("custom", "1", "?", ""))
    with pytest.raises(UsageError, match="no simulator"):
        ORACLE(None, Settings()).check(question)


@pytest.mark.parametrize("name", ["oracle", "source-most-value"])
def test_a_failing_database_is_an_infrastructure_failure(questions: QuestionSet, name: str) -> None:
    """The run ends with the reason instead of an answer."""
    question = questions.questions[0]
    database = plugins.backend("sqlite").load(questions.situation_of(question))
    database.close()
    decision = plugins.decider(name)(None, Settings()).decide(question, database)
    assert decision.ending is Ending.INFRASTRUCTURE
    assert decision.error
