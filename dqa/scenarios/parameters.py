"""Convert the texts of a question's target to typed values for statements."""

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
"""The separator of names in a parameter of the type ``list``."""

Scalar: TypeAlias = Candidate | Decimal
"""A value for a statement; may be a bool."""

_DIGITS = 300
"""The maximum number of digits before or after the decimal point."""
_OF_COLUMNS: Mapping[ColumnType, ParameterType] = {
    "integer": "integer",
    "float": "number",
    "decimal": "number",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}


def type_of_column(column: ColumnType) -> ParameterType:
    """Return the default type of a parameter whose values come from a column."""
    return _OF_COLUMNS.get(column, "text")


def read_value(key: str, text: str, kind: ParameterType) -> Scalar:
    """Convert a parameter's text to the parameter's type. Raise `DataError` if this fails."""
    if kind not in _READERS:
        return text
    read, form = _READERS[kind]
    try:
        return read(text.strip())
    except (KeyError, ValueError, InvalidOperation) as error:
        raise DataError(f"'{key}' is '{text}', but must be {form}.") from error


def read_list(key: str, text: str, kind: ParameterType) -> tuple[Scalar, ...]:
    """Split a text that lists several values, and return them. Errors are those of `read_value`."""
    return tuple(read_value(key, part, kind) for part in text.split(LIST_SEPARATOR))


def text_of(value: Scalar | Cell) -> str:
    """Convert a value to the text that a target contains."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def typed_text(cell: Cell, kind: ParameterType) -> str:
    """Convert a value of a database to a target's text.

    The form of the text depends on the parameter's type.
    """
    if kind == "boolean" and cell in (0, 1):
        return text_of(bool(cell))
    if kind == "integer" and isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return text_of(cell)


def _number(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite() or abs(value.adjusted()) > _DIGITS:
        raise ValueError(text)
    return value


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


_READERS: Mapping[ParameterType, tuple[Callable[[str], Scalar], str]] = {
    "integer": (int, "a whole number"),
    "number": (_number, "a number"),
    "decimal": (_number, "a number"),
    "boolean": (lambda text: {"true": True, "false": False}[text.lower()], "true or false"),
    "date": (lambda text: date.fromisoformat(text).isoformat(), "a day as YYYY-MM-DD"),
    "timestamp": (_moment, "a time as YYYY-MM-DD HH:MM:SS"),
}
"""For each type, the function that reads a text, and the required form for error messages."""
