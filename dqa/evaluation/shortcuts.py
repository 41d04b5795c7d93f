"""Measure how often heuristics and random answers are right on scored questions.

A heuristic (`dqa.deciders.baselines`) is one query that ignores the rules. If a heuristic reaches
the score of a decider on the same questions, the score says little about the decider.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from math import fsum
from typing import Literal, TypeAlias

from pydantic import Field

from dqa import plugins
from dqa.core.database import Database
from dqa.core.decider import Decider
from dqa.core.decision import Ending
from dqa.core.errors import InfrastructureError
from dqa.core.question import Candidate, Question
from dqa.core.question_set import QuestionSet
from dqa.core.records import Record
from dqa.deciders.base import Settings
from dqa.evaluation.prepare import DatabaseLocation, locations_of
from dqa.evaluation.results import Result
from dqa.evaluation.score import Assessment, Judge
from dqa.evaluation.statistics.summaries import grouped

Right: TypeAlias = Mapping[str, Result | Assessment]
"""A result or an assessment of each judged question, by the key of the question.

Without strict scoring, the right answers are `ties`. With strict scoring, only `official` is right,
if the question has an official answer.
"""


def right_answers(known: Result | Assessment, *, strict: bool) -> Sequence[Candidate]:
    """Return the right answers to a question, with or without strict scoring."""
    return known.ties if known.official is None or not strict else (known.official,)


class ShortcutChoices(Record):
    """The answers of a scenario's heuristics to one question.

    Attributes
    ----------
    question, scenario
        The key of the question, and the scenario.
    candidates
        The number of candidates; None if the question does not list them.
    choices
        The answer of each heuristic, by the name of the heuristic. None means that the answer is
        not a candidate.
    """

    version: Literal[1] = 1
    question: str
    scenario: str
    candidates: int | None = Field(ge=1)
    choices: dict[str, Candidate | None]


class Shortcut(Record):
    """How often a heuristic is right.

    Attributes
    ----------
    name
        The name of the heuristic, which is also the name of a decider.
    questions, right
        The number of questions of the scenario, and the number of right answers.
    with_ties, by_label
        `with_ties` is the number of right answers if every best candidate counts as right.
        `by_label` is the number if only the official label counts as right. `right` is one of these
        numbers.
    """

    name: str
    scenario: str
    questions: int = Field(ge=1)
    right: int = Field(ge=0)
    with_ties: int = Field(ge=0)
    by_label: int = Field(ge=0)

    @property
    def share(self) -> float:
        """The share of right answers."""
        return self.right / self.questions


class Chance(Record):
    """The average accuracy of random answers to the questions of a scenario."""

    scenario: str
    questions: int = Field(ge=1)
    share: float = Field(ge=0, le=1, description="right answers / candidates, mean over questions")


def choose_by_shortcuts(
    question_set: QuestionSet, locations: Mapping[str, DatabaseLocation] | None = None
) -> tuple[ShortcutChoices, ...]:
    """Let every heuristic answer the questions of its scenario, in the order of the set.

    Heuristics about a user's own database run on that database, and all others on SQLite in memory.
    If a user's question file already contains the choice of a heuristic, that choice is returned.

    Parameters
    ----------
    question_set
        The questions.
    locations
        The user's own databases, by name. By default, the databases that the question set names are
        opened.

    Raises
    ------
    DataError
        A heuristic's statement cannot run.
    PluginError
        Several deciders have the name of a heuristic.
    InfrastructureError
        A user's own database failed.
    """

    def data(question: Question) -> tuple[str, int | str]:
        in_place = question_set.has_location(question)
        content = question.situation if in_place else id(question_set.situation_of(question))
        return question.scenario, content

    found: dict[str, ShortcutChoices] = {}
    for (scenario, _), questions in grouped(question_set.questions, data).items():
        known = plugins.find_scenario(scenario)
        names = [] if known is None else [heuristic.name for heuristic in known.heuristics]
        deciders = {name: plugins.decider(name)(None, Settings()) for name in names}
        chosen: dict[str, dict[str, Candidate | None]] = {}
        if deciders:
            with closing(_opened(question_set, questions[0], locations)) as database:
                chosen = {one.key: _choices(deciders, one, database) for one in questions}
        for question in questions:
            recorded = question_set.truth_of(question).heuristics
            found[question.key] = ShortcutChoices(
                question=question.key,
                scenario=scenario,
                candidates=len(question.candidates) if question.candidates else None,
                choices={**chosen.get(question.key, {}), **recorded},
            )
    return tuple(found[question.key] for question in question_set.questions)


def _choices(
    deciders: Mapping[str, Decider], question: Question, database: Database
) -> dict[str, Candidate | None]:
    choices = {}
    for name, decider in deciders.items():
        decision = decider.decide(question, database)
        if decision.ending is Ending.INFRASTRUCTURE:  # must not count as a wrong answer
            raise InfrastructureError(decision.error or f"{database.name} failed.")
        choices[name] = decision.choice
    return choices


def _opened(
    question_set: QuestionSet, question: Question, locations: Mapping[str, DatabaseLocation] | None
) -> Database:
    """Open the user's own database, or load the situation of the question into memory."""
    if question_set.has_location(question):
        name = question.situation
        return (locations or locations_of({name: question_set.locations[name]}))[name].open()
    return plugins.backend("sqlite").load(question_set.situation_of(question))


def judged_results(results: Iterable[Result]) -> dict[str, Result]:
    """Return a result of each judged question of a run, by the key of the question."""
    return {result.question: result for result in results if result.outcome.judged}


def count_shortcuts(
    choices: Iterable[ShortcutChoices], right: Right, *, strict_official: bool = False
) -> tuple[Shortcut, ...]:
    """Count how often each heuristic is right.

    Parameters
    ----------
    choices
        Answers of the heuristics.
    right
        The judged questions. Other questions are ignored.
    strict_official
        Whether only the official answer is right, even if other candidates are equally good.

    Returns
    -------
    tuple of Shortcut
        The heuristics, in the order in which scenarios and heuristics first appear. A heuristic
        that did not answer all judged questions of its scenario is left out, because its share
        would not be comparable.
    """
    judged = [(line, right[line.question]) for line in choices if line.question in right]
    questions = Counter(line.scenario for line, _ in judged)
    answered: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for line, known in judged:
        for name, choice in line.choices.items():
            ties, label = (choice in right_answers(known, strict=one) for one in (False, True))
            answered.setdefault((line.scenario, name), []).append((ties, label))
    return tuple(
        Shortcut(
            name=name,
            scenario=scenario,
            questions=len(found),
            right=sum(both[strict_official] for both in found),
            with_ties=sum(ties for ties, _ in found),
            by_label=sum(label for _, label in found),
        )
        for (scenario, name), found in answered.items()
        if len(found) == questions[scenario]
    )


def count_chance(
    choices: Iterable[ShortcutChoices], right: Right, *, strict_official: bool = False
) -> tuple[Chance, ...]:
    """Return the accuracy of random answers by scenario.

    `count_shortcuts` explains the parameters.
    """
    shares: dict[str, list[float]] = {}
    for line in choices:
        if line.question in right and line.candidates is not None:
            answers = right_answers(right[line.question], strict=strict_official)
            share = min(1.0, len(answers) / line.candidates)
            shares.setdefault(line.scenario, []).append(share)
    return tuple(
        Chance(scenario=scenario, questions=len(found), share=fsum(found) / len(found))
        for scenario, found in shares.items()
    )


def best_shortcuts(shortcuts: Iterable[Shortcut]) -> dict[str, Shortcut]:
    """Return, for each scenario, the heuristic that is right most often.

    If several heuristics are right equally often, return the first of them.
    """
    by_scenario = grouped(shortcuts, lambda found: found.scenario)
    return {name: max(found, key=lambda one: one.share) for name, found in by_scenario.items()}


def measure_shortcuts(
    question_set: QuestionSet, rule_set: str | None = None, strict_official: bool = False
) -> tuple[Shortcut, ...]:
    """Measure how often each heuristic of the scenarios in a question set is right.

    Parameters
    ----------
    question_set
        The questions.
    rule_set
        The name of a rule set of the simulators. By default, it is the rule set that the question
        set names. If the question set names none, it is the first rule set of each simulator.
    strict_official
        Whether only the official answer is right, even if other candidates are equally good.

    Returns
    -------
    tuple of Shortcut
        The heuristics by scenario, in the order in which ``scenario.toml`` declares them.

    Raises
    ------
    UnknownNameError
        A scenario's simulator has no such rule set.
    DataError
        A heuristic's statement cannot run.
    """
    judge = Judge(question_set, rule_set, strict_official)
    right = {question.key: judge.unchosen(question) for question in question_set.questions}
    return count_shortcuts(
        choose_by_shortcuts(question_set), right, strict_official=strict_official
    )
