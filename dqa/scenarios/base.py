"""A scenario: a kind of decision question about data with one schema.

`dqa.scenarios.reading` creates scenarios from folders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from string import Template
from typing import TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate, Question
from dqa.core.simulator import Goal
from dqa.core.situation import Cell, ColumnType, Schema, Situation, Table
from dqa.core.truth import LabelledQuestion, Truth
from dqa.scenarios.document import (
    CandidatesPart,
    Listing,
    OutcomesPart,
    Parameter,
    ParameterType,
    ScenarioDocument,
)
from dqa.scenarios.embedded import embedded, first_column
from dqa.scenarios.parameters import LIST_SEPARATOR, Scalar, read_list, read_value, type_of_column
from dqa.scenarios.statements import SUFFIXES, Kind, Values, filled

__all__ = ["LIST_SEPARATOR", "Heuristic", "Lister", "Scenario"]

Lister: TypeAlias = Callable[[Listing, Mapping[str, str]], Sequence[Cell]]
"""Lists the values of a `Listing` for the target of a question."""


@dataclass(frozen=True, slots=True)
class Heuristic:
    """A query that answers a question: the answer is the first column of the first row.

    Attributes
    ----------
    name
        The name of the heuristic and its decider.
    description
        One line that describes the choice.
    statements
        The statement for each kind of database: a template whose placeholders are ``$candidates``
        and the keys of a question's target.
    """

    name: str
    description: str
    statements: Mapping[Kind, Template]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A kind of decision question: its data, its rules and its questions.

    Attributes
    ----------
    document
        The content of ``scenario.toml``. It includes the statements that list candidates.
    schema
        The tables of the data, and their mapping to a graph.
    rules
        The business rules, as text.
    template
        The text of questions, as a template whose placeholders are the keys of a question's target.
    answer_form
        The instruction on how to answer, at the end of a question's text; may be empty.
    contexts
        For each kind of database, statements that return data that is relevant for a question. They
        are templates like the statements of a `Heuristic`.
    outcome_queries
        The statement that returns each candidate with its outcome, for each kind of database.
    heuristics
        Queries that answer a question without applying the business rules.
    folder
        The folder of the scenario, which error messages name.
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
        """The scenario's name in commands."""
        return self.document.name

    @property
    def goal(self) -> Goal:
        """Whether a larger or a smaller outcome is better."""
        return self.document.outcomes.goal

    @property
    def unit(self) -> str:
        """A word for the outcome, such as "profit"."""
        return self.document.outcomes.unit

    @property
    def outcomes(self) -> OutcomesPart:
        """The source of the outcomes."""
        return self.document.outcomes

    @property
    def listing(self) -> CandidatesPart:
        """The source of the candidates."""
        return self.document.candidates

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of questions in order, by their keys in targets."""
        return self.document.parameters

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Settings of deciders for this scenario.

        They have the same names as in the option ``--set``.
        """
        return {name: str(value) for name, value in self.document.settings.items()}

    # --- questions ---

    def question(
        self, situation: Situation, question_id: str, target: Mapping[str, str]
    ) -> Question:
        """Return a question of this scenario about a situation."""
        candidates = self.candidates(situation, target)
        return self.question_with(situation.name, question_id, target, candidates)

    def question_with(
        self,
        situation: str,
        question_id: str,
        target: Mapping[str, str],
        candidates: tuple[Candidate, ...],
    ) -> Question:
        """Return a question of this scenario with known candidates.

        Raises
        ------
        DataError
            A parameter is missing from the target, or its value does not have the type that the
            scenario declares.
        """
        self.values(target)
        for key in self.template.get_identifiers():
            self.require(target, key, "the question")
        return Question(
            scenario=self.name,
            id=question_id,
            text=f"{self.template.substitute(target)} {self.answer_form}".strip(),
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
        """Return a question with recorded outcomes.

        Its answer is the candidate with the best outcome.

        Raises
        ------
        DataError
            `outcomes` lacks a candidate.
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
        """Return the text of a question without the instruction on how to answer."""
        return question.text.removesuffix(self.answer_form).strip() or question.text

    # --- candidates and parameters ---

    @property
    def candidate_type(self) -> ColumnType:
        """The type of candidates: ``text`` or ``integer``."""
        listing = self.listing
        if listing.type is not None:
            return listing.type
        if listing.table is None or listing.column is None:
            return "text"
        return self.schema.table(listing.table).column(listing.column).type

    def candidates(self, situation: Situation, target: Mapping[str, str]) -> tuple[Candidate, ...]:
        """List a situation's candidates for a target, in the order of the rows.

        Raises
        ------
        DataError
            The target lacks a needed parameter, or lists an unknown name.
        """
        return self.candidates_by(self.lister(situation), target)

    def candidates_by(self, lister: Lister, target: Mapping[str, str]) -> tuple[Candidate, ...]:
        """List the candidates by calling `lister`. Errors are those of `candidates`."""
        listing = self.listing
        found: Sequence[Candidate] = [
            _candidate_of(cell, listing.type, self.name) for cell in lister(listing, target)
        ]
        if listing.except_ is not None:
            excluded = self.require(target, listing.except_, "the list of candidates")
            found = [name for name in found if str(name) != excluded]
        if listing.listed_in is not None:
            return _listed_in(found, target, listing.listed_in)
        return tuple(found)

    def lister(self, situation: Situation) -> Lister:
        """Return a function that takes a listing, and returns its values in a situation."""
        return partial(self._listed, situation)

    def _listed(
        self, situation: Situation, listing: Listing, target: Mapping[str, str]
    ) -> Sequence[Cell]:
        if listing.table is not None:
            return self._column_values(listing, situation[listing.table], target)
        kind: Kind = "relational" if listing.sql is not None else "graph"
        statement = self.statement(listing, kind, target)
        if statement is None:
            return ()
        return first_column(embedded(situation, kind), statement, called=self.called(listing, kind))

    def _column_values(
        self, listing: Listing, table: Table, target: Mapping[str, str]
    ) -> Sequence[Cell]:
        """Return the values of a column in the selected rows, in the order of the table."""
        values: list[Cell] = table[listing.column or ""].tolist()
        for column, parameter in listing.where.items():
            wanted = self.require(target, parameter, f"the list of '{table.schema.name}'")
            # Values of a target are texts, but the column may have another type.
            keeps = [str(cell) == wanted for cell in table[column].tolist()]
            values = [value for value, is_listed in zip(values, keeps, strict=True) if is_listed]
        return values

    def statement(self, listing: Listing, kind: Kind, target: Mapping[str, str]) -> str | None:
        """Return a listing's statement for a kind of database; None if the listing has none."""
        text = listing.sql if kind == "relational" else listing.cypher
        return None if text is None else self._filled(Template(text), kind, self.values(target))

    def called(self, listing: Listing, kind: Kind) -> str:
        """Return the words that name a listing's statement in error messages."""
        if listing is self.listing:
            return self.called_file("candidates", kind)
        return f"A statement of a parameter, in {self.folder}/scenario.toml,"

    def called_file(self, stem: str, kind: Kind) -> str:
        """Return the words that name a file's statement in error messages."""
        return f"The statement in {self.folder}/{stem}{SUFFIXES[kind]}"

    def values(self, target: Mapping[str, str]) -> dict[str, Scalar | tuple[Scalar, ...]]:
        """Return the values of a target in the types of their parameters.

        Raises
        ------
        DataError
            A text cannot be converted to the type of its parameter.
        """
        return {
            key: read_list(key, text, self.type_of(key))
            if (parameter := self.parameters.get(key)) and parameter.type == "list"
            else read_value(key, text, self.type_of(key))
            for key, text in target.items()
        }

    def type_of(self, key: str) -> ParameterType:
        """Return the type of a parameter.

        If the parameter is a list, return the type of its values.
        """
        parameter = self.parameters.get(key)
        if parameter is None:
            return "text"
        if parameter.type not in (None, "list"):
            return parameter.type
        listing: Listing = parameter.follows or parameter
        if listing.table is None or listing.column is None:
            return "text"
        return type_of_column(self.schema.table(listing.table).column(listing.column).type)

    def require(self, target: Mapping[str, object], key: str, what: str) -> object:
        """Return a value of a target. Raise `DataError` if the target lacks the value.

        Parameters
        ----------
        target
            The target, or values by name.
        key
            The name of the value.
        what
            The part of the scenario that needs the value. The error message names it.
        """
        if key not in target:
            raise DataError(
                f"The target of a question of '{self.name}' lacks '{key}', which {what} needs. "
                f"The target has {', '.join(target) or 'no parameters'}."
            )
        return target[key]

    # --- statements about a question ---

    def context(self, question: Question, kind: Kind) -> tuple[str, ...]:
        """Return the statements that read relevant data for a question; may be empty.

        Parameters
        ----------
        question
            A question of this scenario.
        kind
            The kind of database, which determines the language of the statements. They run on every
            dialect of this language.

        Raises
        ------
        DataError
            The question lacks a parameter of a statement.
        """
        return tuple(
            self.filled_for(question, kind, template) for template in self.contexts.get(kind, ())
        )

    def filled_for(self, question: Question, kind: Kind, template: Template) -> str:
        """Fill a statement with a question's target and ``$candidates``.

        Raises
        ------
        DataError
            The question lacks a parameter of the statement.
        """
        values: dict[str, Scalar | Sequence[Scalar]] = {**self.values(question.target)}
        if question.candidates:
            values["candidates"] = question.candidates
        return self._filled(template, kind, values)

    def _filled(self, template: Template, kind: Kind, values: Values) -> str:
        for key in template.get_identifiers():
            self.require(values, key, "a statement")
        return filled(template, kind, values)


def _candidate_of(cell: Cell, wanted: ColumnType | None, scenario: str) -> Candidate:
    """Return a listed value as a candidate.

    Raise `DataError` if the value is neither text nor a whole number.

    Parameters
    ----------
    cell
        The value.
    wanted
        The type of candidates that the scenario declares; None if it declares no type.
    scenario
        The scenario's name, for errors.
    """
    if wanted == "text" and cell is not None:
        return str(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    if isinstance(cell, str) and wanted is None:
        return cell
    needed = "a whole number" if wanted == "integer" else "text or a whole number"
    raise DataError(
        f"The candidates of scenario '{scenario}' contain {cell!r}, which is not {needed}."
    )


def _listed_in(
    names: Sequence[Candidate], target: Mapping[str, str], key: str
) -> tuple[Candidate, ...]:
    """Return the names that occur in the text ``target[key]``, in the order of `names`.

    If the target lacks the key, all names are returned. An unknown name raises `DataError`.
    """
    if key not in target:
        return tuple(names)
    wanted = target[key].split(LIST_SEPARATOR)
    known = {str(name) for name in names}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(
            f"'{unknown[0]}' is listed as a candidate, but the situation does not contain it."
        )
    return tuple(name for name in names if str(name) in set(wanted))
