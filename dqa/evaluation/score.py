"""Judge decisions: right or wrong, and the loss of a wrong decision.

A decision is right if its choice is a best candidate under the rules of the simulator. With
strict scoring, only the official answer is right. If there is no simulator, recorded outcomes are
used instead. If there are no outcomes, the known answers are right. A statement is right if its
rows match the rows of a gold statement (`dqa.evaluation.execution`). Decisions that ended
with a server error, and questions without a known answer, are not judged (`Outcome.judged`).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from math import isfinite

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decision import Decision, Ending
from dqa.core.errors import InvalidAnswerError, UnknownNameError, UsageError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.truth import MatchRule
from dqa.deciders.answers import choice_in
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.execution import compare_statements
from dqa.evaluation.results import Goal, Outcome, PlayedGame
from dqa.evaluation.statistics.summaries import grouped


def usual_rules(questions: QuestionSet) -> str | None:
    """Return the rule set that a question set names, or None if a scenario's simulator lacks it."""
    simulated = {q.scenario for q in questions.questions} & set(plugins.names("simulator"))
    named = questions.rule_set
    return named if all(named in plugins.simulator(n).rule_sets for n in simulated) else None


def has_record(questions: QuestionSet, question: Question) -> bool:
    """Return whether the outcomes of a question were recorded from the user's own database."""
    return questions.has_location(question) and questions.truth_of(question).outcomes is not None


def simulated_rules(questions: QuestionSet, rule_set: str | None = None) -> dict[str, str]:
    """Return the name of the rule set for each scenario that has a simulator.

    Raises
    ------
    UnknownNameError
        A scenario's simulator has no such rule set.
    """
    rule_set = rule_set or usual_rules(questions)
    scenarios = {question.scenario for question in questions.questions}
    found = {}
    for name in sorted(scenarios.intersection(plugins.names("simulator"))):
        known = plugins.simulator(name).rule_sets
        if rule_set is not None and rule_set not in known:
            kind = f"rule set of scenario '{name}' with the name"
            raise UnknownNameError(kind, rule_set, known)
        found[name] = rule_set or known[0]
    return found


@dataclass(frozen=True, slots=True)
class Assessment:
    """The value of a decision.

    Attributes
    ----------
    outcome
        The outcome of the decision.
    choice
        The chosen candidate; None if the decision has no choice.
    official
        The official answer; None if the question has no official answer.
    ties
        The best candidates by the simulator or the recorded outcomes; without outcomes, the known
        answers.
    regret, relative_regret, rank
        See `Outcomes`. None if the value is infinite, the decision has no choice, or outcomes are
        unknown.
    value
        The outcome of the choice, in the scenario's unit. None if there is no choice, or if
        outcomes are unknown.
    best_value, baseline, goal
        See `Outcomes`; None if outcomes are unknown. The baseline of recorded outcomes is 0. If
        such outcomes are maximised, ``value / best_value`` is DeLLMa's normalised utility (appendix
        B).
    match
        The rule for comparing rows, if the answer is a statement.
    problem
        The reason why the answer or a gold statement returns no comparable rows.
    official_metrics
        The metrics of the benchmark's own evaluation, by name.
    game
        The record of a game.
    """

    outcome: Outcome
    choice: Candidate | None = None
    official: Candidate | None = None
    ties: tuple[Candidate, ...] = ()
    regret: float | None = None
    relative_regret: float | None = None
    rank: int | None = None
    value: float | None = None
    best_value: float | None = None
    baseline: float | None = None
    goal: Goal | None = None
    match: MatchRule | None = None
    problem: str | None = None
    official_metrics: dict[str, float] = field(default_factory=dict)
    game: PlayedGame | None = None

    @classmethod
    def of_ending(cls, decision: Decision, game: PlayedGame | None = None) -> Assessment:
        """Return the assessment of a decision that ended without an answer."""
        return cls(_outcome_of(decision), game=game)


def _outcome_of(decision: Decision) -> Outcome:
    """Return the outcome of a decision that ended without an answer."""
    no_evidence = decision.ending is Ending.NO_EVIDENCE
    return Outcome.NO_DECISION if no_evidence else Outcome(decision.ending.value)


class Judge:
    """Judges the decisions on one question set. Several threads may share it.

    Parameters
    ----------
    questions
        The questions of the run.
    rule_set
        The name of a rule set of the simulators. By default, it is the rule set that the question
        set names. If the question set names none, it is the first rule set of each simulator.
    strict_official
        Whether only the official answer is right.
    r_ves
        The number of time measurements for BIRD's R-VES; 0 measures nothing.

    Raises
    ------
    UnknownNameError
        A scenario's simulator has no such rule set.
    UsageError
        `strict_official` is set, but some questions have statements as answers.
    """

    def __init__(
        self,
        questions: QuestionSet,
        rule_set: str | None = None,
        strict_official: bool = False,
        r_ves: int = 0,
    ) -> None:
        self._set = questions
        self._repetitions = r_ves
        self._strict = strict_official
        if strict_official and any(q.answer_form == "statement" for q in questions.questions):
            raise UsageError(
                "strict_official (--strict-official) does not apply to questions whose answers "
                "are statements: leave it out."
            )
        self._rules = simulated_rules(questions, rule_set)
        simulated = (
            question
            for question in questions.questions
            if question.scenario in self._rules
            and questions.has_data_of(question)
            and question.answer_form != "statement"
            and not has_record(questions, question)
        )
        groups = grouped(simulated, lambda question: (question.scenario, question.situation))
        self._simulated = {q.key: tuple(group) for group in groups.values() for q in group}
        self._outcomes: dict[str, Outcomes] = {}
        self._lock = threading.Lock()

    def unchosen(self, question: Question) -> Assessment:
        """Return the assessment of a question for which the decider chose nothing."""
        truth, outcomes = self._set.truth_of(question), self.outcomes_of(question)
        known = Assessment(Outcome.NO_CANDIDATE, official=truth.official, ties=truth.answers)
        if outcomes is None:
            return known
        return replace(
            known,
            ties=outcomes.ties,
            best_value=outcomes.best,
            baseline=outcomes.baseline,
            goal=outcomes.goal,
        )

    def judge(
        self, question: Question, decision: Decision, database: Database | None = None
    ) -> Assessment:
        """Judge a decision. The outcome is `UNLABELLED` if the right answer is unknown.

        Parameters
        ----------
        question, decision
            The question and the decision about it.
        database
            The database of the question. Required only if the answer is a statement.
        """
        if question.answer_form == "statement":
            return self._judge_statement(question, decision, database)
        outcomes, unchosen = self.outcomes_of(question), self.unchosen(question)
        is_answered = decision.ending is Ending.ANSWERED
        if not unchosen.ties and (is_answered or not _outcome_of(decision).repeated):
            return replace(unchosen, outcome=Outcome.UNLABELLED, choice=decision.choice)
        if not is_answered:
            return replace(unchosen, outcome=_outcome_of(decision))
        candidates = question.candidates or (outcomes.candidates if outcomes else unchosen.ties)
        # If only the right answers are known, the answer may contain a candidate's name and id.
        only_right = outcomes is None and not question.candidates
        try:
            choice = choice_in(decision, question, candidates, equally_good=only_right)
        except InvalidAnswerError as error:
            outcome = Outcome.AMBIGUOUS if error.named else Outcome.NO_CANDIDATE
            return replace(unchosen, outcome=outcome)
        judged = self._chosen(choice, unchosen, outcomes)
        is_forbidden = choice in self._set.truth_of(question).forbidden
        return replace(judged, outcome=Outcome.FORBIDDEN) if is_forbidden else judged

    def _judge_statement(
        self, question: Question, decision: Decision, database: Database | None
    ) -> Assessment:
        """Judge a statement by its rows.

        All statements with the right rows are equally good, so there is no official answer.
        """
        truth = self._set.truth_of(question)
        known = Assessment(Outcome.NO_CANDIDATE, ties=truth.answers, match=truth.match)
        if decision.ending is not Ending.ANSWERED:
            outcome = _outcome_of(decision)
            is_unlabelled = not truth.is_known and not outcome.repeated
            return replace(known, outcome=Outcome.UNLABELLED if is_unlabelled else outcome)
        statement = str(decision.answer if decision.choice is None else decision.choice)
        decided = replace(known, choice=statement, outcome=Outcome.UNLABELLED)
        if not truth.is_known:
            return decided
        if database is None:
            raise UsageError(
                f"A statement for '{question.key}' cannot be scored without the question's "
                "database: give the database."
            )
        found = compare_statements(database, question, truth, statement, self._repetitions)
        decided = replace(decided, problem=found.problem, official_metrics=dict(found.metrics))
        if found.right is None:
            return decided
        if not found.right:
            return replace(decided, outcome=Outcome.WRONG)
        ties = tuple(dict.fromkeys((*truth.answers, statement)))
        return replace(decided, outcome=Outcome.CORRECT, ties=ties)

    def _chosen(self, choice: Candidate, rest: Assessment, outcomes: Outcomes | None) -> Assessment:
        only_official = self._strict and rest.official is not None
        right = choice == rest.official if only_official else choice in rest.ties
        judged = replace(rest, outcome=Outcome.CORRECT if right else Outcome.WRONG, choice=choice)
        if outcomes is None:
            return judged
        share = outcomes.relative_regret(choice)
        return replace(
            judged,
            regret=outcomes.regret(choice),
            relative_regret=share if share is not None and isfinite(share) else None,
            rank=outcomes.rank(choice),
            value=outcomes.value(choice),
        )

    def outcomes_of(self, question: Question) -> Outcomes | None:
        """Return the outcomes of a question; None if they are unknown.

        The first call for a situation simulates all questions about it.
        """
        group = self._simulated.get(question.key)
        if group is None:
            return recorded_outcomes(question, self._set.truth_of(question))
        with self._lock:
            if question.key not in self._outcomes:
                situation, rules = self._set.situation_of(question), self._rules[question.scenario]
                found = plugins.simulator(question.scenario).outcomes(situation, group, rules)
                self._outcomes |= {q.key: one for q, one in zip(group, found, strict=True)}
        return self._outcomes[question.key]
