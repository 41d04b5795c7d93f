"""Estimate from a Cypher statement how large its values may become."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from operator import mul
from typing import NamedTuple

from dqa.guard.check import Refusal
from dqa.guard.cypher_tokens import NUMBER

_MOST_ROWS = 2_000
"""The assumed maximum number of rows that a list collects."""
ACCUMULATOR = 1e12
"""The size that the accumulator of reduce() is assumed to have while its expression is read."""
_MOST = 1_000_000
"""The maximum number of items of a range(), and of repetitions of a string."""
_LARGEST = 4_000_000
"""The maximum number of items and characters that an expression may create in total."""
_MOST_STEPS = 4_000_000
"""The maximum number of evaluations within nested list functions."""
_MOST_FOLDED = 10_000
"""The maximum number of steps of one reduce(): each step may copy the accumulator."""
_MOST_TRIED = 4e9
"""The maximum number of steps of a search for a regular expression."""
_STORED_TEXT = 1_000.0
"""The assumed length of a stored text in such a search."""
_COUNTING = frozenset({"size", "length"})
"""Functions whose results are at most as large as a list or a text."""
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]", re.DOTALL)
_FLAGS = re.compile(r"\(\?[ims]+\)")
_GROUP = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|<\w+>|[a-zA-Z-]+:))?([^()]*)\)([*+{]?)")
_QUANTIFIER = re.compile(r"(?:[*+]|\{\d+,\d*\})[?+]?")


class Size(NamedTuple):
    """The maximum size of a value, and the maximum size of each of its items."""

    total: float = 1.0
    item: float = 1.0

    @classmethod
    def of(cls, total: float) -> Size:
        """Return the size of a string, or of a list that may consist of a single large item."""
        return cls(total, total)


ONE = Size()


def sum_of(sizes: Sequence[Size]) -> Size:
    """Return the total size of several values."""
    return Size(sum(s.total for s in sizes), max((s.item for s in sizes), default=1.0))


def list_of(sizes: Sequence[Size]) -> Size:
    """Return the size of a list that contains these values."""
    return Size(sum_of(sizes).total, max((s.total for s in sizes), default=1.0))


def repeated(items: float, each: float) -> Size:
    """Return the size of a list of equal items. An accumulator is counted at least twice."""
    return Size((max(items, 2.0) if each >= ACCUMULATOR else items) * each, each)


def collected(rows: float, each: float) -> Size:
    """Return the size of a list with one value per row.

    Above `_MOST_ROWS` rows the memory limit of the server applies.
    """
    return repeated(min(rows, _MOST_ROWS), each)


def require_small(size: Size) -> None:
    """Refuse a value that is too large for a server."""
    _require_at_most(_LARGEST, size.total % ACCUMULATOR, "items and characters")


def require_few_steps(steps: float) -> None:
    """Refuse nested list functions with many steps: a server cannot interrupt them."""
    _require_at_most(_MOST_STEPS, steps, "evaluations of an expression")


def _require_at_most(most: int, count: float, what: str) -> float:
    if count > most:
        raise Refusal(f"the number of {what} could exceed {most:,}; use smaller numbers")
    return max(count, 1.0)


def require_fast_pattern(text: str, searched: float) -> None:
    """Refuse a regular expression whose search may be long: a server cannot interrupt it.

    A search for k quantifiers in n characters takes up to n to the power of k steps, and each
    alternative may double them. The number of steps is exponential if a repeated group contains a
    quantifier or alternatives. Flags, quotations and references that change how a pattern is read
    are refused.

    Parameters
    ----------
    text
        The regular expression as a quoted text of the statement.
    searched
        The maximum length of the part of the searched text that the statement creates.
    """
    pattern = text.replace(r"\\", "\\")
    if re.search(r"[Qk1-9]", "".join(_ESCAPED.findall(pattern))):
        raise Refusal(
            "the regular expression quotes a text or refers to a group; leave out these parts"
        )
    pattern = _FLAGS.sub("", _ESCAPED_OR_CLASS.sub("x", pattern))
    if flags := re.search(r"\(\?[a-zA-Z-]+[:)]", pattern):
        raise Refusal(
            f"the regular expression has the flags {flags[0]}, but only i, m and s are allowed"
        )
    while group := _GROUP.search(pattern):
        body, repeats = group.groups()
        if repeats and ("|" in body or "?" in body or _QUANTIFIER.search(body)):
            raise Refusal(
                f"the regular expression repeats ({body}), so the search may never end; leave out "
                "the repetition"
            )
        read = "x" if repeats else body
        pattern = pattern[: group.start()] + read + pattern[group.end(1) + 1 :]
    pattern, quantifiers = _QUANTIFIER.subn("", pattern)
    choices = pattern.count("?") + pattern.count("|")
    if max(searched, _STORED_TEXT) ** quantifiers * 2.0**choices > _MOST_TRIED:
        raise Refusal("the regular expression has too many quantifiers; use fewer, or use CONTAINS")


def reduced(name: str, start: Size, items: Size, values: Sequence[Size]) -> Size:
    """Return the size of the result of reduce().

    The accumulator has the size `ACCUMULATOR`. A value of twice that size would double the
    accumulator at every step and exhaust the memory, so it is refused.

    Parameters
    ----------
    name
        The name of the accumulator.
    start, items
        The initial value of the accumulator, and the list.
    values
        The next value of the accumulator, as a single item. If the accumulator is a map, and each
        value reads only keys of the previous map, there is one item for each value.
    """
    _require_at_most(_MOST_FOLDED, items.total, "steps of reduce()")
    if any(value.total >= 2 * ACCUMULATOR for value in values):
        raise Refusal(
            f"reduce() could double {name} at each step; use {name} only once in its expression"
        )
    added = max((value.total % ACCUMULATOR for value in values), default=1.0)
    total = (start.total + items.total * added) * max(len(values), 1)
    return Size(total, max(start.item, added))


def call_of(
    name: str, sizes: Sequence[Size], most: float, words: Mapping[str, frozenset[str]]
) -> Size:
    """Return the size of the result of a function.

    Parameters
    ----------
    name
        The name of the function.
    sizes
        The sizes of its arguments.
    most
        The largest number among its arguments.
    words
        The sections of the allow-list.
    """
    total = sum_of(sizes).total
    if name in words["repeating functions"]:
        total = sizes[0].total * _require_at_most(_MOST, most, f"items of {name}()")
    elif name in words["padding functions"]:
        total += _require_at_most(_MOST, most, f"items of {name}()")
    elif name in words["replacing functions"]:
        total *= max(1.0, sizes[-1].total)
    elif name not in words["functions that do not lengthen"]:
        total *= 2.0
    return Size.of(total)


def range_of(keys: Sequence[str], texts: Sequence[str], *, computes: bool) -> Size:
    """Return the size of a range. It is exact for plain numbers; otherwise it is an upper bound.

    Parameters
    ----------
    keys, texts
        The tokens between the brackets of range().
    computes
        Whether the bounds are expressions, whose values may exceed the numbers in the statement.
    """
    numbers, written = numbers_in(keys, texts), "".join(keys)
    plain = re.fullmatch("([-+]?)0,([-+]?)0(?:,([-+]?)0)?", written)
    if plain is not None:
        signs = (-1.0 if sign == "-" else 1.0 for sign in plain.groups(""))
        start, stop, step = [*map(mul, signs, numbers), 1.0][:3]
        count = abs((stop - start) / (step or 1.0)) + 1
        return Size(_require_at_most(_MOST, count, "items of range()"))
    if computes:
        most = math.inf if "*" in written or "^" in written else max(numbers, default=1.0)
        _require_at_most(_MOST, most, "items of range()")
        return ONE
    _require_plain_bounds(keys)
    return Size(_require_at_most(_MOST, sum(numbers) + 1, "items of range()"))


def _require_plain_bounds(keys: Sequence[str]) -> None:
    """Refuse a range on Neo4j whose bounds may be any number, because no limit ends a long list."""
    depth = 0
    for key in keys:
        depth += (key == "(") - (key == ")")
        if not depth and key not in {NUMBER, "+", "-", ",", ")"} and key.lower() not in _COUNTING:
            raise Refusal("the bounds of range() must be numbers, size() or length()")


def numbers_in(keys: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return the numbers among tokens."""
    return [_number(text) for key, text in zip(keys, texts, strict=True) if key == NUMBER]


def _number(text: str) -> float:
    plain = text.replace("_", "")
    is_coded = plain[:2].lower() in {"0x", "0o"}
    return float(int(plain, 0)) if is_coded else float(plain.rstrip("dDfF"))
