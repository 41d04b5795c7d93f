"""Write a situation into a relational database: the tables, the rows, and the tag last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, Engine, MetaData, Table, insert, make_url
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DataError as DriverDataError
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.pool import StaticPool

from dqa.core import situation as content
from dqa.core.errors import DataError
from dqa.databases.failures import one_line
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.tables import (
    CONSTRAINTS,
    ROW_COLUMN,
    ForeignKeys,
    define_tables,
    define_tag,
    tag_row,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Define: TypeAlias = Callable[[Connection, Sequence[str]], None]
"""Runs the statements that create tables."""
Fill: TypeAlias = Callable[[Connection, Table, content.Table], None]
"""Inserts the rows of one table, which are at least one."""
_SCHEMA = "dqa_schema_of_the_tables"
"""Stands for the schema in cached statements."""


def define_one_by_one(connection: Connection, statements: Sequence[str]) -> None:
    """Run the statements that create tables."""
    for statement in statements:
        connection.exec_driver_sql(statement)


def insert_rows(connection: Connection, table: Table, rows: content.Table) -> None:
    """Insert rows by the driver's `executemany`, which takes them faster than Core does."""
    schema = schema_of(connection)
    statement, is_positional = _insert_statement(connection.dialect, table, schema is not None)
    values: Any = list(plain_rows(rows))
    if ROW_COLUMN in table.columns:
        values = [(*row, number) for number, row in enumerate(values)]
    if not is_positional:
        values = [dict(zip(table.columns.keys(), row, strict=True)) for row in values]
    connection.exec_driver_sql(_in_schema(statement, schema), values)


@lru_cache(maxsize=64)
def _insert_statement(dialect: Dialect, table: Table, has_schema: bool) -> tuple[str, bool]:
    compiled = insert(table).compile(dialect=dialect, **_translation(has_schema))
    return str(compiled), compiled.positional


@lru_cache(maxsize=64)
def _definitions(dialect: Dialect, metadata: MetaData, has_schema: bool) -> tuple[str, ...]:
    """Return the statements of `create_all`, compiled once per kind of database."""
    found: list[str] = []

    def compile_one(definition: Any, *_: object, **__: object) -> None:  # noqa: ANN401
        found.append(str(definition.compile(dialect=dialect, **_translation(has_schema))).strip())

    mock: Any = MockConnection(dialect, compile_one)
    metadata.create_all(mock, checkfirst=False)
    return tuple(found)


def _translation(has_schema: bool) -> dict[str, Any]:
    names = _names(_SCHEMA if has_schema else None)
    return {"schema_translate_map": names, "render_schema_translate": True}


def _in_schema(statement: str, schema: str | None) -> str:
    return statement if schema is None else statement.replace(_SCHEMA, schema)


def within(connection: Connection, schema: str | None) -> Connection:
    """Return the connection with unqualified tables in a schema."""
    return connection.execution_options(schema_translate_map=_names(schema))


def _names(schema: str | None) -> dict[str | None, str]:
    return {} if schema is None else {None: schema}


def schema_of(connection: Connection) -> str | None:
    """Return the schema that `within` has set."""
    names: dict[str | None, str] = connection.get_execution_options()["schema_translate_map"]
    return names.get(None)


def write_tables(  # noqa: PLR0913
    connection: Connection,
    situation: content.Situation,
    tag: LoadedSituation | None,
    *,
    foreign_keys: ForeignKeys,
    numbered: bool = False,
    define: Define = define_one_by_one,
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
    numbered
        Whether a column stores the order of rows.
    define, fill
        How to create the tables and to insert rows.

    Raises
    ------
    DataError
        A key occurs twice, or the database cannot hold a value.
    """
    metadata = define_tables(situation.schema, foreign_keys, numbered=numbered)
    tag_table = define_tag()
    driver: Any = connection.dialect.loaded_dbapi
    schema = schema_of(connection)
    tables = [] if tag is None else [tag_table.metadata]
    definitions = (
        _in_schema(statement, schema)
        for each in (*tables, metadata)
        for statement in _definitions(connection.dialect, each, schema is not None)
    )
    define(connection, list(definitions))
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
    listed: list[Any] = array.tolist()
    if array.dtype.kind == "f":
        return [value if value == value else None for value in listed]  # noqa: PLR0124
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
