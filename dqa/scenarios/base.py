"""What a scenario is: a kind of decision question about data of one form.

`dqa.scenarios.reading` makes one of a folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from string import Template
from typing import cast

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Goal
from dqa.core.situation import Cell, ColumnType, Schema, Situation
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.document import (
    CandidatesPart,
    CriticalValue,
    Listing,
    OutcomesPart,
    Parameter,
    ParameterType,
    ReleasePart,
    ScenarioDocument,
)
from dqa.scenarios.embedded import embedded, first_column
from dqa.scenarios.listing import PLAIN_TYPES, Lister, candidate_of, column_values, listed_in
from dqa.scenarios.parameters import (
    LIST_SEPARATOR,
    Scalar,
    read_list,
    read_value,
    type_of_column,
)
from dqa.scenarios.statements import SUFFIXES, Kind, Values, filled

__all__ = [
    "LIST_SEPARATOR",
    "Heuristic",
    "Lister",
    "Scenario",
    "column_values",
    "listed_in",
]


@dataclass(frozen=True, slots=True)
class Heuristic:
    """A query whose first row's first column is taken for the answer.

    Attributes
    ----------
    name
        What the decider is called that answers by it.
    description
        What it chooses, in one line.
    statements
        By kind of database: templates over a question's target and ``$candidates``.
    """

    name: str
    description: str
    statements: Mapping[Kind, Template]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A kind of decision question: its data, its rules and how its questions are made.

    Attributes
    ----------
    document
        What ``scenario.toml`` says; of the candidates' listing, with its statements.
    schema
        Tables and graph mapping.
    rules
        The business rules in our own words.
    template
        What is asked, over the keys of a question's target.
    answer_form
        How the answer is to be given, which ends a question's text; empty where nothing says it.
    contexts
        By kind of database, statements whose rows tell what bears on a question: templates over
        its target and ``$candidates``, filled with literals.
    outcome_queries
        By kind of database, the statement whose rows are a candidate and its outcome.
    heuristics
        Queries that answer without any calculation by the rules.
    folder
        What errors call the place where its files are.
    """

    document: ScenarioDocument
    schema: Schema
    rules: str
    template: Template
    answer_form: str = ""
    contexts: Mapping[Kind, tuple[Template, ...]] = field(default_factory=dict)
    outcome_queries: Mapping[Kind, Template] = field(default_factory=dict)
    heuristics: tuple[Heuristic, ...] = ()
    folder: str = ""

    @property
    def name(self) -> str:
        """What commands call it."""
        return self.document.name

    @property
    def order(self) -> int | None:
        """Where it stands among others; None for after those that have a number."""
        return self.document.order

    @property
    def goal(self) -> Goal:
        """Whether more or less of the outcome is better."""
        return self.document.outcomes.goal

    @property
    def unit(self) -> str:
        """What the outcome is, e.g. "profit"."""
        return self.document.outcomes.unit

    @property
    def outcomes(self) -> OutcomesPart:
        """Where the outcomes of decisions come from."""
        return self.document.outcomes

    @property
    def listing(self) -> CandidatesPart:
        """Where its candidates come from."""
        return self.document.candidates

    @property
    def candidate_noun(self) -> str:
        """What is chosen, e.g. "supplier"."""
        return self.listing.noun

    @property
    def candidate_nouns(self) -> tuple[str, ...]:
        """Every noun by which an answer may call a candidate, the usual one first."""
        return (self.listing.noun, *self.listing.called)

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """What a question can be about, by key of its target, in order."""
        return self.document.parameters

    @property
    def critical_values(self) -> tuple[CriticalValue, ...]:
        """What the analysis of a run looks for."""
        return self.document.critical_values

    @property
    def release(self) -> ReleasePart | None:
        """How the files of a release hold it; None where none does."""
        return self.document.release

    @property
    def generator(self) -> str | None:
        """Where its generator is: ``package.module:OBJECT``."""
        part = self.document.generator
        return None if part is None else part.python

    @property
    def scripts(self) -> Mapping[str, str]:
        """Where its scripted analysts are, by name: ``package.module:OBJECT``."""
        return self.document.scripts

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """What its authors chose of deciders' settings, by name as ``--set`` has them.

        Those that a user gives go first.
        """
        return {name: str(value) for name, value in self.document.settings.items()}

    def question(
        self, situation: Situation, question_id: str, target: Mapping[str, str]
    ) -> Question:
        """Make a question of this scenario in our own words."""
        return self.asked(situation.name, question_id, target, self.candidates(situation, target))

    def asked(
        self,
        situation: str,
        question_id: str,
        target: Mapping[str, str],
        candidates: tuple[Candidate, ...],
    ) -> Question:
        """Make a question in our own words whose candidates are known.

        Raises
        ------
        DataError
            The target lacks what the question is about, or tells it as something else.
        """
        self.values(target)
        try:
            text = self.template.substitute(target)
        except KeyError as error:
            raise self._untold(error, target, "the question") from error
        return Question(
            scenario=self.name,
            id=question_id,
            text=f"{text} {self.answer_form}".strip(),
            rules=self.rules,
            situation=situation,
            target=target,
            candidates=candidates,
        )

    def recorded(
        self,
        situation: Situation,
        question_id: str,
        target: Mapping[str, str],
        outcomes: Mapping[str, float],
    ) -> LabelledQuestion:
        """Make a question whose outcomes a record tells, by candidate; the best is its answer.

        Raises
        ------
        DataError
            The record lacks a candidate.
        """
        question = self.question(situation, question_id, target)
        candidates = question.candidates or ()
        missing = [name for name in candidates if name not in outcomes]
        if missing:
            raise DataError(f"Question '{question.key}' has no outcome of '{missing[0]}'.")
        values = tuple(outcomes[str(name)] for name in candidates)
        best = (max if self.goal == "maximise" else min)(values)
        return LabelledQuestion(question, Truth((candidates[values.index(best)],), values))

    def goal_of(self, question: Question) -> str:
        """Return a question's text without how it is to be answered, where it is in our words.

        Deciders that ask for something else than the answer tell the goal only.
        """
        return question.text.removesuffix(self.answer_form).strip() or question.text

    # --- candidates and parameters ---

    @property
    def candidate_type(self) -> ColumnType:
        """``text`` or ``integer``: what a candidate is."""
        listing = self.listing
        if listing.type is not None:
            return listing.type
        if listing.table is None or listing.column is None:
            return "text"
        return self.schema.table(listing.table).column(listing.column).type

    def candidates(self, situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
        """List a situation's candidates for a target, in the order of its rows.

        Raises
        ------
        DataError
            The target lacks what they depend on, or lists a name that is not there.
        """
        return self.candidates_by(self.lister(situation), target)

    def candidates_by(self, lister: Lister, target: Mapping[str, str]) -> tuple[Candidate, ...]:
        """List the candidates that `lister` finds; `DataError` as `candidates` does."""
        listing = self.listing
        cells = lister(listing, target)
        found: Sequence[Candidate]
        if {*map(type, cells)} in PLAIN_TYPES.get(listing.type, ()):
            found = cast("Sequence[Candidate]", cells)
        else:
            found = [candidate_of(cell, listing.type, self.name) for cell in cells]
        if listing.except_ is not None:
            if listing.except_ not in target:
                raise self._untold(KeyError(listing.except_), target, "what can be chosen")
            found = [name for name in found if str(name) != target[listing.except_]]
        if listing.listed_in is not None:
            found = listed_in(found, target, listing.listed_in)
        return tuple(found)

    def lister(self, situation: Situation) -> Lister:
        """Return what lists values of a situation in memory."""
        return partial(self._listed, situation)

    def _listed(
        self, situation: Situation, listing: Listing, target: Mapping[str, str]
    ) -> Sequence[Cell]:
        if listing.table is not None:
            return column_values(listing, situation[listing.table], target)
        kind: Kind = "relational" if listing.sql is not None else "graph"
        statement = self.statement(listing, kind, target)
        if statement is None:
            return ()
        return first_column(embedded(situation, kind), statement, called=self.called(listing, kind))

    def statement(self, listing: Listing, kind: Kind, target: Mapping[str, str]) -> str | None:
        """Return the statement that lists values in a kind of database; None where none does."""
        text = listing.sql if kind == "relational" else listing.cypher
        if text is None:
            return None
        try:
            return filled(Template(text), kind, self.values(target))
        except KeyError as error:
            raise self._untold(error, target, "a statement") from error

    def called(self, listing: Listing, kind: Kind) -> str:
        """Return what errors call the statement that lists values."""
        if listing is self.listing:
            return self.called_file("candidates", kind)
        return f"A statement of a parameter, in {self.folder}/scenario.toml,"

    def called_file(self, stem: str, kind: Kind) -> str:
        """Return what errors call the statement in one of the scenario's files."""
        return f"The statement in {self.folder}/{stem}{SUFFIXES[kind]}"

    def values(self, target: Mapping[str, str]) -> dict[str, Scalar | tuple[Scalar, ...]]:
        """Return what a target says, each as what its parameter is.

        Raises
        ------
        DataError
            A text is not what its parameter takes.
        """
        return {key: self._value(key, text) for key, text in target.items()}

    def _value(self, key: str, text: str) -> Scalar | tuple[Scalar, ...]:
        parameter = self.parameters.get(key)
        if parameter is not None and parameter.type == "list":
            return read_list(key, text, self._held_by(parameter))
        return read_value(key, text, self.type_of(key))

    def type_of(self, key: str) -> ParameterType:
        """Return what a parameter is; of a list, what each of its values is."""
        parameter = self.parameters.get(key)
        if parameter is None:
            return "text"
        if parameter.type in (None, "list"):
            return self._held_by(parameter)
        return parameter.type

    def _held_by(self, parameter: Parameter) -> ParameterType:
        """Return the type of the column that lists a parameter's values; text without one."""
        listing: Listing = parameter.follows or parameter
        if listing.table is None or listing.column is None:
            return "text"
        return type_of_column(self.schema.table(listing.table).column(listing.column).type)

    def _untold(self, missing: KeyError, target: Mapping[str, str], who: str) -> DataError:
        there = ", ".join(target) or "nothing"
        return DataError(
            f"The target of a question of '{self.name}' does not tell {missing}, on which {who} "
            f"depends; it tells {there}."
        )

    # --- context ---

    def context(self, question: Question, kind: Kind) -> tuple[str, ...]:
        """Return statements whose rows are what bears on a question; () where none are known.

        Parameters
        ----------
        question
            One of this scenario.
        kind
            Whether the statements are SQL or Cypher. They run on every dialect of it.

        Raises
        ------
        DataError
            The question does not tell what they ask about.
        """
        return tuple(
            self.filled_for(question, kind, template) for template in self.contexts.get(kind, ())
        )

    def filled_for(self, question: Question, kind: Kind, template: Template) -> str:
        """Fill in a statement about a question, with its target and ``$candidates``.

        Raises
        ------
        DataError
            The question does not tell what it asks about.
        """
        values: dict[str, Scalar | Sequence[Scalar]] = {**self.values(question.target)}
        if question.candidates:
            values["candidates"] = question.candidates
        return _filled(template, kind, values, question)


def _filled(template: Template, kind: Kind, values: Values, question: Question) -> str:
    try:
        return filled(template, kind, values)
    except KeyError as error:
        raise DataError(
            f"Question '{question.key}' does not tell {error}, which a statement of its scenario "
            f"asks about; it tells {', '.join(values) or 'nothing'}."
        ) from error
