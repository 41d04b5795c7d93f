"""Ground truth of a question set: the best decisions of every question under a rule set."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.executors import open_mapper
from dqa.evaluation.options import DEFAULT_ENGINE, EngineOptions
from dqa.evaluation.score import has_record, rules_of, usual_rules
from dqa.scenarios import registered, scenario_name


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


class _Group(NamedTuple):
    """Questions of one scenario about one situation by their place in the set.

    They are simulated together. `scenario` is its name, or the folder of one that only this process
    knows.
    """

    scenario: str
    situation: Situation
    labelled: dict[int, LabelledQuestion]
    rules: str

    def simulate(self) -> dict[int, Outcomes]:
        """Return the outcomes of each question."""
        simulator = plugins.simulator(scenario_name(self.scenario))
        questions = [question for question, _ in self.labelled.values()]
        outcomes = simulator.outcomes(self.situation, questions, self.rules)
        return dict(zip(self.labelled, outcomes, strict=True))

    def annotate(self) -> dict[int, Annotation]:
        """Return the annotation of each question, which is less to send than its outcomes."""
        return {
            place: _annotation(self.labelled[place], outcomes, self.rules)
            for place, outcomes in self.simulate().items()
        }


def simulate_all(question_set: QuestionSet, rule_set: str | None = None) -> list[Outcomes]:
    """Return the outcomes of every question, in order; each situation is simulated once.

    Raises
    ------
    UsageError
        A question has no simulator and no recorded outcomes.
    UnknownNameError
        A scenario without a simulator, a rule set that it does not have, an unknown situation.
    SituationError
        A situation that breaks the rules of its scenario.
    """
    outcomes, groups = _groups(question_set, rule_set or usual_rules(question_set))
    for group in groups:
        outcomes |= group.simulate()
    return [outcomes[place] for place in sorted(outcomes)]


def annotate(
    question_set: QuestionSet,
    rule_set: str | None = None,
    *,
    options: EngineOptions = DEFAULT_ENGINE,
) -> list[Annotation]:
    """Return the best decisions of every question, in the order of the set.

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
    UsageError, UnknownNameError, SituationError
        As `simulate_all`.
    InfrastructureError
        A cluster cannot be reached, or has no room.
    """
    rule_set = rule_set or usual_rules(question_set)
    recorded, groups = _groups(question_set, rule_set)
    labelled = question_set.labelled
    annotations = {
        place: _annotation(labelled[place], outcomes, rule_set)
        for place, outcomes in recorded.items()
    }
    with open_mapper(options) as mapper:
        for found in mapper.map(_Group.annotate, groups):
            annotations |= found
    return [annotations[place] for place in sorted(annotations)]


def _groups(
    question_set: QuestionSet, rule_set: str | None
) -> tuple[dict[int, Outcomes], list[_Group]]:
    """Return the recorded outcomes by place, and the other questions by situation."""
    recorded: dict[int, Outcomes] = {}
    groups: dict[tuple[str, int], _Group] = {}
    folders, simulated = registered(), plugins.names("simulator")
    for place, one in enumerate(question_set.labelled):
        question, truth = one
        if has_record(question_set, question):
            known = recorded_outcomes(question, truth)
            if known is not None:
                recorded[place] = known
                continue
        if truth.outcomes is not None and question.scenario not in simulated:
            raise UsageError(
                f"Scenario '{question.scenario}' has no simulator; its outcomes are recorded."
            )
        if question.answer_form == "statement" or not question_set.has_data_of(question):
            raise UsageError(
                f"Question '{question.key}' has no simulator: only its own answer is known, by "
                "which 'dqa eval' scores decisions."
            )
        situation = question_set.situation_of(question)
        rules, folder = rules_of(question.scenario, rule_set), folders.get(question.scenario)
        group = _Group(str(folder or question.scenario), situation, {}, rules)
        groups.setdefault((question.scenario, id(situation)), group).labelled[place] = one
    return recorded, list(groups.values())


def _annotation(labelled: LabelledQuestion, outcomes: Outcomes, rule_set: str | None) -> Annotation:
    question, official = labelled.question, labelled.truth.official
    return Annotation(
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
