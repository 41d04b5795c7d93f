"""How large a value of a Cypher statement may become, as far as the statement itself shows it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from operator import mul
from typing import NamedTuple

from dqa.guard.check import Refusal
from dqa.guard.cypher_tokens import NUMBER

_MOST_ROWS = 2_000
"""Rows that count where they are collected."""
ACCUMULATOR = 1e12
"""The size of a reduce()'s accumulator while its expression is read."""
_MOST = 1_000_000
"""Items that one range() may make, and times that one text may be repeated."""
_LARGEST = 4_000_000
"""Items and letters that an expression may make in all."""


class Size(NamedTuple):
    """How large a value may be: in all, and each of its items."""

    total: float = 1.0
    item: float = 1.0

    @classmethod
    def of(cls, total: float) -> Size:
        """Return the size of a text, or of a value whose items may be as large as itself."""
        return cls(total, total)


ONE = Size()


def sum_of(sizes: Sequence[Size]) -> Size:
    """Return the size of several values together."""
    return Size(sum(s.total for s in sizes), max((s.item for s in sizes), default=1.0))


def list_of(sizes: Sequence[Size]) -> Size:
    """Return the size of a list of values."""
    return Size(sum_of(sizes).total, max((s.total for s in sizes), default=1.0))


def repeated(items: float, each: float) -> Size:
    """Return the size of a list; one of a reduce()'s accumulator may have items in the data."""
    return Size((max(items, 2.0) if each >= ACCUMULATOR else items) * each, each)


def collected(rows: float, each: float) -> Size:
    """Return the size of a list of one value from each row; servers bound the memory of more."""
    return repeated(min(rows, _MOST_ROWS), each)


def require_small(size: Size) -> None:
    """Refuse a value that no server should build."""
    if size.total % ACCUMULATOR > _LARGEST:
        raise Refusal(
            f"it could make lists or texts of over {_LARGEST:,} items; use smaller numbers"
        )


def reduced(name: str, start: Size, items: Size, values: Sequence[Size]) -> Size:
    """Return the size of a reduce().

    The accumulator counts as `ACCUMULATOR`: a value of twice that doubles it at every step, and so
    makes a text or a list that no memory holds.

    Parameters
    ----------
    name
        The accumulator.
    start, items
        Its first value, and the list.
    values
        Its next value; or the values of the next map, if these read only keys of the last map.
    """
    if any(value.total >= 2 * ACCUMULATOR for value in values):
        raise Refusal(f"reduce() could double {name} at each step; use it once")
    added = max((value.total % ACCUMULATOR for value in values), default=1.0)
    total = (start.total + items.total * added) * max(len(values), 1)
    return Size(total, max(start.item, added))


def call_of(
    name: str, sizes: Sequence[Size], most: float, words: Mapping[str, frozenset[str]]
) -> Size:
    """Return the size of a function's result.

    Parameters
    ----------
    name
        The function.
    sizes
        Of its arguments.
    most
        The largest number in its brackets.
    words
        The sections of the allow-list.
    """
    total = sum_of(sizes).total
    if name in words["repeating functions"]:
        total = sizes[0].total * _bounded(name, most)
    elif name in words["padding functions"]:
        total += _bounded(name, most)
    elif name in words["replacing functions"]:
        total *= max(1.0, sizes[-1].total)
    elif name not in words["functions that do not lengthen"]:
        total *= 2.0
    return Size.of(total)


def range_of(keys: Sequence[str], texts: Sequence[str], *, computes: bool) -> Size:
    """Return the size of a range: as its numbers say, or at most as the longest of them.

    Parameters
    ----------
    keys, texts
        The tokens between its brackets.
    computes
        Whether the engine may compute bounds that are larger than the numbers.
    """
    numbers, written = numbers_in(keys, texts), "".join(keys)
    plain = re.fullmatch("([-+]?)0,([-+]?)0(?:,([-+]?)0)?", written)
    if plain is not None:
        signs = (-1.0 if sign == "-" else 1.0 for sign in plain.groups(""))
        start, stop, step = [*map(mul, signs, numbers), 1.0][:3]
        return Size(_bounded("range", abs((stop - start) / (step or 1.0)) + 1))
    is_computed = computes and ("*" in written or "^" in written)
    _bounded("range", math.inf if is_computed else max(numbers, default=1.0))
    return ONE


def numbers_in(keys: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return the numbers among tokens."""
    return [_number(text) for key, text in zip(keys, texts, strict=True) if key == NUMBER]


def _bounded(name: str, items: float) -> float:
    if items > _MOST:
        raise Refusal(f"{name}() may make at most {_MOST:,} items; use smaller numbers")
    return max(items, 1.0)


def _number(text: str) -> float:
    plain = text.replace("_", "")
    is_coded = plain[:2].lower() in {"0x", "0o"}
    return float(int(plain, 0)) if is_coded else float(plain.rstrip("dDfF"))
