"""Ground truth of a question set: the best decisions of every question under a rule set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.jobs import IN_ORDER, Mapper
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa.core.truth import LabelledQuestion
from dqa.deciders.candidates import recorded_outcomes
from dqa.evaluation.engines.base import open_engine
from dqa.evaluation.options import DEFAULT_ENGINE, EngineOptions
from dqa.evaluation.score import has_record, rules_of, usual_rules
from dqa.scenarios import registered, scenario_name

_Told = TypeVar("_Told")
_Tell: TypeAlias = Callable[[LabelledQuestion, Outcomes, str | None], _Told]
"""Returns what is wanted of a question's outcomes under a rule set."""


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


class _Simulation(NamedTuple):
    """All questions of one scenario about one situation, which are simulated together.

    `scenario` is its name, or the folder of one that this process alone was told of.
    """

    scenario: str
    situation: Situation
    labelled: list[LabelledQuestion]
    rules: str


def _simulate(tell: _Tell[_Told], asked: _Simulation) -> list[_Told]:
    """Simulate, and return what is told of each question; all outcomes may be a lot to send."""
    simulator = plugins.simulator(scenario_name(asked.scenario))
    questions = [question for question, _ in asked.labelled]
    outcomes = simulator.outcomes(asked.situation, questions, asked.rules)
    return [
        tell(labelled, found, asked.rules)
        for labelled, found in zip(asked.labelled, outcomes, strict=True)
    ]


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
    return _told_of_all(question_set, rule_set, lambda _, outcomes, __: outcomes, IN_ORDER)


def _told_of_all(
    question_set: QuestionSet, rule_set: str | None, tell: _Tell[_Told], mapper: Mapper
) -> list[_Told]:
    """Return what is told of every question, in order; errors are those of `simulate_all`."""
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
        if question.answer_form == "statement":
            raise UsageError(
                f"Question '{question.key}' is answered with a statement: no simulator tells what "
                "is right, only the rows of its gold statement. 'dqa eval' compares them, and "
                "--strict runs every gold statement."
            )
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
    folders, labelled = registered(), question_set.labelled
    simulations = (
        _Simulation(
            str(folders.get(scenario, scenario)),
            question_set.situation_of(labelled[positions[0]].question),
            [labelled[position] for position in positions],
            rules_of(scenario, rule_set),
        )
        for (scenario, _), positions in together.items()
    )
    told = {at: tell(labelled[at], known, rule_set) for at, known in recorded.items()}
    work = partial(_simulate, tell)
    for positions, found in zip(together.values(), mapper.map(work, simulations), strict=True):
        told.update(zip(positions, found, strict=True))
    return [told[position] for position in range(len(labelled))]


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
        What is counted by; None for what the set says, or else the first that a simulator has.
    options
        Where situations are simulated.

    Raises
    ------
    UnknownNameError, SituationError
        As `simulate_all`.
    InfrastructureError
        A cluster cannot be reached, or has no room.
    """
    rule_set = rule_set or usual_rules(question_set)
    with open_engine(options) as engine:
        return _told_of_all(question_set, rule_set, _annotation, engine)


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
