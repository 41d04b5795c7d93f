"""Situations as SQLAlchemy's tables: their definitions, their rows, and names of a dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.exc import DataError as DriverDataError
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.schema import AddConstraint, CreateTable
from sqlalchemy.types import TypeEngine, UserDefinedType

from dqa.core import situation as content
from dqa.core.errors import DataError
from dqa.core.schema import sql_name
from dqa.core.situation import Schema, StoredType
from dqa.databases.errors import one_line
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE, LoadedSituation

if TYPE_CHECKING:
    from numpy.typing import NDArray

Fill: TypeAlias = Callable[[Connection, Table, content.Table], None]
"""Inserts the rows of one table, which are at least one."""

_CONSTRAINTS = "constraints"
"""Key of `MetaData.info`: the statements that add the unchecked foreign keys."""

ForeignKeys: TypeAlias = Literal["declared", "unchecked", "commented", "omitted"]
"""How to write the foreign keys of the graph reading, which real data breaks: as declarations that
the engine does not enforce, as constraints that are not checked against existing rows, as comments,
or not at all."""


class _Invisible(UserDefinedType[int]):
    """A number that ``SELECT *`` does not return (MySQL, MariaDB)."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the type in SQL."""
        return "INT NOT NULL DEFAULT 0 INVISIBLE"


_ROW_NUMBER = Integer().with_variant(_Invisible(), "mysql")
_TYPES: Mapping[StoredType, TypeEngine[Any]] = {
    "text": Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "float": Double(),
    "integer": BigInteger(),
    "boolean": Boolean(),
}
# MySQL's indexes hold at most 3,072 bytes; other servers cannot index a text without a length.
_KEY_TEXT = String(255).with_variant(Text(), "sqlite", "postgresql")

# With the parameter style "named", SQLAlchemy does not double a % in a name.
_DIALECTS: Mapping[str, Dialect] = {
    "ansi": DefaultDialect(paramstyle="named"),
    "mysql": mysql.dialect(paramstyle="named"),
    "postgres": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
_SAME_SPELLING = {"duckdb": "postgres", "mariadb": "mysql"}


def quote(dialect: str, *names: str) -> str:
    """Return names quoted for a dialect, separated by commas."""
    return ", ".join(map(_dialect(dialect).identifier_preparer.quote_identifier, names))


def quote_if_needed(dialect: str, name: str) -> str:
    """Return a name as a statement of a dialect has to spell it, quoted where it must be."""
    preparer = _dialect(dialect).identifier_preparer
    is_plain = sql_name(name) == name and preparer.quote(name) == name
    return name if is_plain else preparer.quote_identifier(name)


def create_table(table: Table, dialect: str) -> str:
    """Return the statement that creates a table."""
    return str(CreateTable(table).compile(dialect=_dialect(dialect)))


def definitions(metadata: MetaData, dialect: str) -> list[str]:
    """Return the statements that create tables, with the comments on them."""
    found: list[str] = []

    def compile_one(definition: Any, *_: object, **__: object) -> None:  # noqa: ANN401
        found.append(str(definition.compile(dialect=_dialect(dialect))))

    mock: Any = MockConnection(_dialect(dialect), compile_one)
    metadata.create_all(mock, checkfirst=False)
    return found


def literal_insert(table: Table, rows: Sequence[Mapping[str, Any]], dialect: str) -> str:
    """Return the statement that fills a table, with every value as a literal."""
    options = {"literal_binds": True}
    statement = insert(table).values(rows)
    return str(statement.compile(dialect=_dialect(dialect), compile_kwargs=options))


def define_tables(
    schema: Schema,
    foreign_keys: ForeignKeys,
    namespace: str | None = None,
    *,
    numbered: bool = False,
) -> MetaData:
    """Return the tables of a schema, with a column `ROW_COLUMN` if rows are `numbered`."""
    metadata = MetaData(namespace)
    prefix = f"{namespace}." if namespace else ""
    references = list(_references(schema))
    in_keys = {(table.name, column) for table in schema.tables for column in table.key}
    in_keys |= {end for reference in references for end in reference}
    for table in schema.tables:
        columns = [
            Column(
                column.name,
                _KEY_TEXT
                if column.stored == "text" and (table.name, column.name) in in_keys
                else _TYPES[column.stored],
                primary_key=column.name in table.key,
                autoincrement=False,
                quote=True,
            )
            for column in table.columns
        ]
        if numbered:
            columns.append(Column(ROW_COLUMN, _ROW_NUMBER))
        Table(table.name, metadata, *columns, quote=True)
    for (table_name, column_name), (other, other_column) in references:
        source = metadata.tables[prefix + table_name].c[column_name]
        if foreign_keys == "commented":
            source.comment = f"{REFERENCES}{other}.{other_column}"
        elif foreign_keys != "omitted":
            target = metadata.tables[prefix + other].c[other_column]
            link = ForeignKeyConstraint([source], [target], postgresql_not_valid=True)
            source.table.append_constraint(link)
            if foreign_keys == "unchecked":  # which takes it out of CREATE TABLE
                metadata.info.setdefault(_CONSTRAINTS, []).append(AddConstraint(link))
    return metadata


def _references(schema: Schema) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield the referring column and the column it refers to, as the graph reading has them."""
    for edge in schema.edges:
        for label, column in (edge.source, edge.target):
            node = schema.node(label)
            yield (edge.table, column), (node.table, node.key_column)


def define_tag(namespace: str | None = None) -> Table:
    """Return the table with the tag: one row, or none while the situation is loaded."""
    names = ("scenario", "name", "content_hash")
    return Table(
        TAG_TABLE,
        MetaData(namespace),
        *(Column(name, Text(), quote=True) for name in names),
        Column("row_count", BigInteger(), quote=True),
        quote=True,
    )


def tag_row(tag: LoadedSituation) -> tuple[str, str, str, int]:
    """Return a tag as the row of its table."""
    return tag.scenario, tag.name, tag.content_hash, tag.rows


def insert_rows(connection: Connection, table: Table, rows: content.Table) -> None:
    """Insert rows by the driver's `executemany`, which takes them faster than Core does."""
    compiled = insert(table).compile(dialect=connection.dialect)
    values: Any = list(plain_rows(rows))
    if ROW_COLUMN in table.columns:
        values = [(*row, number) for number, row in enumerate(values)]
    if not compiled.positional:
        values = [dict(zip(table.columns.keys(), row, strict=True)) for row in values]
    connection.exec_driver_sql(str(compiled), values)


def write_tables(
    connection: Connection,
    situation: content.Situation,
    tag: LoadedSituation | None,
    metadata: MetaData,
    fill: Fill = insert_rows,
) -> None:
    """Create the tables of a situation, fill them and write the tag.

    Where definitions commit by themselves, an empty tag table marks an unfinished load. So it is
    created first, and its row is written last.

    Parameters
    ----------
    connection
        In a transaction, which the caller commits.
    situation
        What to write.
    tag
        The row of the tag table; None for no such table.
    metadata
        The tables, as `define_tables` returns them.
    fill
        How to insert rows.

    Raises
    ------
    DataError
        A key occurs twice, or the database cannot hold a value.
    """
    tag_table = define_tag(metadata.schema)
    driver: Any = connection.dialect.loaded_dbapi
    if tag is not None:
        tag_table.create(connection)
    metadata.create_all(connection, checkfirst=False)
    try:
        for table in metadata.tables.values():
            if len(rows := situation.tables[table.name]):
                fill(connection, table, rows)
    except (
        *(IntegrityError, DriverDataError, ProgrammingError, ValueError),
        *(driver.IntegrityError, driver.DataError),
    ) as error:
        raise unfit(situation, error) from error
    for constraint in metadata.info.get(_CONSTRAINTS, ()):
        connection.execute(constraint)
    if tag is not None:
        connection.execute(insert(tag_table).values(tag_row(tag)))


def unfit(situation: content.Situation, error: Exception) -> DataError:
    """Return the error of a database that cannot hold a situation."""
    return DataError(f"The database cannot hold situation '{situation.name}': {one_line(error)}.")


def plain_rows(table: content.Table) -> Iterator[tuple[Any, ...]]:
    """Yield rows of Python values; a missing float is None."""
    return zip(*(_plain(array) for array in table.columns.values()), strict=True)


def _plain(array: NDArray[Any]) -> list[Any]:
    listed: list[Any] = array.tolist()
    if array.dtype.kind == "f":
        return [value if value == value else None for value in listed]  # noqa: PLR0124
    return listed


def _dialect(name: str) -> Dialect:
    return _DIALECTS[_SAME_SPELLING.get(name, name)]
