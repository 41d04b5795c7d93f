"""Inspect and query a database as an agent does."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from dqa import guard
from dqa.api.databases import Access, opened
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.display import MOST_TOKENS, Display
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema
from dqa.guard import GuardVerdict


class ShownSchema(Record):
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

    database: str
    text: str
    kind: Kind
    language: str
    described: DatabaseSchema
    left_out: tuple[str, ...] = ()
    warning: str | None = None


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


def query(
    database: str | Path | Database,
    statement: str,
    *,
    limits: Limits = DEFAULT_LIMITS,
    **access: Unpack[Access],
) -> Rows:
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
        return opened_database.query(statement, limits)


def check_statement(
    database: str | Path | Database, statement: str, **access: Unpack[Access]
) -> GuardVerdict:
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
            return opened_database.check(statement)
        return guard.check(statement, opened_database.dialect)
