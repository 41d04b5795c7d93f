"""Ground truth of a question set: the best decisions of every question under a rule set."""

from __future__ import annotations

from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.executors import open_mapper
from dqa.evaluation.options import DEFAULT_ENGINE, EngineOptions
from dqa.evaluation.score import Simulation, has_record, rules_of, simulations, usual_rules


class Annotation(Record):
    """The best decisions of a question under a rule set, and the official answer.

    Attributes
    ----------
    scenario, question
        The question's scenario and id; a numeric id is a number, as in the release.
    rule_set
        The rule set.
    answer
        The best candidate to the last bit; the first of equal ones in table order.
    ties
        Every candidate that is as good up to rounding, in table order.
    value
        The profit or price of the answer, in the scenario's unit.
    margin
        How much better the best is than the best one not tied with it; 0 if all tie.
    official
        The official answer, or None.
    agrees
        Whether the official answer is `answer`, as in the release; None without one.
    decided_by_last_bit
        Whether rounding decides among the ties.
    """

    scenario: str
    question: int | str
    rule_set: str
    answer: Candidate
    ties: tuple[Candidate, ...] = Field(min_length=1)
    value: float
    margin: float = Field(ge=0)
    official: Candidate | None
    agrees: bool | None
    decided_by_last_bit: bool


def simulate_all(
    question_set: QuestionSet,
    rule_set: str | None = None,
    *,
    options: EngineOptions = DEFAULT_ENGINE,
) -> list[Outcomes]:
    """Return the outcomes of every question, in order; each situation is simulated once.

    Parameters
    ----------
    question_set
        Questions of scenarios that have a simulator.
    rule_set
        The rule set; None for that of the set, or else the first of a simulator.
    options
        Where situations are simulated.

    Raises
    ------
    UsageError
        A question has no simulator and no recorded outcomes.
    UnknownNameError
        A scenario without a simulator, a rule set that it does not have, an unknown situation.
    SituationError
        A situation that breaks the rules of its scenario.
    InfrastructureError
        A cluster cannot be reached, or has no room.
    """
    groups = simulations(question_set, rule_set)
    simulated = {question.key for group in groups for question in group.questions}
    found: dict[str, Outcomes] = {}
    for question in question_set.questions:
        if question.key not in simulated:
            found[question.key] = _recorded(question_set, question)
    with open_mapper(options) as mapper:
        for outcomes in mapper.map(Simulation.outcomes, groups):
            found |= outcomes
    return [found[question.key] for question in question_set.questions]


def _recorded(question_set: QuestionSet, question: Question) -> Outcomes:
    """Return the recorded outcomes of a question that is not simulated, or raise an error."""
    truth = question_set.truth_of(question)
    recorded = None
    if has_record(question_set, question):
        recorded = recorded_outcomes(question, truth)
    if recorded is not None:
        return recorded
    if truth.outcomes is not None and question.scenario not in plugins.names("simulator"):
        raise UsageError(
            f"Scenario '{question.scenario}' has no simulator; its outcomes are recorded."
        )
    if question.answer_form == "statement" or not question_set.has_data_of(question):
        raise UsageError(
            f"Question '{question.key}' has no simulator: only its own answer is known, by "
            "which 'dqa eval' scores decisions."
        )
    plugins.simulator(question.scenario)  # it does not exist
    raise UsageError(f"Question '{question.key}' has no recorded outcomes.")


def annotate(
    question_set: QuestionSet,
    rule_set: str | None = None,
    *,
    options: EngineOptions = DEFAULT_ENGINE,
) -> list[Annotation]:
    """Return the best decisions of every question, in the order of the set.

    Parameters and errors are those of `simulate_all`.
    """
    rule_set = rule_set or usual_rules(question_set)
    simulated = simulate_all(question_set, rule_set, options=options)
    annotations = []
    for (question, truth), outcomes in zip(question_set.labelled, simulated, strict=True):
        official = truth.official
        annotations.append(
            Annotation(
                scenario=question.scenario,
                question=int(question.id) if question.id.isdecimal() else question.id,
                rule_set=rules_of(question.scenario, rule_set),
                answer=outcomes.answer,
                ties=outcomes.ties,
                value=outcomes.best,
                margin=outcomes.margin,
                official=official,
                agrees=None if official is None else official == outcomes.answer,
                decided_by_last_bit=outcomes.decided_by_last_bit,
            )
        )
    return annotations
