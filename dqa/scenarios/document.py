"""``scenario.toml`` as typed data.

The classes define the format. An unknown field is an error. `dqa.scenarios.reading` reports the
field and how to fix it.
"""

from __future__ import annotations

from string import Template
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from dqa.core.simulator import Goal
from dqa.core.situation import ColumnType

Name = Annotated[str, StringConstraints(min_length=1)]
PlainName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$")]
EntryPointText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
"""An object of Python: ``package.module:OBJECT``."""
_DATABASE = r"^[^{}]*\{question_num\}[^{}]*$|^\{[a-z_]\w*\}$"

ParameterType = Literal[
    "text", "integer", "number", "decimal", "boolean", "date", "timestamp", "list"
]
"""The types of parameters. A ``decimal`` and a ``number`` have the same texts."""


class _WithoutNull(GenerateJsonSchema):
    """Describes optional fields without null, because TOML has no null."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        optional = schema.get("default", self) is None
        return self.generate_inner(schema["schema"]) if optional else super().default_schema(schema)


class Part(BaseModel):
    """The base class of all parts of the document."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True
    )

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a file with this content, for editors."""
        return cls.model_json_schema(schema_generator=_WithoutNull)


class ColumnPart(Part):
    """A column of a table."""

    name: Name
    type: ColumnType
    description: str = ""


class TablePart(Part):
    """A table, its columns and its primary key."""

    name: Name
    columns: tuple[ColumnPart, ...] = Field(min_length=1)
    key: tuple[str, ...] = Field(min_length=1)
    description: str = ""


class NodePart(Part):
    """Maps a table's rows to nodes of a graph, and properties by name to columns."""

    label: Name
    table: str
    key: str
    properties: dict[str, str] = Field(min_length=1)


class EdgePart(Part):
    """Maps a table's rows to edges.

    Each end is a node's label and the column with the node's key.
    """

    label: Name
    table: str
    source: tuple[str, str]
    target: tuple[str, str]
    properties: dict[str, str] = {}


class Listing(Part):
    """The source of a list of values: a column of a table, or a statement."""

    table: str | None = None
    """The column whose values are listed, in the order of the rows."""
    column: str | None = None
    """The column whose values are listed, in the order of the rows."""
    where: dict[str, str] = {}
    """Maps columns to parameters.

    Only rows in which each column has the parameter's value are listed.
    """
    sql: str | None = None
    """Statements, as templates over the parameters, whose first column lists the values. Either
    one serves a situation in memory; a live database needs its own language."""
    cypher: str | None = None
    """Statements, as templates over the parameters, whose first column lists the values. Either
    one serves a situation in memory; a live database needs its own language."""

    @property
    def is_statement(self) -> bool:
        """Whether statements list the values."""
        return self.sql is not None or self.cypher is not None

    @property
    def is_given(self) -> bool:
        """Whether there is a source of values."""
        return self.is_statement or self.table is not None

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that the source needs."""
        statements = [Template(text) for text in (self.sql, self.cypher) if text is not None]
        named = [name for statement in statements for name in statement.get_identifiers()]
        return frozenset((*self.where.values(), *named))


class Parameter(Listing):
    """A parameter of questions, which is a key in their targets."""

    description: str = ""
    """The meaning of the parameter, for people."""
    type: ParameterType | None = None
    """The type of its text; ``list`` is several names separated by ``", "``. By default the type
    of the listed column, or else text."""
    optional: bool = False
    """Whether a question may leave it out."""
    follows: Listing | None = None
    """The source of the parameter's only possible value, which depends on other parameters."""


class CandidatesPart(Listing):
    """The candidates of a question."""

    noun: Name
    """A word for a candidate, such as ``"supplier"``."""
    called: tuple[str, ...] = ()
    """Other words for a candidate in answers, such as ``"firm"``."""
    type: Literal["text", "integer"] | None = None
    """``text`` or ``integer``; by default the type of the listed column."""
    except_: str | None = Field(default=None, alias="except")
    """The parameter whose value is not a candidate; ``except`` in the file."""
    listed_in: str | None = None
    """The parameter that lists the candidates of a question."""


class OutcomesPart(Part):
    """The outcomes of decisions, and their source."""

    unit: Name
    """A word for the outcome, such as ``"profit"``."""
    goal: Goal
    """Whether a larger or a smaller outcome is better."""
    confirmed: bool = True
    """False as long as goal, candidates and outcomes are guesses of ``dqa init``.

    Until a user confirms them, no decision is made.
    """
    source: Literal["python", "query", "recorded"]
    """``python``: a simulator (`dqa.core.simulator.Simulator`) at `python`. ``query``:
    ``outcomes.sql`` or ``outcomes.cypher``, whose rows are a candidate and its value.
    ``recorded``: every question contains the outcomes of its candidates."""
    python: EntryPointText | None = None
    baseline: float | None = None
    """The outcome without a decision, for a query.

    If it is missing, reports do not compare outcomes with it.
    """


class Computed(Part):
    """A sum or mean that equals the value of a column according to the scenario's rules."""

    function: Literal["sum", "avg"]
    """The aggregate function."""
    table: str
    """The columns of its argument: exactly these."""
    columns: frozenset[str] = Field(min_length=1)
    """The columns of its argument: exactly these."""
    by: str
    """The only column of the table that may select or group the rows."""


class Spared(Part):
    """A computed number that allows a comparison of the candidates without a critical value."""

    by: str
    """The name of the critical value from which the number is computed."""
    beside: tuple[tuple[str, str], ...] = Field(min_length=1)
    """Columns as ``(table, column)``. The number must also be computed from one of them."""


class CriticalValue(Part):
    """A value without which a question cannot be answered well (PlanRAG, section 5.2)."""

    name: Name
    """Its name in reports."""
    table: str
    """Its location in the database."""
    column: str
    """Its location in the database."""
    computed: Computed | None = None
    """A sum or mean that equals the value; None if there is none."""
    solved: tuple[tuple[str, str], ...] = ()
    """Columns as ``(table, column)`` that determine the value by an equation of the scenario.

    A number that is computed from all of them also contains the value.
    """
    spared: Spared | None = None
    """A number that makes the value unnecessary; None if there is none."""

    @property
    def place(self) -> tuple[str, str]:
        """The table and the column, in the form in which the analysis reads statements."""
        return self.table, self.column


class MattersPart(Part):
    """The relevant part of the data: a node, and all nodes from which a path leads to this node."""

    parameter: str
    """The parameter that selects the node. Its table must be mapped to nodes."""
    along: tuple[str, ...] = ()
    """The labels of the edges in these paths."""


class HeuristicPart(Part):
    """A heuristic: a query that returns the answer in the first column of the first row.

    Its statements are ``heuristics/NAME.sql`` and ``heuristics/NAME.cypher``.
    """

    name: PlainName
    """The name of its decider, which must be unique."""
    description: Name
    """The choice that it makes, in one line."""


class ReleasePart(Part):
    """The files of the scenario in a release, below ``data/NAME``."""

    questions: Name = "questions.json"
    """The file of questions, below ``questions``."""
    database: Annotated[str, StringConstraints(pattern=_DATABASE)]
    """The name of a database's file without its ending, below ``queries/SQL_format`` and
    ``queries/LPG_format``: ``q{question_num}`` if every question has its own, or one parameter in
    braces, whose value names the database."""
    constants: dict[str, str] = {}
    """Additional fields of every question's entry.

    They are written, and ignored when they are read.
    """


class HiddenPart(Part):
    """A hidden property of the other side, which can be inferred from the history."""

    name: Name
    """Its name."""
    description: str = ""
    """Its meaning."""
    states: tuple[Name, ...] = Field(min_length=2)
    """Its possible values, in their order."""


class EventsPart(Part):
    """A history of two sides that alternate, for deciders that look back and ahead.

    A question is then a move: its candidates are the player's next actions.
    """

    sql: str | None = None
    """Statements, as templates over the parameters, whose rows are the events so far, in order:
    the actor, the action and, in an optional third column, its details. An optional column
    ``number`` counts the events from 1, so that gaps are noticed."""
    cypher: str | None = None
    """Statements, as templates over the parameters, whose rows are the events so far, in order:
    the actor, the action and, in an optional third column, its details. An optional column
    ``number`` counts the events from 1, so that gaps are noticed."""
    player: Name
    """The names of the two sides in the first column."""
    opponent: Name
    """The names of the two sides in the first column."""
    replies: tuple[Name, ...] = ()
    """The possible actions of the other side; by default all its actions in the history."""
    hidden: tuple[HiddenPart, ...] = ()
    """Properties of the other side to infer."""

    @model_validator(mode="after")
    def _is_asked_for(self) -> Self:
        if self.sql is None and self.cypher is None:
            raise ValueError(
                "the statement that reads the events is missing: write sql = ... or cypher = ..."
            )
        if self.player == self.opponent:
            raise ValueError(f"player and opponent are both '{self.player}': they must differ")
        return self


class GeneratorPart(Part):
    """The location of the scenario's generator (`dqa.scenarios.generation.Generator`)."""

    python: EntryPointText


class SharedParts(Part):
    """The content of a file that several scenarios include, such as ``tables.toml``."""

    tables: tuple[TablePart, ...] = ()
    """The data, and their mapping to a graph."""
    nodes: tuple[NodePart, ...] = ()
    """The data, and their mapping to a graph."""
    edges: tuple[EdgePart, ...] = ()
    """The data, and their mapping to a graph."""
    parameters: dict[str, Parameter] = {}
    """The parameters of questions, by key of their targets."""
    settings: dict[str, str | int | float | bool] = {}
    """Settings of deciders that differ from the defaults, by name as in ``--set``."""


class ScenarioFile(SharedParts):
    """The content of a ``scenario.toml`` without its included files."""

    name: PlainName
    """The scenario's name in commands."""
    include: tuple[str, ...] = ()
    """Files with tables, nodes, edges, parameters and settings that several scenarios share
    (`dqa.scenarios.including`)."""
    order: int | None = None
    """The position of the scenario in lists. Scenarios without a number come last, by name."""
    candidates: CandidatesPart
    """The candidates of a question, and their outcomes."""
    outcomes: OutcomesPart
    """The candidates of a question, and their outcomes."""
    events: EventsPart | None = None
    """The history of two sides that alternate, if a question is a move."""
    critical_values: tuple[CriticalValue, ...] = ()
    """The values that the analysis of a run looks for."""
    matters: MattersPart | None = None
    """The relevant part of the data; None for all."""
    heuristics: tuple[HeuristicPart, ...] = ()
    """Queries that answer without applying the rules."""
    release: ReleasePart | None = None
    """The scenario's files in a release; None if it has none."""
    generator: GeneratorPart | None = None
    """The generator of the scenario's questions; None if it has none."""
    scripts: dict[str, EntryPointText] = {}
    """The scenario's scripted analysts, by name."""


class ScenarioDocument(ScenarioFile):
    """A ``scenario.toml`` with its included files."""

    tables: tuple[TablePart, ...] = Field(min_length=1)
    """The tables: at least one, in this file or in an included file."""
