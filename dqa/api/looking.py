"""Look into a database: the schema as a model sees it, and statements as an agent runs them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self, Unpack

from dqa.api.databases import Access, opened
from dqa.core.database import DEFAULT_LIMITS, Cut, Database, Kind, Limits, Rows
from dqa.core.display import MOST_TOKENS, Display
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema
from dqa.guard import GuardedDatabase, check


class ShownSchema(Record):
    """What a model is shown of a database.

    Attributes
    ----------
    database, kind, language
        What it is, and what statements are written in.
    text
        As a model reads it.
    described
        The tables, or labels and relationship types, that the text describes.
    left_out
        Names of those that it does not, as the text would be too long.
    warning
        How many these are, and how to mend it; None where all is described.
    """

    database: str
    kind: Kind
    language: str
    text: str
    described: DatabaseSchema
    left_out: tuple[str, ...] = ()
    warning: str | None = None


class QueriedRows(Record):
    """What a statement returned.

    Attributes
    ----------
    database, statement
        What ran where.
    columns, rows
        Names and values, with every digit.
    cut
        Which limit ended the result before the database did, or None where it is whole.
    total
        How many rows there were, where a limit cut them and they were counted.
    seconds
        How long the database took.
    translated
        The statement as it ran, where it was written in another dialect.
    """

    database: str
    statement: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: Cut | None = None
    total: int | None = None
    seconds: float = 0.0
    translated: str | None = None

    @classmethod
    def of(cls, database: Database, statement: str, rows: Rows) -> Self:
        """Return what a statement returned."""
        same = ("columns", "rows", "cut", "total", "seconds", "translated")
        found = {name: getattr(rows, name) for name in same}
        return cls(database=database.name, statement=statement, **found)

    def to_text(self) -> str:
        """Return the rows as a model reads them, with every digit; see `Rows.to_text`."""
        return Rows(self.columns, self.rows, self.cut, total=self.total).to_text(digits=0)


class StatementVerdict(Record):
    """What the guard of a database says of a statement, which was not run.

    Attributes
    ----------
    database, statement
        What would run where.
    allowed
        Whether it would run.
    reason
        Why not, and what to write instead; empty where it would.
    """

    database: str
    statement: str
    allowed: bool
    reason: str = ""

    def to_text(self) -> str:
        """Return the verdict in one line."""
        return "Allowed." if self.allowed else f"Refused: {self.reason}."


def read_schema(
    database: str | Path | Database,
    *,
    samples: int = 0,
    about: str = "",
    tokens: int = MOST_TOKENS,
    **access: Unpack[Access],
) -> ShownSchema:
    """Return what a model is shown of a database.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    samples
        How many values of each text and boolean column it has.
    about
        The words of a question: what they name is described first, if not all can be.
    tokens
        Most tokens of the text, by an estimate that is rather too high.
    **access
        ``tables``, ``policy`` and ``audit``, as in `open_database`, for a location.

    Raises
    ------
    UsageError
        It cannot be opened, or lacks a table that is named.
    InfrastructureError
        It failed.
    """
    from dqa.deciders.samples import shown_schema, warning_of

    with opened(database, **access) as there:
        shown = shown_schema(there, samples, about, Display(schema_tokens=tokens).schema_tokens)
        warning = warning_of(shown)
        return ShownSchema(
            database=there.name,
            kind=there.kind,
            language=there.language,
            text=shown.to_text(),
            described=shown.schema,
            left_out=shown.left_out,
            warning=None if warning is None else warning.text,
        )


def query(
    database: str | Path | Database,
    statement: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    **access: Unpack[Access],
) -> QueriedRows:
    """Run one statement as an agent's would be: guarded, read-only, bounded and audited.

    Parameters
    ----------
    database
        A URL, files, or an open database.
    statement
        SQL or Cypher.
    limits
        The limits of the statement.
    **access
        ``tables``, ``policy`` and ``audit``, as in `open_database`, for a location.

    Raises
    ------
    UsageError
        The database cannot be opened, or lacks a table that is named.
    QueryError
        The guard refuses the statement, or the database cannot run it.
    InfrastructureError
        The database failed.
    """
    with opened(database, **access) as there:
        return QueriedRows.of(there, statement, there.query(statement, limits))


def check_statement(
    database: str | Path | Database, statement: str, **access: Unpack[Access]
) -> StatementVerdict:
    """Return whether `query` would run a statement on a database; nothing is run.

    Parameters
    ----------
    database, statement, **access
        As in `query`.

    Raises
    ------
    UsageError
        The database cannot be opened, or lacks a table that is named.
    """
    with opened(database, **access) as there:
        if isinstance(there, GuardedDatabase):
            found = there.check(statement)
        else:
            found = check(statement, there.dialect)
        return StatementVerdict(
            database=there.name,
            statement=statement,
            allowed=found.allowed,
            reason=found.reason,
        )
