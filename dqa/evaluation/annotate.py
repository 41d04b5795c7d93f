"""Ground truth of a question set: the best decisions of every question under a rule set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dqa import plugins
from dqa.core.errors import UsageError
from dqa.core.question import Candidate
from dqa.core.question_set import QuestionSet
from dqa.core.simulator import Outcomes
from dqa.core.truth import LabelledQuestion

__all__ = ["Annotation", "annotate", "simulate_all"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """The best decisions of a question under a rule set, and the official answer beside them.

    Attributes
    ----------
    scenario, question
        The question's scenario and id.
    rules
        The rule set that was simulated.
    answer
        The best candidate; of ties the first in table order.
    ties
        Every candidate as good as the best, in table order; the answer alone where it is unique.
    value
        Profit or price that the answer leads to, in the scenario's unit.
    margin
        How much better the best is than the best one not tied with it; 0 where all tie.
    official
        The official answer, None where there is none.
    agrees
        Whether the official answer is `answer`; None where there is none. An official answer
        among the other ties does not agree, since the release takes the first.
    decided_by_last_bit
        Whether rounding decides between the best and the next.
    """

    scenario: str
    question: str
    rules: str
    answer: Candidate
    ties: tuple[Candidate, ...]
    value: float
    margin: float
    official: Candidate | None
    agrees: bool | None
    decided_by_last_bit: bool

    def to_json(self) -> dict[str, Any]:
        """Return the annotation as JSON-ready data; a numeric id is a number, as in the release."""
        number = int(self.question) if self.question.isdecimal() else self.question
        return {**asdict(self), "question": number, "ties": list(self.ties)}


def simulate_all(question_set: QuestionSet, rules: str) -> list[Outcomes]:
    """Return the outcomes of every question, in order; each situation is simulated once.

    Raises
    ------
    UsageError
        A record tells the answers of a scenario, and it has no simulator to judge them by.
    UnknownNameError
        A scenario without a simulator, a rule set that it does not have, an unknown situation.
    SituationError
        A situation that breaks what its scenario needs.
    """
    simulated = set(plugins.names("simulator"))
    for question, truth in question_set.labelled:
        if truth.outcomes is not None and question.scenario not in simulated:
            raise UsageError(
                f"No simulator plays the rules of '{question.scenario}': the answers of its "
                "questions are recorded, and there is nothing to judge them by."
            )
    together: dict[tuple[str, int], list[int]] = {}
    for position, question in enumerate(question_set.questions):
        key = (question.scenario, id(question_set.situation_of(question)))
        together.setdefault(key, []).append(position)
    found: dict[int, Outcomes] = {}
    for (scenario, _), positions in together.items():
        questions = [question_set.questions[position] for position in positions]
        situation = question_set.situation_of(questions[0])
        outcomes = plugins.simulator(scenario).outcomes(situation, questions, rules)
        found.update(zip(positions, outcomes, strict=True))
    return [found[position] for position in range(len(question_set.questions))]


def annotate(question_set: QuestionSet, rules: str) -> list[Annotation]:
    """Return the best decisions of every question, in the order of the set.

    Parameters
    ----------
    question_set
        Questions of scenarios that have a simulator.
    rules
        Name of the rule set, e.g. ``"released"`` or ``"paper"``.

    Raises
    ------
    UnknownNameError, SituationError
        As `simulate_all`.
    """
    return [
        _annotation(labelled, outcomes, rules)
        for labelled, outcomes in zip(
            question_set.labelled, simulate_all(question_set, rules), strict=True
        )
    ]


def _annotation(labelled: LabelledQuestion, outcomes: Outcomes, rules: str) -> Annotation:
    question, official = labelled.question, labelled.truth.official
    ties = outcomes.ties
    return Annotation(
        scenario=question.scenario,
        question=question.id,
        rules=rules,
        answer=ties[0],
        ties=ties,
        value=outcomes.best,
        margin=outcomes.margin,
        official=official,
        agrees=None if official is None else official == ties[0],
        decided_by_last_bit=outcomes.decided_by_last_bit,
    )
