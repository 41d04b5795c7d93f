"""Decisions are judged by the simulator, by ties and by the official answer."""

from __future__ import annotations

from dataclasses import replace

from dqa import plugins
from dqa.core.decision import Decision, Ending
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.truth import Truth
from dqa.evaluation.results import Outcome
from dqa.evaluation.score import Judge
from dqa.loaders.generator.generate import generate


def answered(text: object) -> Decision:
    """Return a decision that ended with these words."""
    return Decision(Ending.ANSWERED, answer=str(text))


def best_of(questions: QuestionSet, question: Question) -> object:
    """Return the official answer."""
    return questions.truth_of(question).official


def outcomes_of(questions: QuestionSet, question: Question) -> Outcomes:
    """Simulate a question directly."""
    situation = questions.situation_of(question)
    return plugins.simulator(question.scenario).outcomes(situation, [question], "paper")[0]


def test_the_best_candidate_is_right_and_gives_nothing_away(questions: QuestionSet) -> None:
    """A right decision has rank 1 and no regret, in both scenarios."""
    judge = Judge(questions, "paper")
    for question in questions.questions:
        outcomes = outcomes_of(questions, question)
        verdict = judge.judge(question, answered(best_of(questions, question)))
        assert verdict.outcome is Outcome.CORRECT
        assert (verdict.regret, verdict.relative_regret, verdict.rank) == (0.0, 0.0, 1)
        for decided in (verdict, judge.judge(question, answered("I cannot tell"))):
            known = (decided.best_value, decided.baseline, decided.goal)
            assert known == (outcomes.best, outcomes.baseline, outcomes.goal)


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
        assert verdict.value == outcomes.value(wrong) != verdict.best_value


def test_the_rules_decide_unless_only_the_official_answer_counts(questions: QuestionSet) -> None:
    """What is best under the named rules is right, whatever the label; strictly, only the label."""
    question = questions.questions[0]
    best = best_of(questions, question)
    other = next(c for c in question.candidates or () if c != best)
    changed = replace(questions, truths={**questions.truths, question.key: Truth((other,))})
    loose, strict = Judge(changed, "paper"), Judge(changed, "paper", strict_official=True)
    assert loose.judge(question, answered(best)).outcome is Outcome.CORRECT
    assert loose.judge(question, answered(other)).outcome is Outcome.WRONG
    assert strict.judge(question, answered(best)).outcome is Outcome.WRONG
    assert strict.judge(question, answered(other)).outcome is Outcome.CORRECT


def test_a_run_without_an_answer_keeps_its_ending(questions: QuestionSet) -> None:
    """A step limit, an unreadable reply or a failing server is never a wrong answer."""
    judge = Judge(questions, "paper")
    without = judge.judge(questions.questions[0], Decision(Ending.NO_EVIDENCE))
    assert without.outcome is Outcome.NO_DECISION
    for ending in set(Ending) - {Ending.ANSWERED, Ending.NO_EVIDENCE}:
        verdict = judge.judge(questions.questions[0], Decision(ending))
        assert (verdict.outcome.value, verdict.choice) == (ending.value, None)


def test_without_a_simulator_the_known_answers_decide() -> None:
    """A scenario of a user's own is judged by its answers, without regret."""
    question = Question("custom", "1", "?", "", candidates=("a1", "b1"))
    judge = Judge(QuestionSet("own", (question,), {}, truths={question.key: Truth(("b1",))}))
    verdict = judge.judge(question, answered("b1"))
    assert (verdict.outcome, verdict.regret) == (Outcome.CORRECT, None)
    assert (verdict.value, verdict.best_value, verdict.baseline, verdict.goal) == (None,) * 4
    assert judge.judge(question, answered("a1")).outcome is Outcome.WRONG


def test_without_candidates_a_name_beside_its_id_is_right() -> None:
    """Models give both where nothing lists what can be chosen; with candidates it is two."""
    question = Question("custom", "1", "From whom do we buy?", "")
    truths = {question.key: Truth(("Vendor P16", 7016))}
    judge = Judge(QuestionSet("own", (question,), {}, truths=truths))
    for answer, outcome in {
        "7016": Outcome.CORRECT,
        "Vendor P16 (7016)": Outcome.CORRECT,
        "neither Vendor P16 nor 7016": Outcome.AMBIGUOUS,
        "Vendor B28": Outcome.NO_CANDIDATE,
    }.items():
        assert judge.judge(question, answered(answer)).outcome is outcome
    listed = replace(question, candidates=("Vendor P16", 7016))
    assert judge.judge(listed, answered("Vendor P16 (7016)")).outcome is Outcome.AMBIGUOUS


def test_where_nothing_tells_what_is_right_a_decision_is_not_judged() -> None:
    """Whether it has an answer or none; only what a failure ended is asked again."""
    question = Question("custom", "1", "?", "", candidates=("a1", "b1"))
    judge = Judge(QuestionSet("own", (question,), {}))
    verdict = judge.judge(question, Decision(Ending.ANSWERED, answer="a1", choice="a1"))
    assert (verdict.outcome, verdict.choice) == (Outcome.UNLABELLED, "a1")
    assert not verdict.outcome.judged
    assert not verdict.outcome.repeated
    assert judge.judge(question, Decision(Ending.STEP_LIMIT)).outcome is Outcome.UNLABELLED
    failed = judge.judge(question, Decision(Ending.INFRASTRUCTURE)).outcome
    assert failed is Outcome.INFRASTRUCTURE
    assert failed.repeated


def test_recorded_outcomes_judge_where_there_is_no_simulator() -> None:
    """Ties, regret, rank and value come of the record, and doing nothing is worth nothing."""
    questions = generate(("agriculture",), 1, seed=4)
    question = replace(questions.questions[0], candidates=("worst", "best", "middle", "as_good"))
    truth = Truth(("best",), (2.0, 8.0, 6.0, 8.0))
    judge = Judge(replace(questions, questions=(question,), truths={question.key: truth}))
    right = judge.judge(question, answered("as_good"))
    assert (right.outcome, right.ties) == (Outcome.CORRECT, ("best", "as_good"))
    assert (right.regret, right.rank, right.value, right.best_value) == (0.0, 1, 8.0, 8.0)
    wrong = judge.judge(question, answered("middle"))
    assert (wrong.outcome, wrong.official) == (Outcome.WRONG, "best")
    assert (wrong.regret, wrong.relative_regret, wrong.rank) == (2.0, 0.25, 3)
    assert (wrong.value, wrong.baseline, wrong.goal) == (6.0, 0.0, "maximise")
    unanswered = judge.judge(question, answered("I cannot tell"))
    assert (unanswered.value, unanswered.best_value) == (None, 8.0)
