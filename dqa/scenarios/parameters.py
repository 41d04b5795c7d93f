"""What a question is about, typed: texts of a target as values that statements are filled with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from dqa.core.errors import DataError
from dqa.core.question import Candidate
from dqa.core.situation import Cell, ColumnType
from dqa.scenarios.document import ParameterType

LIST_SEPARATOR = ", "
"""Between the names of a target that lists several, as a reader of the question sees them."""

Scalar: TypeAlias = Candidate | Decimal
"""A value that a statement is filled with; a boolean is one of Python's."""

_DIGITS = 300
"""Most digits before or behind the point of a number."""


def type_of_column(column: ColumnType) -> ParameterType:
    """Return what a parameter is whose values a column has, unless its scenario says otherwise."""
    return _OF_COLUMNS.get(column, "text")


_OF_COLUMNS: Mapping[ColumnType, ParameterType] = {
    "integer": "integer",
    "float": "number",
    "decimal": "number",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}


def read_value(key: str, text: str, kind: ParameterType) -> Scalar:
    """Return what the text of one value says.

    Raises
    ------
    DataError
        It is none of its type.
    """
    convert, form = _CONVERTERS.get(kind, (str, "text"))
    try:
        return convert(text.strip() if kind != "text" else text)
    except (ValueError, InvalidOperation) as error:
        raise DataError(f"'{key}' is '{text}' and has to be {form}.") from error


def read_list(key: str, text: str, kind: ParameterType) -> tuple[Scalar, ...]:
    """Return the values of a text that lists several; `DataError` as `read_value`."""
    return tuple(read_value(key, part, kind) for part in text.split(LIST_SEPARATOR))


def text_of(value: Scalar | Cell) -> str:
    """Return a value as a target has it, and as a question's reader sees it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def typed_text(cell: Cell, kind: ParameterType) -> str:
    """Return a database's value of a parameter as a target has it: its own text, canonical."""
    if kind == "boolean" and cell in (0, 1):
        return text_of(bool(cell))
    if kind == "integer" and isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return text_of(cell)


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(text)
    return int(text)


def _number(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or abs(value.adjusted()) > _DIGITS:
        raise ValueError(text)
    return value


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


_CONVERTERS: Mapping[ParameterType, tuple[Callable[[str], Scalar], str]] = {
    "integer": (_whole, "a whole number"),
    "number": (_number, "a number"),
    "decimal": (_number, "a number"),
    "boolean": (_boolean, "true or false"),
    "date": (_day, "a day as YYYY-MM-DD"),
    "timestamp": (_moment, "a moment as YYYY-MM-DD HH:MM:SS"),
}
"""By type, what reads a text, and what errors say that it has to be."""
