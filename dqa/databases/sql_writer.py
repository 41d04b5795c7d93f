"""Write a situation into a relational database: the tables, the rows, and the tag last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, Table, insert, make_url
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DataError as DriverDataError
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.pool import StaticPool

from dqa.core import situation as content
from dqa.core.errors import DataError
from dqa.databases.failures import one_line
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.tables import CONSTRAINTS, ForeignKeys, define_tables, define_tag, tag_row

Fill: TypeAlias = Callable[[Connection, Table, content.Table], None]
"""Inserts the rows of one table, which are at least one."""


def insert_rows(connection: Connection, table: Table, rows: content.Table) -> None:
    """Insert rows by the driver's `executemany`, which takes them faster than Core does."""
    statement, is_positional = _insert_statement(connection.dialect, table, schema_of(connection))
    values: Any = list(plain_rows(rows))
    if not is_positional:
        values = [dict(zip(rows.schema.column_names, row, strict=True)) for row in values]
    connection.exec_driver_sql(statement, values)


@lru_cache(maxsize=64)
def _insert_statement(dialect: Dialect, table: Table, schema: str | None) -> tuple[str, bool]:
    compiled = insert(table).compile(
        dialect=dialect, schema_translate_map=_names(schema), render_schema_translate=True
    )
    return str(compiled), compiled.positional


def within(connection: Connection, schema: str | None) -> Connection:
    """Return the connection with unqualified tables in a schema."""
    return connection.execution_options(schema_translate_map=_names(schema))


def _names(schema: str | None) -> dict[str | None, str]:
    return {} if schema is None else {None: schema}


def schema_of(connection: Connection) -> str | None:
    """Return the schema that `within` has set."""
    names: dict[str | None, str] = connection.get_execution_options()["schema_translate_map"]
    return names.get(None)


def write_tables(
    connection: Connection,
    situation: content.Situation,
    tag: LoadedSituation | None,
    *,
    foreign_keys: ForeignKeys,
    fill: Fill = insert_rows,
) -> None:
    """Create the tables of a situation, fill them and write the tag.

    Where definitions commit by themselves, an empty tag table marks an unfinished load. So it is
    created first, and its row is written last.

    Parameters
    ----------
    connection
        In a transaction, which the caller commits; `within` a schema.
    situation
        What to write.
    tag
        The row of the tag table; None for no such table.
    foreign_keys
        How to write the foreign keys; ``"unchecked"`` ones follow the rows.
    fill
        How to insert rows.

    Raises
    ------
    DataError
        A key occurs twice, or the database cannot hold a value.
    """
    metadata, tag_table = define_tables(situation.schema, foreign_keys), define_tag()
    driver: Any = connection.dialect.loaded_dbapi
    if tag is not None:
        tag_table.create(connection, checkfirst=False)
    metadata.create_all(connection, checkfirst=False)
    try:
        for name, rows in situation.tables.items():
            if len(rows):
                fill(connection, metadata.tables[name], rows)
    except (
        *(IntegrityError, DriverDataError, ProgrammingError, ValueError),
        *(driver.IntegrityError, driver.DataError),
    ) as error:
        raise DataError(
            f"The database cannot hold situation '{situation.name}': {one_line(error)}."
        ) from error
    for constraint in metadata.info.get(CONSTRAINTS, ()):
        connection.execute(constraint)
    if tag is not None:
        connection.execute(insert(tag_table).values(tag_row(tag)))


def plain_rows(table: content.Table) -> Iterator[tuple[Any, ...]]:
    """Yield rows of Python values; a missing float is None."""
    return zip(*(_plain(array) for array in table.columns.values()), strict=True)


def _plain(array: NDArray[Any]) -> list[Any]:
    if array.dtype.kind == "f" and np.isnan(array).any():
        return [None if value != value else value for value in array.tolist()]  # noqa: PLR0124
    listed: list[Any] = array.tolist()
    return listed


@contextmanager
def core_connection(dialect: Dialect, driver_connection: Any) -> Iterator[Connection]:  # noqa: ANN401
    """Give SQLAlchemy's connection over one of the driver's, which stays open; commit at the end.

    Parameters
    ----------
    dialect
        With the driver's module as `dbapi`.
    driver_connection
        The connection.
    """
    pool = StaticPool(lambda: driver_connection, reset_on_return=None)
    with Engine(pool, dialect, make_url(f"{dialect.name}://")).connect() as connection:
        yield within(connection, None)
        connection.commit()
