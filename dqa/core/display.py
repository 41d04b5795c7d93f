"""What a model is shown of values: how many digits of a number, and how many samples of a column.

A number with 17 digits says no more to a reader than one with six, and costs three times the
tokens. What is calculated and kept is the number itself; rounding is for the text alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from dqa.core.errors import UsageError
from dqa.core.situation import Cell

Value: TypeAlias = "Cell | list[Value] | dict[str, Value]"
"""What a cell of a result holds: a plain value, or a list or map of such."""

MOST_TOKENS = 10_000
"""Tokens of a schema that a model is shown, where nobody says otherwise."""
LEAST_TOKENS = 300
"""With fewer there is no room for a table beside what is said of the others."""

_DIGIT = re.compile(r"\d")
"""What every number has: most names are none, and to try costs more than to look."""
_SAME = 12
"""Digits in which values that differ only by rounding are alike."""


@dataclass(frozen=True, slots=True)
class Display:
    """What a model is shown of a database's values.

    Attributes
    ----------
    digits
        Significant digits of a number that has a fraction; 0 for all that it has. Whole numbers,
        texts and booleans are always shown as they are.
    samples
        How many values of each text and boolean column stand in the schema.
    fold
        Whether a comparison tells in one line of all the candidates that change nothing.
    schema_tokens
        Most tokens of the schema, by an estimate that is rather too high (`estimate_tokens`).

    Raises
    ------
    UsageError
        One of them is less than 0, or there is no room for a schema.
    """

    digits: int = 6
    samples: int = 0
    fold: bool = True
    schema_tokens: int = MOST_TOKENS

    def __post_init__(self) -> None:
        """Refuse what nobody can show."""
        for name in ("digits", "samples"):
            given = getattr(self, name)
            if given < 0:
                raise UsageError(f"Display: {name} must be 0 or more, not {given}.")
        if self.schema_tokens < LEAST_TOKENS:
            raise UsageError(
                f"Display: schema_tokens must be {LEAST_TOKENS} or more, not {self.schema_tokens}."
            )


DEFAULT_DISPLAY = Display()


def numbers_in(names: Iterable[object]) -> frozenset[float]:
    """Return those of the names that are numbers with a fraction, as `round_rows` may keep them."""
    found = set()
    for text in filter(_DIGIT.search, map(str, names)):
        with suppress(ValueError, OverflowError):
            found.add(float(text))
    return frozenset(number for number in found if not number.is_integer())


def cell_of(value: Value) -> Cell:
    """Return a value where only a plain one will do: a list or map as its JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value


def candidate_name(value: Value) -> str | int:
    """Return a value as what can be chosen is named: a text, or a whole number.

    A truth value is its word, a list or map its JSON text.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    plain = cell_of(value)
    return plain if isinstance(plain, str | int) else str(plain)


def dump_row(row: Sequence[Value]) -> str:
    """Return one row as a JSON array on one line; ``NaN`` and infinities as text.

    U+2028 and other line separators of other alphabets are escaped too, so a row is one line
    whoever splits it.
    """
    try:
        text = _JSON.encode(row)
    except ValueError:  # not every number is one
        text = _JSON.encode([_spelled(cell) for cell in row])
    return text if text.isascii() and "\x7f" not in text else text.translate(_LINE_BREAKS)


def _spelled(cell: Value) -> Value:
    return str(cell) if isinstance(cell, float) and cell - cell != 0.0 else cell


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
"""Made once: `json.dumps` would make one a row."""
_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029)}


def round_rows(
    rows: Sequence[tuple[Value, ...]], digits: int, kept: Collection[float] = frozenset()
) -> tuple[tuple[Value, ...], ...]:
    """Return rows whose numbers have no more digits than a reader needs.

    A number is rounded to `digits` significant digits, but never before its point and only where
    that makes it shorter. Values of one column that differ by more than rounding are given as many
    digits more as tell them apart, so that a ranking stays one and an id stays one's own.

    Parameters
    ----------
    rows
        All of the same length.
    digits
        0 for all that a number has.
    kept
        Numbers that are shown as they are, such as those that can be chosen.
    """
    if not digits or not rows or not rows[0]:
        return tuple(rows)
    columns = (_rounded_column(cells, digits, kept) for cells in zip(*rows, strict=True))
    return tuple(zip(*columns, strict=True))


def _rounded_column(
    cells: tuple[Value, ...], digits: int, kept: Collection[float]
) -> Iterable[Value]:
    numbers = set(_numbers(cells)).difference(kept)
    shown = {number: short for number, short in _told_apart(numbers, digits) if short != number}
    return (_with(cell, shown) for cell in cells) if shown else cells


def _numbers(cells: Iterable[Value]) -> Iterator[float]:
    for cell in cells:
        if type(cell) is float or type(cell) is int:
            yield cell
        elif isinstance(cell, list):
            yield from _numbers(cell)
        elif isinstance(cell, dict):
            yield from _numbers(cell.values())


def _told_apart(numbers: Iterable[float], digits: int) -> Iterator[tuple[float, float]]:
    """Yield each number with the shortest that is shown for none of the others."""
    alike: dict[float, list[float]] = {}
    for number in numbers:
        alike.setdefault(_rounded(number, digits), []).append(number)
    for short, group in alike.items():
        if len(group) == 1 or digits >= _SAME:
            yield from ((number, short) for number in group)
        else:
            yield from _told_apart(group, digits + 1)


def _rounded(number: float, digits: int) -> float:
    if type(number) is int or number.is_integer() or number - number != 0.0:
        return number
    whole = abs(number) >= 10**digits
    short = float(round(number)) if whole else float(f"{number:.{digits}g}")
    return short if len(repr(short)) < len(repr(number)) else number


def _with(cell: Value, shown: dict[float, float]) -> Value:
    if type(cell) is float:
        return shown.get(cell, cell)
    if isinstance(cell, list):
        return [_with(item, shown) for item in cell]
    if isinstance(cell, dict):
        return {key: _with(item, shown) for key, item in cell.items()}
    return cell
