"""``scenario.toml`` as typed data: what is not code, text or statements.

The classes are the format: a field that none of them has is an error, and `dqa.scenarios.reading`
says where it stands and how to mend it.
"""

from __future__ import annotations

from string import Template
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dqa.core.simulator import Goal
from dqa.core.situation import ColumnType
from dqa.scenarios.json_schemas import describe_fields

Name = Annotated[str, StringConstraints(min_length=1)]
PlainName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$")]
EntryPointText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
"""An object of Python: ``package.module:OBJECT``."""
_DATABASE = r"^[^{}]*\{question_num\}[^{}]*$|^\{[a-z_]\w*\}$"

ParameterType = Literal[
    "text", "integer", "number", "decimal", "boolean", "date", "timestamp", "list"
]
"""What the text of a parameter has to be; a decimal is a number."""


class Part(BaseModel):
    """What all parts of the document have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a file that holds this, which editors complete and check by."""
        return cls.model_json_schema(mode="validation", by_alias=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe each field by the class's docstring."""
        found = handler(core_schema)
        describe_fields(cls, handler.resolve_ref_schema(found))
        return found


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
    """Where a list of values comes from: a column of a table, or a statement.

    Attributes
    ----------
    table, column
        The column whose values are listed, in the order of the rows.
    where
        Keep the rows in which each of these columns has the value of this parameter.
    sql, cypher
        Statements, as templates over the parameters, whose first column lists the values. Either
        serves a situation in memory; a live database is asked in its own language.
    """

    table: str | None = None
    column: str | None = None
    where: dict[str, str] = {}
    sql: str | None = None
    cypher: str | None = None

    @property
    def is_statement(self) -> bool:
        """Whether statements list the values."""
        return self.sql is not None or self.cypher is not None

    @property
    def is_given(self) -> bool:
        """Whether anything lists values at all."""
        return self.is_statement or self.table is not None

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that have to be known before anything can be listed."""
        statements = [Template(text) for text in (self.sql, self.cypher) if text is not None]
        named = [name for statement in statements for name in statement.get_identifiers()]
        return frozenset((*self.where.values(), *named))


class Parameter(Listing):
    """One thing that a question is about: a key of its target.

    Attributes
    ----------
    description
        What it is, for people.
    type
        What its text has to be; ``list`` is several names separated by ``", "``. By default what
        the listed column holds, or else text.
    optional
        Whether a question may leave it out.
    follows
        What its one value is, once the parameters that this listing needs are known.
    """

    description: str = ""
    type: ParameterType | None = None
    optional: bool = False
    follows: Listing | None = None


class CandidatesPart(Listing):
    """What can be chosen.

    Attributes
    ----------
    noun
        What one of them is, e.g. ``"supplier"``.
    called
        Other nouns by which an answer may call one, e.g. ``"firm"``.
    type
        ``text`` or ``integer``; by default what the listed column holds.
    except_
        The parameter whose value cannot be chosen; ``except`` in the file.
    listed_in
        The parameter that lists which of them a question lets choose.
    """

    noun: Name
    called: tuple[str, ...] = ()
    type: Literal["text", "integer"] | None = None
    except_: str | None = Field(default=None, alias="except")
    listed_in: str | None = None


class OutcomesPart(Part):
    """What a decision leads to, and where that comes from.

    Attributes
    ----------
    unit
        What the outcome is, e.g. ``"profit"``.
    goal
        Whether more or less of it is better.
    confirmed
        False while goal, candidates and outcomes are guesses of ``dqa init``: no decision is made.
    source
        ``python``: a simulator (`dqa.core.simulator.Simulator`) at `python`. ``query``:
        ``outcomes.sql`` or ``outcomes.cypher``, whose rows are a candidate and its value.
        ``formula``: `formula` over the columns of `table`, whose `key` names the candidate.
        ``recorded``: every question brings what its candidates led to.
    baseline
        The outcome of deciding nothing, where a query or a formula tells the others; without it
        no gain over deciding nothing is told.
    """

    unit: Name
    goal: Goal
    confirmed: bool = True
    source: Literal["python", "query", "formula", "recorded"]
    python: EntryPointText | None = None
    table: str | None = None
    key: str | None = None
    formula: str | None = None
    baseline: float | None = None


class Computed(Part):
    """A sum or mean that gives the same value as a column, by the scenario's rules.

    Attributes
    ----------
    function
        What sums up.
    table, columns
        What its argument holds: these columns and no other.
    by
        The column that chooses or groups the rows; by no other of the table, so none is left out.
    beside
        ``(table, column)`` that the same statement has to read, too.
    """

    function: Literal["sum", "avg"]
    table: str
    columns: frozenset[str] = Field(min_length=1)
    by: str
    beside: tuple[str, str] | None = None


class Spared(Part):
    """When a decision does without a value: a number compares the candidates by what it leaves.

    Attributes
    ----------
    by
        The critical value that such a number is worked out from, by name.
    beside
        Of these columns, ``(table, column)`` each, one has to be in the number, too.
    """

    by: str
    beside: tuple[tuple[str, str], ...] = Field(min_length=1)


class CriticalValue(Part):
    """A value without which a question cannot be answered well (PlanRAG, section 5.2).

    Attributes
    ----------
    name
        What reports call it.
    table, column
        Where the database has it.
    computed
        How else it can be had; None where no sum or mean gives it.
    solved
        Columns, ``(table, column)`` each, that hold the value between them, by an equation of the
        scenario's: a number that all of them went into holds it, too.
    spared
        When a decision does without it; None for never.
    """

    name: Name
    table: str
    column: str
    computed: Computed | None = None
    solved: tuple[tuple[str, str], ...] = ()
    spared: Spared | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Table and column, as statements are read."""
        return self.table, self.column


class MattersPart(Part):
    """Which of the data a question turns on: what a parameter names, and what leads there.

    Attributes
    ----------
    parameter
        What the question is about; its table is one of nodes.
    along
        Labels of edges: everything matters from which that can be reached along them.
    """

    parameter: str
    along: tuple[str, ...] = ()


class HeuristicPart(Part):
    """A heuristic: a query whose first row's first column is taken for the answer.

    Its statements are ``heuristics/NAME.sql`` and ``heuristics/NAME.cypher``.

    Attributes
    ----------
    name
        What the decider is called that answers by it; no other decider has the name.
    description
        What it chooses, in one line.
    """

    name: PlainName
    description: Name


class ReleasePart(Part):
    """The files of a release that hold the scenario, below ``data/NAME``.

    Attributes
    ----------
    questions
        The file of questions, below ``questions``.
    database
        The name of a database's file without its ending, below ``queries/SQL_format`` and
        ``queries/LPG_format``: ``q{question_num}`` where every question has its own, or one
        parameter in braces, whose value names the database.
    constants
        What else every question's entry holds when it is written. Reading passes over it.
    """

    questions: Name = "questions.json"
    database: Annotated[str, StringConstraints(pattern=_DATABASE)]
    constants: dict[str, str] = {}


class HiddenPart(Part):
    """Something that the other side knows, and that its history lets one infer.

    Attributes
    ----------
    name
        What it is called.
    description
        What it means.
    states
        What it can be, in their order.
    """

    name: Name
    description: str = ""
    states: tuple[Name, ...] = Field(min_length=2)


class EventsPart(Part):
    """A history of two sides that act in turn, for deciders that look back and ahead.

    A question is then a move: its candidates are what one's own side can do next.

    Attributes
    ----------
    sql, cypher
        Statements, as templates over the parameters, whose rows are the events so far, in order:
        who acted, what was done and, where there is a third column, what it consisted of. A column
        ``number`` besides, wherever it stands, has their places from 1, so that gaps are noticed.
    player, opponent
        How the first column calls one's own side, and the other.
    replies
        What the other side can do; by default all that it did so far.
    hidden
        What is to be inferred of the other side.
    """

    sql: str | None = None
    cypher: str | None = None
    player: Name
    opponent: Name
    replies: tuple[Name, ...] = ()
    hidden: tuple[HiddenPart, ...] = ()

    @model_validator(mode="after")
    def _is_asked_for(self) -> Self:
        if self.sql is None and self.cypher is None:
            raise ValueError("say by which statement events are read: sql = ... or cypher = ...")
        if self.player == self.opponent:
            raise ValueError(f"player and opponent are both '{self.player}': they are two sides")
        return self


class GeneratorPart(Part):
    """Where the scenario's generator is (`dqa.scenarios.generation.Generator`)."""

    python: EntryPointText


class SharedParts(Part):
    """What a file may hold that several scenarios include, such as ``tables.toml``.

    Attributes
    ----------
    tables, nodes, edges
        The data, and how they read as a graph.
    parameters
        What questions are about, by key of their targets.
    settings
        Of deciders, by name as ``--set`` has them, where they differ from what is usual.
    """

    tables: tuple[TablePart, ...] = ()
    nodes: tuple[NodePart, ...] = ()
    edges: tuple[EdgePart, ...] = ()
    parameters: dict[str, Parameter] = {}
    settings: dict[str, str | int | float | bool] = {}


class ScenarioFile(SharedParts):
    """What a ``scenario.toml`` may hold, as it is written.

    Attributes
    ----------
    name
        What commands call the scenario.
    include
        Files with tables, nodes, edges, parameters and settings that several scenarios share
        (`dqa.scenarios.including`), whose parts stand beneath those of this one.
    order
        Where it stands among others; scenarios without a number come last, by name.
    candidates, outcomes
        What can be chosen, and what it leads to.
    events
        The history of two sides that act in turn, where a question is a move; else None.
    critical_values
        What the analysis of a run looks for.
    matters
        Of which data it counts; None for all.
    heuristics
        Queries that answer without any calculation by the rules.
    release
        How a release's files hold it; None where no file of questions does.
    generator
        None where no questions are generated.
    scripts
        Scripted analysts by name.
    """

    name: PlainName
    include: tuple[str, ...] = ()
    order: int | None = None
    candidates: CandidatesPart
    outcomes: OutcomesPart
    events: EventsPart | None = None
    critical_values: tuple[CriticalValue, ...] = ()
    matters: MattersPart | None = None
    heuristics: tuple[HeuristicPart, ...] = ()
    release: ReleasePart | None = None
    generator: GeneratorPart | None = None
    scripts: dict[str, EntryPointText] = {}


class ScenarioDocument(ScenarioFile):
    """A ``scenario.toml`` with what it includes: the whole of what is data.

    Attributes
    ----------
    tables
        At least one: its own, or one that it includes.
    """

    tables: tuple[TablePart, ...] = Field(min_length=1)
