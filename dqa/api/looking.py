"""Looking into a database: what a model is shown of it, and one statement as an agent runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from dqa.api.databases import open_database
from dqa.core.database import DEFAULT_LIMITS, Cut, Database, Kind, Limits, Rows
from dqa.core.display import MOST_TOKENS, Display
from dqa.core.errors import UsageError
from dqa.core.records import Record
from dqa.core.schema import DatabaseSchema
from dqa.guard import Audit, GuardedDatabase, Policy
from dqa.guard import check as check_by_dialect


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
        return cls(
            database=database.name,
            statement=statement,
            columns=rows.columns,
            rows=rows.rows,
            cut=rows.cut,
            total=rows.total,
            seconds=rows.seconds,
            translated=rows.translated,
        )

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


def read_schema(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: str | Path | Database,
    *,
    tables: Sequence[str] = (),
    samples: int = 0,
    about: str = "",
    tokens: int = MOST_TOKENS,
    policy: Policy | Path | str | None = None,
) -> ShownSchema:
    """Return what a model is shown of a database.

    Parameters
    ----------
    database
        A URL, files, or a database that is open already.
    tables, policy
        What of it is shown and may be read; for one that is opened here.
    samples
        How many values of each text and boolean column stand in it.
    about
        The words of a question: what they name is described first, where not all can be.
    tokens
        Most tokens of the text, by an estimate that is rather too high.

    Raises
    ------
    UsageError
        It cannot be opened, or has no table that is named.
    InfrastructureError
        It failed.
    """
    from dqa.deciders.samples import shown_schema, warning_of

    with opened(database, policy=policy, tables=tables) as there:
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


def query(  # noqa: PLR0913  (each is a question of its own to the caller)
    database: str | Path | Database,
    statement: str,
    *,
    tables: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
) -> QueriedRows:
    """Run one statement as an agent's would be: guarded, read-only, bounded and audited.

    Parameters
    ----------
    database
        A URL, files, or a database that is open already.
    statement
        SQL or Cypher.
    tables, policy, audit
        What may be read, and who watches; for one that is opened here.
    limits
        What the statement may cost.

    Raises
    ------
    UsageError
        The database cannot be opened, or has no table that is named.
    QueryError
        The guard refuses the statement, or the database cannot run it.
    InfrastructureError
        The database failed.
    """
    with opened(database, policy=policy, audit=audit, tables=tables) as there:
        return QueriedRows.of(there, statement, there.query(statement, limits))


def check_statement(
    database: str | Path | Database,
    statement: str,
    *,
    tables: Sequence[str] = (),
    policy: Policy | Path | str | None = None,
) -> StatementVerdict:
    """Return whether `query` would run a statement on a database; nothing is run.

    Parameters
    ----------
    database
        A URL, files, or a database that is open already.
    statement
        SQL or Cypher.
    tables, policy
        What may be read; for one that is opened here.

    Raises
    ------
    UsageError
        The database cannot be opened, or has no table that is named.
    """
    with opened(database, policy=policy, tables=tables) as there:
        if isinstance(there, GuardedDatabase):
            verdict = there.check(statement)
        else:
            verdict = check_by_dialect(statement, there.dialect)
        return StatementVerdict(
            database=there.name,
            statement=statement,
            allowed=verdict.allowed,
            reason=verdict.reason,
        )


@contextmanager
def opened(
    database: str | Path | Database,
    *,
    policy: Policy | Path | str | None = None,
    audit: Audit | Path | str | None = None,
    tables: Sequence[str] = (),
) -> Iterator[Database]:
    """Open a location with the backend that accepts it, and close it in the end.

    A database that is open already stays open, and is what whoever opened it made it.
    """
    if not isinstance(database, str | Path):
        if tables or policy is not None or audit is not None:
            raise UsageError(
                f"'{database.name}' is open already: give tables, policy and audit to "
                "open_database."
            )
        yield database
        return
    found = open_database(database, policy=policy, audit=audit, tables=tables)
    try:
        yield found
    finally:
        found.close()
