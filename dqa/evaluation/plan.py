"""The plan of an evaluation: what is asked, of whom, on which database, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dqa.core.database import Database, Kind
from dqa.core.decider import Decider
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.evaluation.targets import Place, Target


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
    scenarios
        By decider the scenarios that it decides, where it does not decide all.
    places
        The databases of the user's own that questions are asked about, by name.
    """

    questions: QuestionSet
    targets: Mapping[str, Target]
    deciders: Mapping[str, Decider]
    models: Mapping[str, str]
    scenarios: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many decisions there are to make."""
        return sum(
            len(self.deciders_of(question.scenario)) * len(self.databases_of(question))
            for question in self.questions.questions
        )

    def databases_of(self, question: Question) -> tuple[str, ...]:
        """Return the names of the databases on which a question is asked, in their order."""
        if self.questions.is_in_place(question):
            return (question.situation,)
        return tuple(self.targets)

    def kind_of(self, task: Task) -> Kind:
        """Return whether a task's database is relational or a graph."""
        in_place = self.questions.is_in_place(task.question)
        return (self.places if in_place else self.targets)[task.database].kind

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
    """One decision to be made: who is asked what, on which database."""

    question: Question
    database: str
    decider: str
    group: str
    """Tasks of one group share an open database."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Question, database and decider: unique in a plan."""
        return self.question.key, self.database, self.decider


def plan(setup: Setup) -> tuple[Task, ...]:
    """Return every task of an evaluation, grouped by situation and database.

    Situations stand in the order of their first question, and within a group tasks are ordered by
    question and then by decider, in the setup's order: the same setup gives the same plan.
    """
    by_situation: dict[str, list[Question]] = {}
    for question in setup.questions.questions:
        about = (
            f"in {question.situation}"
            if setup.questions.is_in_place(question)
            else setup.questions.situation_of(question).content_hash
        )
        by_situation.setdefault(about, []).append(question)
    return tuple(
        Task(question, database, decider, f"{about} {database}")
        for about, asked in by_situation.items()
        for database in setup.databases_of(asked[0])
        for question in asked
        for decider in setup.deciders_of(question.scenario)
    )
