"""Inspect and query a database as an agent does."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, TypeAlias, Unpack

from annotated_types import Ge, Le

from dqa import guard
from dqa.api.databases import Access, opened
from dqa.core.database import DEFAULT_LIMITS, Cut, Database, Kind, Limits, Rows
from dqa.core.display import LEAST_TOKENS, MOST_TOKENS, Display
from dqa.core.errors import QueryError, UnknownNameError
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema, Field, NodeInfo, Part, PartKind, TableInfo, cypher_name

_COUNTING = Limits(rows=1, seconds=1.0)
"""The limits of counting the rows of a table."""
_LONGEST_CELL = 200
"""The maximum number of characters of a cell in a sample."""
_Few: TypeAlias = Annotated[int, Ge(1), Le(100)]
"""A number of rows or columns; tools check its bounds."""


class ToolRecord(Record):
    """The result of a tool: data for programs, and the text that a model reads."""

    database: str

    @abstractmethod
    def to_text(self) -> str:
        """Return the text that a model reads."""


class ToolText(ToolRecord):
    """The text that a model reads."""

    text: str

    def to_text(self) -> str:
        """Return the text that a model reads."""
        return self.text


class ShownSchema(ToolText):
    """The schema of a database, as a model sees it.

    Attributes
    ----------
    kind, language
        The kind of database, and the language of its statements.
    described
        The names of the tables, or of labels and relationship types, that the text describes.
    left_out
        The names of tables, labels and relationship types that do not fit into the text.
    warning
        A warning with the number of names that do not fit, and how to see them; None if all fit.
    """

    kind: Kind
    language: str
    described: DatabaseSchema
    left_out: tuple[str, ...] = ()
    warning: str | None = None


class QueriedRows(ToolRecord):
    """The result of a statement.

    Attributes
    ----------
    database, statement
        The database, and the statement of the caller.
    columns, rows
        The names of the columns, and the values of the rows with all digits.
    cut
        The name of the limit that shortened the result; None if the result is complete.
    total
        The total number of rows. None if the result is complete, or if the total is unknown.
    seconds
        The time in seconds that the database needed for the statement.
    warning
        A warning of the database, for example about an unknown label; empty if there is none.
    """

    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: Cut | None = None
    total: int | None = None
    seconds: float = 0.0
    warning: str = ""

    def to_text(self) -> str:
        """Return the rows as a model reads them, with all digits; see `Rows.to_text`."""
        shown = Rows(self.columns, self.rows, self.cut, total=self.total, warning=self.warning)
        return shown.to_text(digits=0)


class StatementVerdict(ToolRecord):
    """Whether a statement may run on a database, and the reason if it must not run."""

    statement: str
    allowed: bool
    reason: str = ""

    def to_text(self) -> str:
        """Return the verdict in one line."""
        return "Allowed." if self.allowed else f"Refused: {self.reason}."


class DescribedTable(ToolText):
    """A table, or a graph's label or relationship type.

    Attributes
    ----------
    columns
        The first 200 columns or properties.
    column_count
        The number of all columns or properties.
    row_count
        The number of rows, nodes or relationships; None if counting takes more than a second.
    """

    name: str
    kind: PartKind
    columns: tuple[Field, ...]
    column_count: int
    row_count: int | None = None


def read_schema(
    database: str | Path | Database,
    *,
    samples: int = 0,
    about: str = "",
    tokens: int = MOST_TOKENS,
    **access: Unpack[Access],
) -> ShownSchema:
    """Return the schema of a database as a model sees it.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    samples
        The number of sample values of each column.
    about
        A question. The tables that it names are described first.
    tokens
        The approximate maximum number of tokens of the text.
    **access
        ``tables``, ``policy`` and ``audit`` of `open_database`, if `database` is not open yet.

    Raises
    ------
    UsageError
        The database cannot be opened.
    QueryError, InfrastructureError
        The database failed.
    """
    from dqa.deciders.parts import shown_schema, warning_of

    with opened(database, **access) as opened_database:
        shown = shown_schema(
            opened_database, samples, about, Display(schema_tokens=tokens).schema_tokens
        )
        warning = warning_of(shown)
        return ShownSchema(
            database=opened_database.name,
            kind=opened_database.kind,
            language=opened_database.language,
            text=shown.to_text(),
            described=shown.schema,
            left_out=shown.left_out,
            warning=None if warning is None else warning.text,
        )


def describe_database(
    database: Database,
    question: str = "",
    tokens: Annotated[int, Ge(LEAST_TOKENS), Le(MOST_TOKENS)] = MOST_TOKENS,
) -> ToolText:
    """List the tables, columns, types and keys of a database, or the contents of a graph.

    If the description would be too long, only the parts that fit the question best are described.

    Parameters
    ----------
    database
        An open database.
    question
        A question or topic. The tables that it names are described first.
    tokens
        The approximate maximum number of tokens of the description.
    """
    shown = read_schema(database, about=question, tokens=tokens)
    return ToolText(database=shown.database, text=f"{shown.language}\n{shown.text}")


def query(
    database: str | Path | Database,
    statement: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    **access: Unpack[Access],
) -> QueriedRows:
    """Run one read-only statement with the checks, limits and audit of an agent's statement.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    statement
        One read-only statement in the database's language: SQL or Cypher.
    limits
        The limits of the statement.
    **access
        ``tables``, ``policy`` and ``audit`` of `open_database`, if `database` is not open yet.

    Raises
    ------
    QueryError
        The statement is refused or wrong.
    InfrastructureError
        The database failed.
    """
    with opened(database, **access) as opened_database:
        rows = opened_database.query(statement, limits)
    same = ("columns", "rows", "cut", "total", "seconds", "warning")
    found = {name: getattr(rows, name) for name in same}
    # Skip pydantic's slow validation: the values come from the database.
    return QueriedRows.model_construct(database=opened_database.name, statement=statement, **found)


def check_statement(
    database: str | Path | Database, statement: str, **access: Unpack[Access]
) -> StatementVerdict:
    """Return whether a statement may run on a database, or the reason why not. Nothing is run.

    Parameters
    ----------
    database, **access
        See `query`.
    statement
        One statement in the database's language: SQL or Cypher.
    """
    with opened(database, **access) as opened_database:
        if isinstance(opened_database, guard.GuardedDatabase):
            found = opened_database.check(statement)
        else:
            found = guard.check(statement, opened_database.dialect)
        return StatementVerdict(
            database=opened_database.name,
            statement=statement,
            allowed=found.allowed,
            reason=found.reason,
        )


def describe_table(database: Database, table: str) -> DescribedTable:
    """Describe one table, label or relationship type: columns, keys, references, number of rows.

    Parameters
    ----------
    database
        An open database. Data that its policy hides is not described.
    table
        A table; in a graph database, a label or relationship type. The case of the name matters
        only if two names differ only in case.

    Raises
    ------
    UnknownNameError
        No readable table has this name.
    InfrastructureError
        The database failed.
    """
    from dqa.deciders.parts import MOST_COLUMNS, describe_neighbours, describe_parts

    schema = database.schema()
    parts = _find(schema, table)
    columns = tuple({column.name: column for part in parts for column in part.fields}.values())
    count = _count(database, parts[0], schema)
    rows = "not counted within a second" if count is None else f"{count:,}"
    lines = (*describe_parts(schema, parts), *describe_neighbours(schema, parts))
    return DescribedTable(
        database=database.name,
        name=parts[0].name,
        kind=parts[0].kind,
        columns=columns[:MOST_COLUMNS],
        column_count=len(columns),
        row_count=count,
        text="\n".join([*lines, f"Rows: {rows}."]),
    )


def sample_rows(database: Database, table: str, rows: _Few = 5) -> QueriedRows:
    """Show some rows of one table, label or relationship type. Long cells are shortened.

    Parameters
    ----------
    database
        An open database.
    table
        A table; in a graph database, a label or relationship type.
    rows
        The maximum number of rows.

    Raises
    ------
    UnknownNameError, QueryError, InfrastructureError
        See `describe_table` and `query`.
    """
    from dqa.deciders.parts import look_at_rows

    schema = database.schema()
    statement = look_at_rows(database, schema, _find(schema, table)[0], rows)
    return query(database, statement, limits=Limits(rows=rows, cell=_LONGEST_CELL))


def find_columns(database: Database, words: str, most: _Few = 20) -> ToolText:
    """Find the columns or properties whose names or comments match words.

    Parameters
    ----------
    database
        An open database. Data that its policy hides is not found.
    words
        Words that describe the column.
    most
        The maximum number of columns.
    """
    from dqa.core.fitting import rank_fields
    from dqa.deciders.parts import describe_field

    schema = database.schema()
    lines = [describe_field(schema, *found) for found in rank_fields(schema, words, most)]
    nothing = "No column matches these words. Try others, one at a time."
    return ToolText(database=database.name, text="\n".join(lines) or nothing)


def _find(schema: DatabaseSchema, name: str) -> tuple[Part, ...]:
    """Return the table or label with a name.

    For a relationship type, return all pairs of labels that it connects.
    """
    from dqa.deciders.parts import find_parts, kind_of_parts

    found = find_parts(schema, name)
    if len({part.name for part in found}) != 1:
        names = {part.name for part in schema.parts}
        raise UnknownNameError(kind_of_parts(schema), name, names)
    return tuple(part for part in found if type(part) is type(found[0]))


def _count(database: Database, part: Part, schema: DatabaseSchema) -> int | None:
    if isinstance(part, TableInfo):
        statement = f"SELECT count(*) AS n FROM {schema.spell(part.name)}"  # noqa: S608
    else:
        element = f"e:{cypher_name(part.name)}"
        pattern = f"({element})" if isinstance(part, NodeInfo) else f"()-[{element}]->()"
        statement = f"MATCH {pattern} RETURN count(e) AS n"
    try:
        found = database.query(statement, _COUNTING).rows
    except QueryError:  # counting takes more than a second, or the policy forbids it
        return None
    return int(str(found[0][0]))
