"""``scenario.toml`` as typed data.

The classes are the format. An unknown field is an error, and `dqa.scenarios.reading` reports its
line and how to fix it.
"""

from __future__ import annotations

import inspect
import re
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

Name = Annotated[str, StringConstraints(min_length=1)]
PlainName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$")]
EntryPointText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
"""An object of Python: ``package.module:OBJECT``."""
_DATABASE = r"^[^{}]*\{question_num\}[^{}]*$|^\{[a-z_]\w*\}$"

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*)\n(?P<text>(?: {4}.*\n?)+)", re.MULTILINE)
_MARKS = re.compile(r"`+")

ParameterType = Literal[
    "text", "integer", "number", "decimal", "boolean", "date", "timestamp", "list"
]
"""The type of a parameter's text; a decimal is a number."""


class Part(BaseModel):
    """The base of all parts of the document."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a file with this content, for editors."""
        return cls.model_json_schema(mode="validation", by_alias=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe each field by the class's docstring."""
        found = handler(core_schema)
        _describe_fields(cls, handler.resolve_ref_schema(found))
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
    """The source of a list of values: a column of a table, or a statement.

    Attributes
    ----------
    table, column
        The column whose values are listed, in the order of the rows.
    where
        Keep the rows in which each of these columns has the value of this parameter.
    sql, cypher
        Statements, as templates over the parameters, whose first column lists the values. Either
        one serves a situation in memory; a live database needs its own language.
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
        """Whether there is a source of values."""
        return self.is_statement or self.table is not None

    @property
    def needs(self) -> frozenset[str]:
        """The parameters that the source needs."""
        statements = [Template(text) for text in (self.sql, self.cypher) if text is not None]
        named = [name for statement in statements for name in statement.get_identifiers()]
        return frozenset((*self.where.values(), *named))


class Parameter(Listing):
    """A parameter of questions: a key of their targets.

    Attributes
    ----------
    description
        Its meaning, for people.
    type
        The type of its text; ``list`` is several names separated by ``", "``. By default the type
        of the listed column, or else text.
    optional
        Whether a question may leave it out.
    follows
        The listing of its only value, which depends on other parameters.
    """

    description: str = ""
    type: ParameterType | None = None
    optional: bool = False
    follows: Listing | None = None


class CandidatesPart(Listing):
    """The candidates of a question.

    Attributes
    ----------
    noun
        A word for one of them, such as ``"supplier"``.
    called
        Other words for one of them in answers, such as ``"firm"``.
    type
        ``text`` or ``integer``; by default the type of the listed column.
    except_
        The parameter whose value cannot be chosen; ``except`` in the file.
    listed_in
        The parameter that lists the candidates of a question.
    """

    noun: Name
    called: tuple[str, ...] = ()
    type: Literal["text", "integer"] | None = None
    except_: str | None = Field(default=None, alias="except")
    listed_in: str | None = None


class OutcomesPart(Part):
    """The outcomes of decisions, and their source.

    Attributes
    ----------
    unit
        The outcome in a word, such as ``"profit"``.
    goal
        Whether more or less of it is better.
    confirmed
        False while goal, candidates and outcomes are guesses of ``dqa init``: no decision is made.
    source
        ``python``: a simulator (`dqa.core.simulator.Simulator`) at `python`. ``query``:
        ``outcomes.sql`` or ``outcomes.cypher``, whose rows are a candidate and its value.
        ``recorded``: every question contains the outcomes of its candidates.
    baseline
        The outcome of no decision, for a query; without it no gain over no decision is reported.
    """

    unit: Name
    goal: Goal
    confirmed: bool = True
    source: Literal["python", "query", "recorded"]
    python: EntryPointText | None = None
    baseline: float | None = None


class Computed(Part):
    """A sum or mean that gives the same value as a column, by the scenario's rules.

    Attributes
    ----------
    function
        The aggregate function.
    table, columns
        The columns of its argument: exactly these.
    by
        The only column of the table that selects or groups the rows.
    beside
        ``(table, column)`` that the same statement has to read, too.
    """

    function: Literal["sum", "avg"]
    table: str
    columns: frozenset[str] = Field(min_length=1)
    by: str
    beside: tuple[str, str] | None = None


class Spared(Part):
    """A number that compares the candidates without a critical value.

    Attributes
    ----------
    by
        The name of the critical value that the number is computed from.
    beside
        Columns, ``(table, column)`` each; the number has to contain one of them, too.
    """

    by: str
    beside: tuple[tuple[str, str], ...] = Field(min_length=1)


class CriticalValue(Part):
    """A value without which a question cannot be answered well (PlanRAG, section 5.2).

    Attributes
    ----------
    name
        Its name in reports.
    table, column
        Its location in the database.
    computed
        A sum or mean that gives the same value; None without one.
    solved
        Columns, ``(table, column)`` each, that determine the value by an equation of the scenario:
        a number computed from all of them contains it, too.
    spared
        A number that makes it unnecessary; None without one.
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
    """The relevant part of the data: a node, and the nodes with a path to it.

    Attributes
    ----------
    parameter
        The parameter with the node; its table is one of nodes.
    along
        The labels of the edges of such a path.
    """

    parameter: str
    along: tuple[str, ...] = ()


class HeuristicPart(Part):
    """A heuristic: a query whose first row's first column is the answer.

    Its statements are ``heuristics/NAME.sql`` and ``heuristics/NAME.cypher``.

    Attributes
    ----------
    name
        The name of its decider, which no other decider has.
    description
        The choice that it makes, in one line.
    """

    name: PlainName
    description: Name


class ReleasePart(Part):
    """The files of the scenario in a release, below ``data/NAME``.

    Attributes
    ----------
    questions
        The file of questions, below ``questions``.
    database
        The name of a database's file without its ending, below ``queries/SQL_format`` and
        ``queries/LPG_format``: ``q{question_num}`` if every question has its own, or one
        parameter in braces, whose value names the database.
    constants
        Further fields of every question's entry when it is written; ignored when it is read.
    wordings
        Regular expressions that find the parameters in questions with other words than the
        scenario's: a group for each parameter.
    """

    questions: Name = "questions.json"
    database: Annotated[str, StringConstraints(pattern=_DATABASE)]
    constants: dict[str, str] = {}
    wordings: tuple[str, ...] = ()


class HiddenPart(Part):
    """A hidden property of the other side, which its history lets one infer.

    Attributes
    ----------
    name
        Its name.
    description
        Its meaning.
    states
        Its possible values, in their order.
    """

    name: Name
    description: str = ""
    states: tuple[Name, ...] = Field(min_length=2)


class EventsPart(Part):
    """A history of two sides that act in turn, for deciders that look back and ahead.

    A question is then a move: its candidates are the player's next actions.

    Attributes
    ----------
    sql, cypher
        Statements, as templates over the parameters, whose rows are the events so far, in order:
        the actor, the action and, in an optional third column, its details. An optional column
        ``number`` counts the events from 1, so that gaps are noticed.
    player, opponent
        The two sides as the first column names them.
    replies
        The possible actions of the other side; by default all its actions so far.
    hidden
        Properties of the other side to infer.
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
            raise ValueError("name the statement that reads the events: sql = ... or cypher = ...")
        if self.player == self.opponent:
            raise ValueError(f"player and opponent are both '{self.player}': they are two sides")
        return self


class GeneratorPart(Part):
    """The location of the scenario's generator (`dqa.scenarios.generation.Generator`)."""

    python: EntryPointText


class SharedParts(Part):
    """The content of a file that several scenarios include, such as ``tables.toml``.

    Attributes
    ----------
    tables, nodes, edges
        The data, and their mapping to a graph.
    parameters
        The parameters of questions, by key of their targets.
    settings
        Settings of deciders that differ from the defaults, by name as in ``--set``.
    """

    tables: tuple[TablePart, ...] = ()
    nodes: tuple[NodePart, ...] = ()
    edges: tuple[EdgePart, ...] = ()
    parameters: dict[str, Parameter] = {}
    settings: dict[str, str | int | float | bool] = {}


class ScenarioFile(SharedParts):
    """The content of a ``scenario.toml`` as it is written.

    Attributes
    ----------
    name
        The scenario's name in commands.
    include
        Files with tables, nodes, edges, parameters and settings that several scenarios share
        (`dqa.scenarios.including`).
    order
        Its position in lists; scenarios without a number come last, by name.
    candidates, outcomes
        The candidates of a question, and their outcomes.
    events
        The history of two sides that act in turn, if a question is a move.
    critical_values
        The values that the analysis of a run looks for.
    matters
        The relevant part of the data; None for all.
    heuristics
        Queries that answer without a calculation by the rules.
    release
        Its files in a release; None without any.
    generator
        The generator of its questions; None without one.
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
    """A ``scenario.toml`` with its included files.

    Attributes
    ----------
    tables
        At least one, its own or an included one.
    """

    tables: tuple[TablePart, ...] = Field(min_length=1)


def _describe_fields(kind: type[Any], schema: dict[str, Any]) -> None:
    """Add a class's docstring to its JSON Schema by pydantic, which is changed."""
    schema["description"] = _plain((inspect.getdoc(kind) or "").partition("\n\nAttributes\n")[0])
    described: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        doc = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        _, _, section = doc.partition("\n\nAttributes\n----------\n")
        for entry in _ENTRY.finditer(section):
            described |= dict.fromkeys(entry["names"].split(", "), _plain(entry["text"]))
    for name, field in schema.get("properties", {}).items():
        field.pop("title", None)
        _without_null(field)
        # A name that Python reserves has an underscore behind it there.
        text = described.get(name) or described.get(f"{name}_")
        if text:
            field["description"] = text


def _without_null(field: dict[str, Any]) -> None:
    """Remove null from the types of a field; TOML has none."""
    if "default" in field and field["default"] is None:
        del field["default"]
    kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1 and len(kinds) < len(field["anyOf"]):
        del field["anyOf"]
        field.update(kinds[0])


def _plain(text: str) -> str:
    return _MARKS.sub("'", " ".join(text.split()))
