"""``scenario.toml`` as typed data.

The classes are the format. An unknown field is an error, and `dqa.scenarios.reading` reports its
line and how to fix it.
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
"""The type of a parameter's text; a decimal is a number."""


class _WithoutNull(GenerateJsonSchema):
    """Writes optional fields without null, which TOML does not have."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        optional = schema.get("default", self) is None
        return self.generate_inner(schema["schema"]) if optional else super().default_schema(schema)


class Part(BaseModel):
    """The base of all parts of the document."""

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
    """How a table's rows read as nodes of a graph: properties by name, each with its column."""

    label: Name
    table: str
    key: str
    properties: dict[str, str] = Field(min_length=1)


class EdgePart(Part):
    """How a table's rows read as edges: an end is a node's label and the column with its key."""

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
    """Keep the rows in which each of these columns has the value of this parameter."""
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
    """A parameter of questions: a key of their targets."""

    description: str = ""
    """Its meaning, for people."""
    type: ParameterType | None = None
    """The type of its text; ``list`` is several names separated by ``", "``. By default the type
    of the listed column, or else text."""
    optional: bool = False
    """Whether a question may leave it out."""
    follows: Listing | None = None
    """The listing of its only value, which depends on other parameters."""


class CandidatesPart(Listing):
    """The candidates of a question."""

    noun: Name
    """A word for one of them, such as ``"supplier"``."""
    called: tuple[str, ...] = ()
    """Other words for one of them in answers, such as ``"firm"``."""
    type: Literal["text", "integer"] | None = None
    """``text`` or ``integer``; by default the type of the listed column."""
    except_: str | None = Field(default=None, alias="except")
    """The parameter whose value cannot be chosen; ``except`` in the file."""
    listed_in: str | None = None
    """The parameter that lists the candidates of a question."""


class OutcomesPart(Part):
    """The outcomes of decisions, and their source."""

    unit: Name
    """The outcome in a word, such as ``"profit"``."""
    goal: Goal
    """Whether more or less of it is better."""
    confirmed: bool = True
    """False while goal, candidates and outcomes are guesses of ``dqa init``: no decision is
    made."""
    source: Literal["python", "query", "recorded"]
    """``python``: a simulator (`dqa.core.simulator.Simulator`) at `python`. ``query``:
    ``outcomes.sql`` or ``outcomes.cypher``, whose rows are a candidate and its value.
    ``recorded``: every question contains the outcomes of its candidates."""
    python: EntryPointText | None = None
    baseline: float | None = None
    """The outcome of no decision, for a query; without it no gain over no decision is reported."""


class Computed(Part):
    """A sum or mean that gives the same value as a column, by the scenario's rules."""

    function: Literal["sum", "avg"]
    """The aggregate function."""
    table: str
    """The columns of its argument: exactly these."""
    columns: frozenset[str] = Field(min_length=1)
    """The columns of its argument: exactly these."""
    by: str
    """The only column of the table that selects or groups the rows."""
    beside: tuple[str, str] | None = None
    """``(table, column)`` that the same statement has to read, too."""


class Spared(Part):
    """A number that compares the candidates without a critical value."""

    by: str
    """The name of the critical value that the number is computed from."""
    beside: tuple[tuple[str, str], ...] = Field(min_length=1)
    """Columns, ``(table, column)`` each; the number has to contain one of them, too."""


class CriticalValue(Part):
    """A value without which a question cannot be answered well (PlanRAG, section 5.2)."""

    name: Name
    """Its name in reports."""
    table: str
    """Its location in the database."""
    column: str
    """Its location in the database."""
    computed: Computed | None = None
    """A sum or mean that gives the same value; None without one."""
    solved: tuple[tuple[str, str], ...] = ()
    """Columns, ``(table, column)`` each, that determine the value by an equation of the scenario:
    a number computed from all of them contains it, too."""
    spared: Spared | None = None
    """A number that makes it unnecessary; None without one."""

    @property
    def place(self) -> tuple[str, str]:
        """Table and column, as statements are read."""
        return self.table, self.column


class MattersPart(Part):
    """The relevant part of the data: a node, and the nodes with a path to it."""

    parameter: str
    """The parameter with the node; its table is one of nodes."""
    along: tuple[str, ...] = ()
    """The labels of the edges of such a path."""


class HeuristicPart(Part):
    """A heuristic: a query whose first row's first column is the answer.

    Its statements are ``heuristics/NAME.sql`` and ``heuristics/NAME.cypher``.
    """

    name: PlainName
    """The name of its decider, which no other decider has."""
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
    """Further fields of every question's entry when it is written; ignored when it is read."""


class HiddenPart(Part):
    """A hidden property of the other side, which its history lets one infer."""

    name: Name
    """Its name."""
    description: str = ""
    """Its meaning."""
    states: tuple[Name, ...] = Field(min_length=2)
    """Its possible values, in their order."""


class EventsPart(Part):
    """A history of two sides that act in turn, for deciders that look back and ahead.

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
    """The two sides as the first column names them."""
    opponent: Name
    """The two sides as the first column names them."""
    replies: tuple[Name, ...] = ()
    """The possible actions of the other side; by default all its actions so far."""
    hidden: tuple[HiddenPart, ...] = ()
    """Properties of the other side to infer."""

    @model_validator(mode="after")
    def _is_asked_for(self) -> Self:
        if self.sql is None and self.cypher is None:
            raise ValueError("name the statement that reads the events: sql = ... or cypher = ...")
        if self.player == self.opponent:
            raise ValueError(f"player and opponent are both '{self.player}': they are two sides")
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
    """The content of a ``scenario.toml`` as it is written."""

    name: PlainName
    """The scenario's name in commands."""
    include: tuple[str, ...] = ()
    """Files with tables, nodes, edges, parameters and settings that several scenarios share
    (`dqa.scenarios.including`)."""
    order: int | None = None
    """Its position in lists; scenarios without a number come last, by name."""
    candidates: CandidatesPart
    """The candidates of a question, and their outcomes."""
    outcomes: OutcomesPart
    """The candidates of a question, and their outcomes."""
    events: EventsPart | None = None
    """The history of two sides that act in turn, if a question is a move."""
    critical_values: tuple[CriticalValue, ...] = ()
    """The values that the analysis of a run looks for."""
    matters: MattersPart | None = None
    """The relevant part of the data; None for all."""
    heuristics: tuple[HeuristicPart, ...] = ()
    """Queries that answer without a calculation by the rules."""
    release: ReleasePart | None = None
    """Its files in a release; None without any."""
    generator: GeneratorPart | None = None
    """The generator of its questions; None without one."""
    scripts: dict[str, EntryPointText] = {}
    """Scripted analysts by name."""


class ScenarioDocument(ScenarioFile):
    """A ``scenario.toml`` with its included files."""

    tables: tuple[TablePart, ...] = Field(min_length=1)
    """At least one, its own or an included one."""
