"""Format values for a model: round numbers, sample columns, write rows as text.

A number with 17 digits costs three times as many tokens as a number with six digits. Only the text
is rounded. Calculations and records use the exact number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from dqa.core.errors import UsageError

if TYPE_CHECKING:
    from dqa.core.situation import Cell

Value: TypeAlias = "str | float | int | bool | list[Value] | dict[str, Value] | None"
"""A cell of a result: a plain value, or a list or map of values."""

MOST_TOKENS = 10_000
"""The default maximum number of tokens of a schema in a prompt."""
LEAST_TOKENS = 300
"""The minimum number of tokens of a schema: room for a table and the names of other tables."""

_DIGIT = re.compile(r"\d")
"""Only a text with a digit may be a number. This check is faster than a conversion."""
_SAME = 12
"""Values with the same first 12 significant digits differ only by rounding errors."""


@dataclass(frozen=True, slots=True)
class Display:
    """The format in which a model reads a database's values.

    Attributes
    ----------
    digits
        The significant digits of a number with a fraction; 0 for all digits. Whole numbers, texts
        and booleans are never changed.
    samples
        The number of sample values that the schema shows for each text or boolean column.
    fold
        Whether the result of a simulation has a single line for all candidates that do not change
        the outcome.
    schema_tokens
        The approximate maximum number of tokens of the schema in a prompt. Agents can look up the
        parts that do not fit.

    Raises
    ------
    UsageError
        A value is less than 0, or `schema_tokens` leaves no room for a schema.
    """

    digits: int = 6
    samples: int = 0
    fold: bool = True
    schema_tokens: int = MOST_TOKENS

    def __post_init__(self) -> None:
        """Check the values."""
        for name, least in (("digits", 0), ("samples", 0), ("schema_tokens", LEAST_TOKENS)):
            value = getattr(self, name)
            if value < least:
                raise UsageError(f"Display: {name} must be {least} or more, not {value}.")


DEFAULT_DISPLAY = Display()


def numbers_in(names: Iterable[object]) -> frozenset[float]:
    """Return the candidates that are numbers with a fraction. `round_rows` must not round them."""
    found = set()
    for text in filter(_DIGIT.search, map(str, names)):
        with suppress(ValueError, OverflowError):
            found.add(float(text))
    return frozenset(number for number in found if not number.is_integer())


def cell_of(value: Value) -> Cell:
    """Convert a list or map to JSON text, and return any other value unchanged."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def candidate_name(value: Value) -> str | int:
    """Return a value as the name of a candidate: a whole number unchanged, other values as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    plain = cell_of(value)
    return plain if isinstance(plain, str | int) else str(plain)


def dump_row(row: Sequence[Value]) -> str:
    """Return a row as a JSON array on one line. ``NaN`` and infinities become text.

    Line separators such as U+2028 are escaped too.
    """
    try:
        text = _JSON.encode(row)
    except ValueError:  # JSON lacks NaN and infinities
        text = _JSON.encode([spelled_number(cell) for cell in row])
    return text if text.isascii() and "\x7f" not in text else text.translate(_LINE_BREAKS)


def spelled_number(cell: Value) -> Value:
    """Convert NaN and infinities to text, because JSON lacks them; do not change other cells."""
    return str(cell) if isinstance(cell, float) and not isfinite(cell) else cell


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
"""One encoder for all rows; `json.dumps` would create one for each row."""
_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029)}


def round_rows(
    rows: Sequence[tuple[Value, ...]], digits: int, exact: Collection[float] = frozenset()
) -> tuple[tuple[Value, ...], ...]:
    """Return rows with rounded numbers.

    A number is rounded to `digits` significant digits if its text becomes shorter. Digits before
    the decimal point never change. A number that loses its fraction is written as 12, not as 12.0,
    which would look like the exact value. Different values of one column stay different: they have
    as many digits as necessary. Rankings and ids therefore remain correct.

    Parameters
    ----------
    rows
        Rows of the same length.
    digits
        The significant digits; 0 for all digits.
    exact
        Numbers that do not change, such as candidates.
    """
    if not digits or not rows or not rows[0]:
        return tuple(rows)
    columns = (_rounded_column(cells, digits, exact) for cells in zip(*rows, strict=True))
    return tuple(zip(*columns, strict=True))


def _rounded_column(
    cells: tuple[Value, ...], digits: int, exact: Collection[float]
) -> Iterable[Value]:
    numbers = set(_numbers(cells)).difference(exact)
    shown = {number: short for number, short in _distinguish(numbers, digits) if short != number}
    return (_with(cell, shown) for cell in cells) if shown else cells


def _numbers(cells: Iterable[Value]) -> Iterator[float]:
    for cell in cells:
        if type(cell) is float or type(cell) is int:
            yield cell
        elif isinstance(cell, list):
            yield from _numbers(cell)
        elif isinstance(cell, dict):
            yield from _numbers(cell.values())


def _distinguish(numbers: Iterable[float], digits: int) -> Iterator[tuple[float, float]]:
    """Yield each number with its shortest rounded form that is unique among the numbers."""
    alike: dict[float, list[float]] = {}
    for number in numbers:
        alike.setdefault(_rounded(number, digits), []).append(number)
    for short, group in alike.items():
        if len(group) == 1 or digits >= _SAME:
            yield from ((number, short) for number in group)
        else:
            yield from _distinguish(group, digits + 1)


def _rounded(number: float, digits: int) -> float:
    if type(number) is int or number.is_integer() or number - number != 0.0:
        return number
    whole = abs(number) >= 10**digits
    short = float(round(number)) if whole else float(f"{number:.{digits}g}")
    if len(repr(short)) >= len(repr(number)):
        return number
    return int(short) if short.is_integer() else short  # ".0" would look exact


def _with(cell: Value, shown: dict[float, float]) -> Value:
    if type(cell) is float:
        return shown.get(cell, cell)
    if isinstance(cell, list):
        return [_with(item, shown) for item in cell]
    if isinstance(cell, dict):
        return {key: _with(item, shown) for key, item in cell.items()}
    return cell
