"""Ground truth of a question set: the best decisions of every question under a rule set."""

from __future__ import annotations

from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.truth import LabelledQuestion
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.score import has_record, rules_of, usual_rules


class Annotation(Record):
    """The best decisions of a question under a rule set, and the official answer beside them.

    Attributes
    ----------
    scenario, question
        The question's scenario and id; a numeric id is a number, as in the release.
    rule_set
        What was counted by.
    answer
        The best candidate to the last bit; of equal ones the first in table order.
    ties
        Every candidate as good as the best up to rounding, in table order; the answer alone where
        it is unique.
    value
        Profit or price that the answer leads to, in the scenario's unit.
    margin
        How much better the best is than the best one not tied with it; 0 where all tie.
    official
        The official answer, None where there is none.
    agrees
        Whether the official answer is `answer`; None where there is none. An official answer
        among the other ties does not agree, since the release has `answer`.
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


def simulate_all(question_set: QuestionSet, rule_set: str | None = None) -> list[Outcomes]:
    """Return the outcomes of every question, in order; each situation is simulated once.

    Raises
    ------
    UsageError
        A record tells the answers of a scenario, and it has no simulator to judge them by; or a
        question is a user's own, of no scenario.
    UnknownNameError
        A scenario without a simulator, a rule set that it does not have, an unknown situation.
    SituationError
        A situation that breaks what its scenario needs.
    """
    simulated = set(plugins.names("simulator"))
    recorded = {
        position: known
        for position, (question, truth) in enumerate(question_set.labelled)
        if has_record(question_set, question)
        and (known := recorded_outcomes(question, truth)) is not None
    }
    for position, (question, truth) in enumerate(question_set.labelled):
        if position in recorded:
            continue
        if not question_set.has_data_of(question):
            raise UsageError(
                f"Question '{question.key}' is a user's own: no simulator tells what its "
                "candidates lead to, so there is nothing to hold its answer against. 'dqa eval' "
                "scores decisions by the answer itself."
            )
        if truth.outcomes is not None and question.scenario not in simulated:
            raise UsageError(
                f"Scenario '{question.scenario}' has no simulator; its outcomes are recorded."
            )
    rule_set = rule_set or usual_rules(question_set)
    together: dict[tuple[str, int], list[int]] = {}
    for position, question in enumerate(question_set.questions):
        if position in recorded:
            continue
        key = (question.scenario, id(question_set.situation_of(question)))
        together.setdefault(key, []).append(position)
    found: dict[int, Outcomes] = recorded
    for (scenario, _), positions in together.items():
        questions = [question_set.questions[position] for position in positions]
        situation = question_set.situation_of(questions[0])
        rules = rules_of(scenario, rule_set)
        outcomes = plugins.simulator(scenario).outcomes(situation, questions, rules)
        found.update(zip(positions, outcomes, strict=True))
    return [found[position] for position in range(len(question_set.questions))]


def annotate(question_set: QuestionSet, rule_set: str | None = None) -> list[Annotation]:
    """Return the best decisions of every question, in the order of the set.

    Parameters
    ----------
    question_set
        Questions of scenarios that have a simulator.
    rule_set
        What is counted by; None for what the set says, or else the first that a simulator has.

    Raises
    ------
    UnknownNameError, SituationError
        As `simulate_all`.
    """
    rule_set = rule_set or usual_rules(question_set)
    return [
        _annotation(labelled, outcomes, rules_of(labelled.question.scenario, rule_set))
        for labelled, outcomes in zip(
            question_set.labelled, simulate_all(question_set, rule_set), strict=True
        )
    ]


def _annotation(labelled: LabelledQuestion, outcomes: Outcomes, rule_set: str) -> Annotation:
    question, official = labelled.question, labelled.truth.official
    return Annotation(
        scenario=question.scenario,
        question=int(question.id) if question.id.isdecimal() else question.id,
        rule_set=rule_set,
        answer=outcomes.answer,
        ties=outcomes.ties,
        value=outcomes.best,
        margin=outcomes.margin,
        official=official,
        agrees=None if official is None else official == outcomes.answer,
        decided_by_last_bit=outcomes.decided_by_last_bit,
    )
