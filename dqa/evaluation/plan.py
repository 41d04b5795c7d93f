"""The plan of an evaluation: what is asked, of whom, on which database, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dqa.core.database import Database, Kind
from dqa.core.decider import Decider
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.evaluation.keys import DecisionKey
from dqa.evaluation.results import NO_MODEL
from dqa.evaluation.targets import DatabaseLocation

Group: TypeAlias = tuple[str, str]
"""A situation and a database: tasks of one group share an open database."""
_HASH = 16
"""Digits of a content's hash that tell it from all others of a run."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that the tasks of a plan name.

    Attributes
    ----------
    questions
        The questions and their situations.
    targets
        The databases, by name.
    deciders
        The deciders, by name.
    models
        What answers behind each decider, for the results: a model's name, or ``"none"``.
    repeats
        The deciders of the second epoch, of the third, ...: the same ones with other seeds.
    scenarios
        By decider the scenarios that it decides, where it does not decide all.
    places
        The databases of the user's own that questions are asked about, by name.
    """

    questions: QuestionSet
    targets: Mapping[str, DatabaseLocation]
    deciders: Mapping[str, Decider]
    models: Mapping[str, str]
    repeats: tuple[Mapping[str, Decider], ...] = ()
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, DatabaseLocation] = field(default_factory=dict)

    @property
    def epochs(self) -> int:
        """How often each question is asked."""
        return 1 + len(self.repeats)

    @property
    def locations(self) -> tuple[str, ...]:
        """Where the databases are that lie in files or servers, with their passwords."""
        known = (one.location for one in (*self.targets.values(), *self.places.values()))
        return tuple(location for location in known if location is not None)

    def decider_of(self, task: Task) -> Decider:
        """Return who decides a task."""
        return (self.deciders, *self.repeats)[task.epoch - 1][task.decider]

    @property
    def size(self) -> int:
        """How many decisions there are to make."""
        return self.epochs * sum(
            len(self.deciders_of(question.scenario)) * len(self.databases_of(question))
            for question in self.questions.questions
        )

    def databases_of(self, question: Question) -> tuple[str, ...]:
        """Return the names of the databases on which a question is asked, in their order."""
        if self.questions.is_in_place(question):
            return (question.situation,)
        return tuple(self.targets)

    def open(self, task: Task) -> Database:
        """Open a task's database read-only, loading its situation unless it is asked in place."""
        if self.questions.is_in_place(task.question):
            return self.places[task.database].open()
        situation = self.questions.situation_of(task.question)
        return self.targets[task.database].load(situation)

    def deciders_of(self, scenario: str) -> tuple[str, ...]:
        """Return the deciders that decide a scenario, in their order."""
        return tuple(
            name for name in self.deciders if scenario in self.scenarios.get(name, (scenario,))
        )


@dataclass(frozen=True, slots=True)
class Task:
    """One decision to be made.

    Attributes
    ----------
    situation
        The data of the question: the beginning of their hash, or the name of their database.
    epoch
        The repeat, from 1.
    kind, model
        The kind of the database, and the model of the decider.
    """

    question: Question
    database: str
    decider: str
    situation: str
    epoch: int = 1
    kind: Kind = "relational"
    model: str = NO_MODEL

    @property
    def group(self) -> Group:
        """Its situation and database."""
        return self.situation, self.database

    @property
    def key(self) -> DecisionKey:
        """Question, database, decider and epoch: unique in a plan."""
        return DecisionKey(self.question.key, self.database, self.decider, self.epoch)


def plan(setup: Setup) -> tuple[Task, ...]:
    """Return every task of an evaluation, grouped by situation and database.

    Situations stand in the order of their first question, and within a group tasks are ordered by
    question, then by epoch and then by decider, in the setup's order: the same setup gives the same
    plan.
    """
    locations = {**setup.targets, **setup.places}
    by_situation: dict[str, list[Question]] = {}
    for question in setup.questions.questions:
        about = (
            question.situation
            if setup.questions.is_in_place(question)
            else setup.questions.situation_of(question).content_hash[:_HASH]
        )
        by_situation.setdefault(about, []).append(question)
    return tuple(
        Task(question, database, decider, about, epoch, locations[database].kind, model)
        for about, asked in by_situation.items()
        for database in setup.databases_of(asked[0])
        for question in asked
        for epoch in range(1, setup.epochs + 1)
        for decider in setup.deciders_of(question.scenario)
        for model in (setup.models[decider],)
    )
