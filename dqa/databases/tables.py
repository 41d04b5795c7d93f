"""Define tables with SQLAlchemy: the tables of situations, and small tables of Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isnan
from typing import Any, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeEngine, UserDefinedType

from dqa.core import situation as content
from dqa.core.errors import DataError
from dqa.core.situation import Schema, StoredType
from dqa.databases.errors import one_line
from dqa.databases.namespaces import REFERENCES, ROW_COLUMN, TAG_TABLE, LoadedSituation

Run: TypeAlias = Callable[[sa.Executable], object]
"""Runs a statement."""
Fill: TypeAlias = Callable[[sa.Table, content.Table], None]
"""Inserts the rows of one table, which has at least one row."""
_UNFIT = frozenset({"IntegrityError", "DataError", "ProgrammingError", "ValueError"})
"""Names of exceptions of all drivers for values that a table cannot store."""


class _Invisible(UserDefinedType[int]):
    """A number column that ``SELECT *`` does not return (MySQL, MariaDB)."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the SQL text of the type."""
        return "INT NOT NULL DEFAULT 0 INVISIBLE"


_ROW_NUMBER = sa.Integer().with_variant(_Invisible(), "mysql")
_TYPES: Mapping[StoredType, TypeEngine[Any]] = {
    "text": sa.Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "float": sa.Double(),
    "integer": sa.BigInteger(),
    "boolean": sa.Boolean(),
}
# An index of MySQL has at most 3,072 bytes. Other servers cannot index text of any length.
_KEY_TEXT = sa.String(255).with_variant(sa.Text(), "sqlite", "postgresql")

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


def spelled(statement: sa.Executable, dialect: str) -> str:
    """Return the SQL text of a statement with all values as literals."""
    element = cast("sa.ClauseElement", statement)
    options = {"literal_binds": True}
    return str(element.compile(dialect=_dialect(dialect), compile_kwargs=options))


def define_tables(
    schema: Schema,
    namespace: str | None = None,
    *,
    numbered: bool = False,
    declares_links: bool = False,
) -> sa.MetaData:
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
    metadata = sa.MetaData(namespace)
    references = {
        (edge.table, column): (node.table, node.key_column)
        for edge in schema.edges
        for label, column in (edge.source, edge.target)
        for node in (schema.node(label),)
    }
    in_keys = {(table.name, column) for table in schema.tables for column in table.key}
    in_keys |= {*references, *references.values()}
    for table in schema.tables:
        columns: list[sa.Column[Any]] = []
        for column in table.columns:
            other = ".".join(references.get((table.name, column.name), ()))
            is_key_text = column.stored == "text" and (table.name, column.name) in in_keys
            columns.append(
                sa.Column(
                    column.name,
                    _KEY_TEXT if is_key_text else _TYPES[column.stored],
                    primary_key=column.name in table.key,
                    autoincrement=False,
                    comment=f"{REFERENCES}{other}" if other and not declares_links else None,
                    quote=True,
                )
            )
        if numbered:
            columns.append(sa.Column(ROW_COLUMN, _ROW_NUMBER))
        sa.Table(table.name, metadata, *columns, quote=True)
    if declares_links:
        for (name, column_name), (other, key) in references.items():
            link = sa.ForeignKey(metadata.tables[other].c[key])
            metadata.tables[name].c[column_name].append_foreign_key(link)
    return metadata


def define_tag(namespace: str | None = None) -> sa.Table:
    """Return the table with the tag. It has one row; during a load it is empty."""
    names = ("scenario", "name", "content_hash")
    return sa.Table(
        TAG_TABLE,
        sa.MetaData(namespace),
        *(sa.Column(name, sa.Text(), quote=True) for name in names),
        sa.Column("row_count", sa.BigInteger(), quote=True),
        quote=True,
    )


def create_all(metadata: sa.MetaData, dialect: Dialect | str, run: Run) -> None:
    """Create tables and their comments."""
    known = _dialect(dialect) if isinstance(dialect, str) else dialect
    mock: Any = MockConnection(known, lambda definition, *_, **__: run(definition))
    metadata.create_all(mock, checkfirst=False)


def write_tables(  # noqa: PLR0913
    situation: content.Situation,
    tag: LoadedSituation | None,
    metadata: sa.MetaData,
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
        run(sa.insert(tag_table).values(row))


def plain_rows(table: content.Table) -> Iterator[tuple[Any, ...]]:
    """Yield rows of Python values; NaN becomes None."""
    return zip(*(_plain(array) for array in table.columns.values()), strict=True)


def _plain(values: Any) -> list[Any]:  # noqa: ANN401  (a sequence or an array)
    """Return the values of a list or array as Python values; NaN becomes None."""
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if isinstance(value, float) and isnan(value) else value for value in listed]


# Small tables from Python values

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""A table as a dictionary of columns."""
RowsOfDicts: TypeAlias = Sequence[Mapping[str, Any]]
"""A table as a list of rows; a missing column is NULL."""

_CHUNK = 500
"""The number of rows per INSERT."""
_KINDS: Mapping[type, TypeEngine[Any]] = {
    bool: sa.Boolean(),
    int: sa.BigInteger(),
    float: sa.Double(),
    Decimal: sa.Numeric(38, 10).with_variant(sa.Double(), "sqlite"),
    datetime: sa.DateTime(),
    date: sa.Date(),
    str: sa.Text(),
}
"""Column types by Python types. The order matters: True is also an int, a datetime a date."""


def table_script(tables: Mapping[str, Columns | RowsOfDicts], dialect: str) -> str:
    """Return a script that creates and fills tables.

    The values of a column determine its type: bool, int, float, Decimal, str, date or datetime. A
    column of ints and floats is a float column. None and NaN are NULL.

    Parameters
    ----------
    tables
        The tables by name; each is a dictionary of columns or a list of rows.
    dialect
        ``sqlite``, ``duckdb``, ``mysql`` or ``postgres``.

    Raises
    ------
    DataError
        Columns have different lengths, values of a column have different types, or a table has no
        column.
    """
    return "\n".join(
        f"{statement};"
        for name, content in tables.items()
        for statement in _statements(name, content, dialect)
    )


def _statements(name: str, content: Columns | RowsOfDicts, dialect: str) -> Iterator[str]:
    columns = {column: _plain(values) for column, values in _columns(name, content).items()}
    lengths = {column: len(values) for column, values in columns.items()}
    if not columns:
        raise DataError(f"Table '{name}' has no columns: give it one row or a dict of columns.")
    if len(set(lengths.values())) > 1:
        raise DataError(f"Table '{name}' has columns of unequal length: {lengths}.")
    typed = (
        sa.Column(key, _type_of(name, key, cells), quote=True) for key, cells in columns.items()
    )
    table = sa.Table(name, sa.MetaData(), *typed, quote=True)
    yield spelled(CreateTable(table), dialect)
    rows = list(zip(*columns.values(), strict=True))
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        values = [dict(zip(columns, row, strict=True)) for row in chunk]
        yield spelled(sa.insert(table).values(values), dialect)


def _columns(name: str, content: object) -> Mapping[str, Sequence[Any]]:
    if isinstance(content, Mapping):
        return content
    if not isinstance(content, Sequence) or not all(isinstance(row, Mapping) for row in content):
        raise DataError(
            f"Table '{name}' is neither a dict of columns nor a list of rows that are dicts."
        )
    names = dict.fromkeys(column for row in content for column in row)
    return {column: [row.get(column) for row in content] for column in names}


def _type_of(table: str, column: str, values: Sequence[Any]) -> TypeEngine[Any]:
    found: set[type] = {
        next((kind for kind in _KINDS if isinstance(value, kind)), type(value))
        for value in values
        if value is not None
    }
    if found == {int, float}:
        found = {float}
    if len(found) > 1 or not found <= _KINDS.keys():
        named = " and ".join(sorted(kind.__name__ for kind in found))
        raise DataError(
            f"Column '{column}' of table '{table}' holds {named}: give it one type of bool, int, "
            "float, Decimal, str, date and datetime."
        )
    return _KINDS[found.pop()] if found else sa.Text()
