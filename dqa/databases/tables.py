"""Define the tables of situations with SQLAlchemy and fill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sqlalchemy import (
    BigInteger,
    Boolean,
    ClauseElement,
    Column,
    Double,
    Executable,
    ForeignKey,
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
from sqlalchemy.types import TypeEngine, UserDefinedType

from dqa.core import situation as content
from dqa.core.errors import DataError
from dqa.core.situation import Schema, StoredType
from dqa.databases.errors import one_line
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE, LoadedSituation

if TYPE_CHECKING:
    from numpy.typing import NDArray

Run: TypeAlias = Callable[[Executable], object]
"""Runs a statement."""
Fill: TypeAlias = Callable[[Table, content.Table], None]
"""Inserts the rows of one table; there is at least one row."""
_UNFIT = frozenset({"IntegrityError", "DataError", "ProgrammingError", "ValueError"})
"""Names of exceptions of all drivers for values that a table cannot store."""


class _Invisible(UserDefinedType[int]):
    """A number column that ``SELECT *`` does not return (MySQL, MariaDB)."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the SQL text of the type."""
        return "INT NOT NULL DEFAULT 0 INVISIBLE"


_ROW_NUMBER = Integer().with_variant(_Invisible(), "mysql")
_TYPES: Mapping[StoredType, TypeEngine[Any]] = {
    "text": Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "float": Double(),
    "integer": BigInteger(),
    "boolean": Boolean(),
}
# An index of MySQL has at most 3,072 bytes; other servers cannot index unlimited text.
_KEY_TEXT = String(255).with_variant(Text(), "sqlite", "postgresql")

# With the parameter style "named", SQLAlchemy does not double a % in a name.
_DIALECTS: Mapping[str, Dialect] = {
    "ansi": DefaultDialect(paramstyle="named"),
    "mysql": mysql.dialect(paramstyle="named"),
    "postgres": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
_SAME_SPELLING = {"duckdb": "postgres", "mariadb": "mysql"}


def _dialect(name: str) -> Dialect:
    return _DIALECTS[_SAME_SPELLING.get(name, name)]


def quote(dialect: str, *names: str) -> str:
    """Return quoted names, separated by commas."""
    return ", ".join(map(_dialect(dialect).identifier_preparer.quote_identifier, names))


def spelled(statement: Executable, dialect: str) -> str:
    """Return the SQL text of a statement with all values as literals."""
    element = cast("ClauseElement", statement)
    options = {"literal_binds": True}
    return str(element.compile(dialect=_dialect(dialect), compile_kwargs=options))


def define_tables(
    schema: Schema,
    namespace: str | None = None,
    *,
    numbered: bool = False,
    declares_links: bool = False,
) -> MetaData:
    """Return the tables of a schema.

    Parameters
    ----------
    schema, namespace
        The tables, and the database schema that will contain them.
    numbered
        Whether to add the column `ROW_COLUMN` with the number of each row.
    declares_links
        Whether to declare foreign keys. Otherwise comments describe them, because engines that
        enforce foreign keys would reject real data.
    """
    metadata = MetaData(namespace)
    references = {
        (edge.table, column): (node.table, node.key_column)
        for edge in schema.edges
        for label, column in (edge.source, edge.target)
        for node in (schema.node(label),)
    }
    in_keys = {(table.name, column) for table in schema.tables for column in table.key}
    in_keys |= {*references, *references.values()}
    for table in schema.tables:
        columns: list[Column[Any]] = []
        for column in table.columns:
            other = ".".join(references.get((table.name, column.name), ()))
            is_key_text = column.stored == "text" and (table.name, column.name) in in_keys
            columns.append(
                Column(
                    column.name,
                    _KEY_TEXT if is_key_text else _TYPES[column.stored],
                    primary_key=column.name in table.key,
                    autoincrement=False,
                    comment=f"{REFERENCES}{other}" if other and not declares_links else None,
                    quote=True,
                )
            )
        if numbered:
            columns.append(Column(ROW_COLUMN, _ROW_NUMBER))
        Table(table.name, metadata, *columns, quote=True)
    if declares_links:
        for (name, column_name), (other, key) in references.items():
            link = ForeignKey(metadata.tables[other].c[key])
            metadata.tables[name].c[column_name].append_foreign_key(link)
    return metadata


def define_tag(namespace: str | None = None) -> Table:
    """Return the table with the tag. It has one row; during a load it is empty."""
    names = ("scenario", "name", "content_hash")
    return Table(
        TAG_TABLE,
        MetaData(namespace),
        *(Column(name, Text(), quote=True) for name in names),
        Column("row_count", BigInteger(), quote=True),
        quote=True,
    )


def create_all(metadata: MetaData, dialect: Dialect | str, run: Run) -> None:
    """Create tables and their comments."""
    known = _dialect(dialect) if isinstance(dialect, str) else dialect
    mock: Any = MockConnection(known, lambda definition, *_, **__: run(definition))
    metadata.create_all(mock, checkfirst=False)


def write_tables(  # noqa: PLR0913
    situation: content.Situation,
    tag: LoadedSituation | None,
    metadata: MetaData,
    *,
    dialect: Dialect | str,
    run: Run,
    fill: Fill,
) -> None:
    """Create the tables of a situation, fill them and write the tag.

    The tag table is created first and its row is written last. Without a transaction, an empty tag
    table therefore marks an unfinished load.

    Parameters
    ----------
    situation
        The situation.
    tag
        The row of the tag table; None to create no tag table.
    metadata
        The tables from `define_tables`.
    dialect, run, fill
        The dialect of the database, and functions that write to it. The caller commits.

    Raises
    ------
    DataError
        A key occurs twice, or the database cannot hold a value.
    """
    tag_table = define_tag(metadata.schema)
    if tag is not None:
        create_all(tag_table.metadata, dialect, run)
    create_all(metadata, dialect, run)
    try:
        for table in metadata.tables.values():
            if len(rows := situation.tables[table.name]):
                fill(table, rows)
    except Exception as error:
        if _UNFIT.isdisjoint(kind.__name__ for kind in type(error).__mro__):
            raise
        raise DataError(
            f"The database cannot hold situation '{situation.name}': {one_line(error)}."
        ) from error
    if tag is not None:
        row = (tag.scenario, tag.name, tag.content_hash, tag.rows)
        run(insert(tag_table).values(row))


def plain_rows(table: content.Table) -> Iterator[tuple[Any, ...]]:
    """Yield rows of Python values; NaN becomes None."""
    return zip(*(_plain(array) for array in table.columns.values()), strict=True)


def _plain(array: NDArray[Any]) -> list[Any]:
    listed: list[Any] = array.tolist()
    if array.dtype.kind == "f":
        return [value if value == value else None for value in listed]  # noqa: PLR0124
    return listed
