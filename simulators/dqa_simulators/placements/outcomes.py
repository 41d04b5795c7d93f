"""Ground truth of the Placements scenario: what a placement leads to once both have placed all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqa.core.errors import SituationError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Outcomes
from dqa.core.situation import Situation
from dqa_simulators.checks import chosen_rules
from dqa_simulators.placements.standing import Side, Standing

_RULE_SETS = ("paper",)
_MOST = 3
"""Merchants of one side: with more, the search for the best later placements takes minutes."""


class PlacementsSimulator:
    """Outcomes of placing the next of several merchants, by ``schemas/placements/rules.md``.

    The rival places by rule 12, the own later merchants as well as can be (rule 13), so an outcome
    is found by searching all of one's later placements: exact, with no model in it.
    """

    scenario = "placements"
    rule_sets: tuple[str, ...] = _RULE_SETS

    def outcomes(
        self, situation: Situation, questions: Sequence[Question], rules: str | None = None
    ) -> list[Outcomes]:
        """Return the profit in the end that each candidate node brings, for each question.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            The situation breaks the rules, or lacks what a question names.
        """
        chosen_rules(rules, self.rule_sets)
        return [_outcomes(standing_of(situation, question), question) for question in questions]

    def simulate(
        self,
        situation: Situation,
        question: Question,
        decision: Candidate | None,
        rules: str | None = None,
    ) -> Situation:
        """Return the situation after the next merchant was placed at `decision` (None: nowhere).

        The rival's answer is not in it, nor are later placements.

        Raises
        ------
        UnknownNameError
            No such rule set.
        SituationError
            As `outcomes`, or `decision` is no candidate of the question.
        """
        chosen_rules(rules, self.rule_sets)
        standing = standing_of(situation, question)
        if decision is None:
            return standing.calculated
        _check(standing, question, (decision,))
        return standing.placed(str(decision)).calculated


SIMULATOR = PlacementsSimulator()


def standing_of(situation: Situation, question: Question) -> Standing:
    """Return where the two countries of a question stand; its country is side 0, and moves.

    Raises
    ------
    SituationError
        The question lacks something, or its numbers of merchants are none that can be searched.
    """
    own = _side(situation, question, "country", "home", "merchants")
    rival = _side(situation, question, "rival", "rival_home", "rival_merchants")
    if own.country == rival.country:
        raise SituationError(f"Question {question.key}: '{own.country}' cannot be its own rival.")
    if not own.left:
        raise SituationError(f"Question {question.key}: '{own.country}' has no merchant left.")
    return Standing(situation, (own, rival))


def _side(situation: Situation, question: Question, country: str, home: str, left: str) -> Side:
    target = question.target
    for key, table, column in (
        (country, "country", "country_name"),
        (home, "trade_node", "trade_node"),
    ):
        if target.get(key) not in situation[table][column].tolist():
            raise SituationError(
                f"Question {question.key} is about the {key} {target.get(key)!r}, which table "
                f"'{table}' of situation '{situation.name}' does not have."
            )
    number = target.get(left, "")
    if not number.isdecimal() or int(number) > _MOST:
        raise SituationError(
            f"Question {question.key}: {left} is {number!r} and has to be a whole number from 0 to "
            f"{_MOST}."
        )
    return Side(target[country], target[home], int(number))


def _check(standing: Standing, question: Question, nodes: Sequence[Candidate]) -> None:
    own, allowed = standing.sides[0].country, ", ".join(standing.nodes[0])
    for node in nodes:
        if node not in standing.nodes[0]:
            raise SituationError(
                f"'{node}' is no candidate of question {question.key}: '{own}' places where it "
                f"trades, and not at its home: {allowed}."
            )


def _outcomes(standing: Standing, question: Question) -> Outcomes:
    candidates = standing.nodes[0] if question.candidates is None else question.candidates
    _check(standing, question, candidates)
    if not candidates:
        raise SituationError(f"Question {question.key}: there is nowhere to place a merchant.")
    values = [standing.placed(str(node)).best(0) for node in candidates]
    return Outcomes(candidates, np.array(values), "maximise", standing.passed().best(0))
