"""Seven tools for other people's agents: read-only, bounded and audited.

The MCP server and the LangChain tools offer them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NoReturn, Protocol, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from dqa.api.deciding import Decided, Decisions
from dqa.api.looking import QueriedRows, StatementVerdict, check_statement, query, read_schema
from dqa.api.tables import (
    DescribedTable,
    FoundColumns,
    describe_table,
    find_columns,
    sample_rows,
)
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits
from dqa.core.display import LEAST_TOKENS, MOST_TOKENS
from dqa.core.errors import (
    AuditError,
    DqaError,
    QueryError,
    UnknownNameError,
    UnparsableReplyError,
    UsageError,
)
from dqa.core.records import Record
from dqa.deciders.tools import Arguments, Text, fitted_arguments

Databases: TypeAlias = Database | Mapping[str, Database]
"""An open database, or several by name."""

_MOST_SAMPLED = 100
"""Rows of a sample, and columns that are found, at most."""


class ToolResult(Protocol):
    """The result of a tool: a record, and the text that a model reads."""

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401  (the record's own fields)
        """Return it with some fields changed."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""

    def to_text(self) -> str:
        """Return it as a model reads it."""


_Action: TypeAlias = Callable[..., ToolResult]
"""The function of a tool: called with a database and arguments."""


class SchemaText(Record):
    """What a database holds, as a model reads it.

    Attributes
    ----------
    database, kind, language
        What it is, and what statements are written in.
    text
        One table, label or relationship type a line.
    described, total
        How many of all are described; the others are only named, where there is room.
    """

    database: str
    kind: Kind
    language: str
    text: str
    described: int
    total: int

    def to_text(self) -> str:
        """Return the schema, and what its statements are written in."""
        return f"{self.language}\n{self.text}"


class _Strict(Arguments):
    """Arguments of which each is known: a misspelt one would be left out unseen."""

    model_config = ConfigDict(extra="forbid")


class SchemaArguments(_Strict):
    """What `schema` takes."""

    question: str = Field(
        default="", description="what it is about: tables that its words name are described first"
    )
    tokens: int = Field(
        default=MOST_TOKENS,
        ge=LEAST_TOKENS,
        le=MOST_TOKENS,
        description="most tokens of the description, about",
    )


class DescribeArguments(_Strict):
    """What `describe` takes."""

    table: Text = Field(description="a table; of a graph a label or relationship type")


class SampleArguments(DescribeArguments):
    """What `sample` takes."""

    rows: int = Field(default=5, ge=1, le=_MOST_SAMPLED, description="most rows")


class FindArguments(_Strict):
    """What `find` takes."""

    words: Text = Field(description="words that say what the column holds")
    most: int = Field(default=20, ge=1, le=_MOST_SAMPLED, description="most columns")


class StatementArguments(_Strict):
    """What `check` and `query` take."""

    statement: Text = Field(description="one read-only statement in the database's language")


class AskArguments(_Strict):
    """What `ask` takes."""

    question: str | None = Field(
        default=None, description="what is to be decided; left out where a scenario says it"
    )
    rules: str | None = Field(default=None, description="the business rules, as a text")
    candidates: list[str] | None = Field(default=None, description="what can be chosen, as a list")
    candidates_statement: str | None = Field(
        default=None, description="or a statement whose first column lists what can be chosen"
    )
    scenario: str | None = Field(
        default=None, description="one of the scenarios that this server decides, if it has any"
    )
    target: dict[str, str] = Field(
        default={}, description="what the scenario's question is about, by name"
    )


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One thing that an agent may do.

    Attributes
    ----------
    name, description
        As an agent reads them.
    arguments
        The model of its arguments.
    result
        The class of its result.
    action
        Its function of a database and arguments.
    databases
        The databases, by the names that an agent knows.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    result: type[Record]
    action: _Action
    databases: Mapping[str, Database] = field(default_factory=dict)

    @property
    def asks_model(self) -> bool:
        """Whether it may ask a language model, which costs something."""
        return self.result is Decided

    def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Do it, with arguments as an agent gave them.

        Raises
        ------
        UnparsableReplyError
            The arguments do not fit.
        DqaError
            It failed; `is_mendable` says whether the agent can do something about it.
        """
        given = fitted_arguments(self.name, self.arguments, arguments)
        name = given.pop("database", next(iter(self.databases)))
        found = self.action(self.databases[name], **given)
        # Others know a database by its name, and not by the path of a file.
        return found.changed(database=name) if "database" in self.result.model_fields else found


def agent_tools(
    databases: Databases,
    *,
    limits: Limits = DEFAULT_LIMITS,
    decisions: Decisions | None = None,
) -> tuple[AgentTool, ...]:
    """Return ``schema``, ``describe``, ``sample``, ``find``, ``check``, ``query`` and ``ask``.

    Parameters
    ----------
    databases
        An open database, or several by name, of which every call then names one. Policy and audit
        are those that each was opened with.
    limits
        The limits of a statement of ``query``.
    decisions
        Decides the questions of ``ask``; None if it is refused.
    """
    opened = databases if isinstance(databases, Mapping) else {databases.name: databases}
    if not opened:
        raise UsageError("databases names none: give an open database.")
    languages = ", ".join(dict.fromkeys(database.language for database in opened.values()))
    query_tool = AgentTool(
        "query",
        f"Run one read-only statement ({languages}). Returns at most {limits.rows:,} rows within "
        f"{limits.seconds:g} seconds, or says what to change.",
        StatementArguments,
        QueriedRows,
        partial(query, limits=limits),
    )
    action: _Action = _refuse
    if decisions is not None:
        action = decisions.ask
    ask_tool = AgentTool(
        "ask",
        "Have a whole question decided: a decider plans, queries the database and chooses one "
        "of the candidates, with its evidence. Takes minutes, and may cost money.",
        AskArguments,
        Decided,
        action,
    )
    return tuple(
        replace(tool, arguments=_naming_database(tool.arguments, tuple(opened)), databases=opened)
        for tool in (*_LOOKING, query_tool, ask_tool)
    )


def _schema(database: Database, question: str, tokens: int) -> SchemaText:
    shown = read_schema(database, about=question, tokens=tokens)
    count = len(shown.described.parts)
    return SchemaText(
        database=database.name,
        kind=database.kind,
        language=database.language,
        text=shown.text,
        described=count,
        total=count + len(shown.left_out),
    )


def _refuse(_database: Database, **_asked: Any) -> NoReturn:  # noqa: ANN401  (any arguments)
    raise UsageError(
        "Nobody decides here: no decider and no model were given when the tools were set up "
        "(--model, --decider). Use schema and query instead."
    )


_LOOKING = (
    AgentTool(
        "schema",
        "List what a database holds: tables, columns, types and keys; or labels, relationship "
        "types and properties. Where not all can be described, a question says what matters.",
        SchemaArguments,
        SchemaText,
        _schema,
    ),
    AgentTool(
        "describe",
        "Describe one table, or label or relationship type: columns, types, keys, references "
        "and, where counting is quick, the number of rows.",
        DescribeArguments,
        DescribedTable,
        describe_table,
    ),
    AgentTool(
        "sample",
        "Show some rows of one table, or label or relationship type.",
        SampleArguments,
        QueriedRows,
        sample_rows,
    ),
    AgentTool(
        "find",
        "Find the columns or properties that some words are about, in whichever table, label or "
        "relationship type they stand.",
        FindArguments,
        FoundColumns,
        find_columns,
    ),
    AgentTool(
        "check",
        "Say whether a statement would be allowed to run, and if not, why. Nothing is run.",
        StatementArguments,
        StatementVerdict,
        check_statement,
    ),
)


def _naming_database(arguments: type[BaseModel], names: tuple[str, ...]) -> type[BaseModel]:
    """Return arguments that name one of several databases, too."""
    if len(names) == 1:
        return arguments
    which: Any = Literal[names]
    return create_model(
        arguments.__name__,
        __base__=arguments,
        __doc__=arguments.__doc__,
        database=(which, Field(description="the database that is meant")),
    )


def is_mendable(error: DqaError) -> bool:
    """Whether an agent that is told of an error can do something about it."""
    if isinstance(error, AuditError):
        return False
    return isinstance(error, QueryError | UnknownNameError | UnparsableReplyError | UsageError)
