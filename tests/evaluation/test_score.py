"""Decisions are judged by the simulator, by ties and by the official answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dqa import plugins
from dqa.decision import Decision, Ending
from dqa.errors import DataError, UnknownNameError
from dqa.evaluation.score import Judge, Outcome
from dqa.question import Question, QuestionSet
from dqa.simulator import Outcomes


def answered(text: object) -> Decision:
    """Return a decision that ended with these words."""
    return Decision(Ending.ANSWERED, answer=str(text))


def outcomes_of(questions: QuestionSet, question: Question) -> Outcomes:
    """Simulate a question directly."""
    situation = questions.situation_of(question)
    return plugins.simulator(question.scenario).outcomes(situation, [question], "paper")[0]


def test_the_best_candidate_is_right_and_gives_nothing_away(questions: QuestionSet) -> None:
    """A right decision has rank 1 and no regret, in both scenarios."""
    judge = Judge(questions, "paper")
    for question in questions.questions:
        verdict = judge.judge(question, answered(question.answers[0]))
        assert verdict.outcome is Outcome.CORRECT
        assert (verdict.regret, verdict.relative_regret, verdict.rank) == (0.0, 0.0, 1)


def test_a_wrong_candidate_has_the_simulators_regret_and_rank(questions: QuestionSet) -> None:
    """What a wrong decision gives away is what the simulator says."""
    judge = Judge(questions, "paper")
    for question in questions.questions:
        outcomes = outcomes_of(questions, question)
        wrong = next(c for c in outcomes.candidates if c not in outcomes.ties)
        verdict = judge.judge(question, answered(wrong))
        assert verdict.outcome is Outcome.WRONG
        assert verdict.regret == outcomes.regret(wrong) > 0.0
        assert verdict.rank == outcomes.rank(wrong) > 1


def test_the_rules_decide_unless_only_the_official_answer_counts(questions: QuestionSet) -> None:
    """What is best under the named rules is right, whatever the label; strictly, only the label."""
    question = questions.questions[0]
    best = question.answers[0]
    other = next(c for c in question.candidates or () if c != best)
    moved = replace(question, answers=(other,))
    changed = replace(questions, questions=(moved, *questions.questions[1:]))
    loose, strict = Judge(changed, "paper"), Judge(changed, "paper", strict_official=True)
    assert loose.judge(moved, answered(best)).outcome is Outcome.CORRECT
    assert loose.judge(moved, answered(other)).outcome is Outcome.WRONG
    assert strict.judge(moved, answered(best)).outcome is Outcome.WRONG
    assert strict.judge(moved, answered(other)).outcome is Outcome.CORRECT


def test_answers_that_name_none_or_several_are_told_apart(questions: QuestionSet) -> None:
    """Neither is wrong: each is an outcome of its own."""
    question = questions.questions[0]
    first, second = (question.candidates or ())[:2]
    judge = Judge(questions, "paper")
    assert judge.judge(question, answered("I cannot tell")).outcome is Outcome.NO_CANDIDATE
    assert judge.judge(question, answered(f"{first} or {second}")).outcome is Outcome.AMBIGUOUS


@pytest.mark.parametrize("ending", [e for e in Ending if e is not Ending.ANSWERED])
def test_a_run_without_an_answer_keeps_its_ending(questions: QuestionSet, ending: Ending) -> None:
    """A step limit, an unreadable reply or a failing server is never a wrong answer."""
    verdict = Judge(questions, "paper").judge(questions.questions[0], Decision(ending))
    assert verdict.outcome.value == ending.value
    assert verdict.choice is None


def test_without_a_simulator_the_known_answers_decide() -> None:
    """A scenario of a user's own is judged by its answers, without regret."""
    question = Question("custom", "1", "?", "", candidates=("a1", "b1"), answers=("b1",))
    judge = Judge(QuestionSet("own", (question,), {}))
    verdict = judge.judge(question, answered("b1"))
    assert (verdict.outcome, verdict.regret) == (Outcome.CORRECT, None)
    assert judge.judge(question, answered("a1")).outcome is Outcome.WRONG
    unknown = replace(question, answers=())
    with pytest.raises(DataError, match="custom/1"):
        judge.judge(unknown, answered("a1"))


def test_unknown_rules_are_refused_at_once(questions: QuestionSet) -> None:
    """The message lists the rule sets there are."""
    with pytest.raises(UnknownNameError, match="paper, released"):
        Judge(questions, "fair")
