"""Write SQL scripts that create small tables from Python values, for example for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    MetaData,
    Numeric,
    Table,
    Text,
    insert,
)
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeEngine

from dqa.core.errors import DataError
from dqa.databases.tables import spelled

Columns: TypeAlias = Mapping[str, Sequence[Any]]
"""A table as a dictionary of columns."""
RowsOfDicts: TypeAlias = Sequence[Mapping[str, Any]]
"""A table as a list of rows; a missing column is NULL."""

_CHUNK = 500
"""The number of rows per INSERT."""
_KINDS: Mapping[type, TypeEngine[Any]] = {
    bool: Boolean(),
    int: BigInteger(),
    float: Double(),
    Decimal: Numeric(38, 10).with_variant(Double(), "sqlite"),
    datetime: DateTime(),
    date: Date(),
    str: Text(),
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
    typed = (Column(key, _type_of(name, key, cells), quote=True) for key, cells in columns.items())
    table = Table(name, MetaData(), *typed, quote=True)
    yield spelled(CreateTable(table), dialect)
    rows = list(zip(*columns.values(), strict=True))
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        values = [dict(zip(columns, row, strict=True)) for row in chunk]
        yield spelled(insert(table).values(values), dialect)


def _columns(name: str, content: object) -> Mapping[str, Sequence[Any]]:
    if isinstance(content, Mapping):
        return content
    if not isinstance(content, Sequence) or not all(isinstance(row, Mapping) for row in content):
        raise DataError(
            f"Table '{name}' is neither a dict of columns nor a list of rows that are dicts."
        )
    names = dict.fromkeys(column for row in content for column in row)
    return {column: [row.get(column) for row in content] for column in names}


def _plain(values: Sequence[Any]) -> list[Any]:
    """Return the values of a list or array as Python values; NaN becomes None."""
    to_list = getattr(values, "tolist", None)
    listed = list(values) if to_list is None else to_list()
    return [None if isinstance(value, float) and value != value else value for value in listed]  # noqa: PLR0124


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
    return _KINDS[found.pop()] if found else Text()
