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
"""The types of parameters. Values of ``decimal`` and ``number`` are written in the same way."""


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
    """Maps the rows of a table to nodes of a graph, and the properties of nodes to columns."""

    label: Name
    table: str
    key: str
    properties: dict[str, str] = Field(min_length=1)


class EdgePart(Part):
    """Maps a table's rows to edges.

    The fields `source` and `target` contain the label of a node, and the column with its key.
    """

    label: Name
    table: str
    source: tuple[str, str]
    target: tuple[str, str]
    properties: dict[str, str] = {}


class Listing(Part):
    """The source of a list of values: a column of a table, or a statement."""

    table: str | None = None
    """The table that contains the values. The values are listed in the order of the rows."""
    column: str | None = None
    """The column that contains the values."""
    where: dict[str, str] = {}
    """Maps columns to parameters.

    Only rows in which each column has the parameter's value are listed.
    """
    sql: str | None = None
    """An SQL statement whose first column lists the values; parameters are placeholders. A live
    SQL database needs this statement. For situations in memory, `cypher` is also sufficient."""
    cypher: str | None = None
    """A Cypher statement whose first column lists the values; parameters are placeholders. A live
    graph needs this statement. For situations in memory, `sql` is also sufficient."""

    @property
    def is_statement(self) -> bool:
        """Whether a statement lists the values."""
        return self.sql is not None or self.cypher is not None

    @property
    def is_given(self) -> bool:
        """Whether the document names a table or a statement that lists the values."""
        return self.is_statement or self.table is not None

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that the source needs."""
        statements = [Template(text) for text in (self.sql, self.cypher) if text is not None]
        named = [name for statement in statements for name in statement.get_identifiers()]
        return frozenset((*self.where.values(), *named))


class Parameter(Listing):
    """A parameter of questions: a key in the target of every question."""

    description: str = ""
    """The meaning of the parameter, for people."""
    type: ParameterType | None = None
    """The type of the parameter; ``list`` means names separated by ``", "``. The default is the
    type of the listed column, or text if no column is listed."""
    optional: bool = False
    """Whether a question may omit the parameter."""
    follows: Listing | None = None
    """The source of the value, if other parameters determine it."""


class CandidatesPart(Listing):
    """The candidates of a question."""

    noun: Name
    """A word for a candidate, such as ``"supplier"``."""
    called: tuple[str, ...] = ()
    """Other words for a candidate in answers, such as ``"firm"``."""
    type: Literal["text", "integer"] | None = None
    """``text`` or ``integer``; by default the type of the listed column."""
    except_: str | None = Field(default=None, alias="except")
    """The parameter whose value is not a candidate. In the file, this field is called
    ``except``."""
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
    """``python``: the simulator (`dqa.core.simulator.Simulator`) in the field `python`. ``query``:
    ``outcomes.sql`` or ``outcomes.cypher``, whose rows are a candidate and its value. ``recorded``:
    every question contains the outcomes of its candidates."""
    python: EntryPointText | None = None
    baseline: float | None = None
    """The outcome without a decision, if the source is ``query``.

    Without a baseline, reports do not compare outcomes with doing nothing.
    """


class Computed(Part):
    """A sum or mean that equals the value of a column according to the scenario's rules."""

    function: Literal["sum", "avg"]
    """The aggregate function."""
    table: str
    """The table of the aggregated columns."""
    columns: frozenset[str] = Field(min_length=1)
    """All columns in the argument of the function."""
    by: str
    """The only column of the table that may group or select the rows."""


class Spared(Part):
    """A number that makes a critical value unnecessary, because it compares the candidates, too."""

    by: str
    """The name of the critical value from which the number is computed."""
    columns: tuple[tuple[str, str], ...] = Field(min_length=1)
    """Columns as ``(table, column)``. At least one of them is also needed to compute the number."""


class CriticalValue(Part):
    """A value without which a question cannot be answered well (PlanRAG, section 5.2)."""

    name: Name
    """The name of the value in reports."""
    table: str
    """The table that contains the value."""
    column: str
    """The column that contains the value."""
    computed: Computed | None = None
    """A sum or mean that equals the value; None if there is none."""
    solved: tuple[tuple[str, str], ...] = ()
    """Columns as ``(table, column)`` from which an equation of the scenario yields the value.

    A number that is computed from all these columns therefore includes the value.
    """
    spared: Spared | None = None
    """A number that makes the value unnecessary; None if there is none."""

    @property
    def place(self) -> tuple[str, str]:
        """The location of the value, as ``(table, column)``."""
        return self.table, self.column


class MattersPart(Part):
    """The relevant part of the data: a node, and all nodes with a path to this node."""

    parameter: str
    """The parameter that selects the node. The table of this parameter must be mapped to nodes."""
    along: tuple[str, ...] = ()
    """The labels of the edges that these paths may contain."""


class HeuristicPart(Part):
    """A heuristic: a query that returns the answer in the first column of the first row.

    Its statements are ``heuristics/NAME.sql`` and ``heuristics/NAME.cypher``.
    """

    name: PlainName
    """The name of the heuristic and of its decider, which must be unique."""
    description: Name
    """The choice of the heuristic, in one line."""


class ReleasePart(Part):
    """The files of the scenario in a release, below ``data/NAME``."""

    questions: Name = "questions.json"
    """The file of questions, below ``questions``."""
    database: Annotated[str, StringConstraints(pattern=_DATABASE)]
    """The name of a database's file without its ending. ``q{question_num}`` means that each
    question has its own database. A parameter in braces means that its value names the database.
    The folders of these files are ``queries/SQL_format`` and ``queries/LPG_format``."""
    constants: dict[str, str] = {}
    """Additional fields of each question in the file of questions.

    dqa writes these fields, and ignores them when it reads the file.
    """


class HiddenPart(Part):
    """A hidden property of the opponent, which a decider can infer from the history."""

    name: Name
    """The name of the property."""
    description: str = ""
    """The meaning of the property."""
    states: tuple[Name, ...] = Field(min_length=2)
    """The possible values, in ascending order."""


class EventsPart(Part):
    """The history of a player and an opponent, who act in turn.

    Every question is a move of the player: its candidates are the player's next actions.
    """

    sql: str | None = None
    """An SQL statement that returns the events so far, in order; parameters are placeholders. The
    columns are the actor, the action and optionally details. An optional column ``number`` counts
    the events from 1, so that missing events are detected."""
    cypher: str | None = None
    """A Cypher statement with the same result as `sql`, for graphs."""
    player: Name
    """The name of the player in the first column."""
    opponent: Name
    """The name of the opponent in the first column."""
    replies: tuple[Name, ...] = ()
    """The possible actions of the opponent; by default all actions of the opponent so far."""
    hidden: tuple[HiddenPart, ...] = ()
    """Hidden properties of the opponent."""

    @model_validator(mode="after")
    def _has_statement(self) -> Self:
        if self.sql is None and self.cypher is None:
            raise ValueError(
                "the statement that reads the events is missing: write sql = ... or cypher = ..."
            )
        if self.player == self.opponent:
            raise ValueError(f"player and opponent are both '{self.player}': they must differ")
        return self


class GeneratorPart(Part):
    """The scenario's generator, an object of `dqa.scenarios.generation.Generator`."""

    python: EntryPointText


class SharedParts(Part):
    """The content of a file that several scenarios include, such as ``tables.toml``."""

    tables: tuple[TablePart, ...] = ()
    """The tables."""
    nodes: tuple[NodePart, ...] = ()
    """The mapping of tables to nodes of a graph."""
    edges: tuple[EdgePart, ...] = ()
    """The mapping of tables to edges of a graph."""
    parameters: dict[str, Parameter] = {}
    """The parameters of questions, by their keys in targets."""
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
    """The candidates of a question."""
    outcomes: OutcomesPart
    """The outcomes of the candidates."""
    events: EventsPart | None = None
    """The history, if questions are moves of a player against an opponent."""
    critical_values: tuple[CriticalValue, ...] = ()
    """Values that a good decision needs. The analysis of a run reports which values were read."""
    matters: MattersPart | None = None
    """The relevant part of the data; None if all data is relevant."""
    heuristics: tuple[HeuristicPart, ...] = ()
    """Queries that answer without applying the rules."""
    release: ReleasePart | None = None
    """The scenario's files in a release; None without a release."""
    generator: GeneratorPart | None = None
    """The generator of the scenario's questions; None without a generator."""
    scripts: dict[str, EntryPointText] = {}
    """The scenario's scripted analysts, by name."""


class ScenarioDocument(ScenarioFile):
    """A ``scenario.toml`` with its included files."""

    tables: tuple[TablePart, ...] = Field(min_length=1)
    """The tables: at least one, in this file or in an included file."""
