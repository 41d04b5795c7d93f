"""Estimate from a Cypher statement how large its values may become."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from dqa.guard.check import Refusal
from dqa.guard.lists import AllowLists

MOST_ROWS = 2_000
"""The assumed maximum number of rows that a list collects. For more rows, the server's memory limit
protects the server."""
ACCUMULATOR = 1e12
"""The assumed size of the accumulator while the expression of reduce() is read."""
_MOST_ITEMS = 1_000_000
"""The maximum number of items of a range(), and of repetitions of a string."""
LARGEST = 4_000_000
"""The maximum number of items and characters that an expression may create in total."""
MOST_STEPS = 4_000_000
"""The maximum number of evaluations within nested list functions."""
_MOST_FOLDED = 10_000
"""The maximum number of steps of one reduce(), because each step may copy the accumulator."""
_MOST_TRIED = 4e9
"""The maximum number of steps to match a regular expression."""
_STORED_TEXT = 1_000.0
"""The assumed length of a text from the database that is matched with a regular expression."""
_NUMBERS = re.compile(r"([-+]?\d{1,19}),([-+]?\d{1,19})(?:,[-+]?(\d{1,19}))?")
"""Matches the arguments of a range() if they are numbers."""
_SIZES = re.compile(r"(?:\d+|[-+,]|(?:size|length)\()+", re.IGNORECASE)
"""Matches arguments that contain only numbers, size() and length(). The range() then has at most as
many items as the largest value of the statement."""
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^]\\])*\]", re.DOTALL)
_FLAGS = re.compile(r"\(\?[ims]+\)|(?<=\()\?:")
_UNSAFE = re.compile(r"\(\?|\)[*+{]")
_QUANTIFIER = re.compile(r"(?:[*+]|\{\d+,\d*\})[?+]?")


class Size(NamedTuple):
    """The maximum size of a value, and the maximum size of each of its items."""

    total: float = 1.0
    item: float = 1.0

    @classmethod
    def of(cls, total: float) -> Size:
        """Return the size of a value that could be a single large item, such as a string."""
        return cls(total, total)


ONE = Size()


def sum_of(sizes: Sequence[Size]) -> Size:
    """Return the total size of several values."""
    return Size(sum(s.total for s in sizes), max((s.item for s in sizes), default=1.0))


def list_of(sizes: Sequence[Size]) -> Size:
    """Return the size of a list that contains these values."""
    return Size(sum_of(sizes).total, max((s.total for s in sizes), default=1.0))


def repeated(items: float, each: float) -> Size:
    """Return the size of a list whose items have the size `each`.

    If the items contain the accumulator of reduce(), at least two items are assumed, so that
    `reduced` refuses the list.
    """
    return Size((max(items, 2.0) if each >= ACCUMULATOR else items) * each, each)


def require_at_most(most: int, count: float, what: str) -> float:
    """Refuse a statement that creates or evaluates too much: a server cannot interrupt it.

    Return the count, but at least 1.
    """
    if count > most:
        raise Refusal(f"the number of {what} could exceed {most:,}; use smaller numbers")
    return max(count, 1.0)


def require_fast_pattern(text: str, searched: float) -> None:
    """Refuse a regular expression that may take long to match: a server cannot interrupt it.

    A pattern with k quantifiers takes up to n**k steps on n characters. Each alternative can double
    the number of steps. A repeated group can take exponentially many steps.

    Parameters
    ----------
    text
        The regular expression, with its quotes.
    searched
        The maximum number of characters of the text that the statement builds and matches.
    """
    pattern = text.replace(r"\\", "\\")
    escaped = "".join(re.findall(r"\\(.)", pattern, re.DOTALL))
    pattern = _FLAGS.sub("", _ESCAPED_OR_CLASS.sub("x", pattern))
    if re.search("[Qk1-9]", escaped) or _UNSAFE.search(pattern):
        raise Refusal(
            "the regular expression may not contain a repeated group, a reference to a group, "
            "\\Q...\\E, a lookahead, or flags other than i, m and s; write it more simply"
        )
    pattern, quantifiers = _QUANTIFIER.subn("", pattern)
    choices = pattern.count("?") + pattern.count("|")
    if max(searched, _STORED_TEXT) ** quantifiers * 2.0**choices > _MOST_TRIED:
        raise Refusal("the regular expression has too many quantifiers; use fewer, or use CONTAINS")


def reduced(name: str, start: Size, items: Size, value: Size) -> Size:
    """Return the size of the result of reduce().

    The accumulator has the assumed size `ACCUMULATOR`. An expression of twice that size would
    double the accumulator at every step and exhaust the memory, so it is refused.

    Parameters
    ----------
    name
        The name of the accumulator.
    start, items, value
        The initial value of the accumulator, the list, and the expression that replaces the
        accumulator.
    """
    require_at_most(_MOST_FOLDED, items.total, "steps of reduce()")
    if value.total >= 2 * ACCUMULATOR:
        raise Refusal(
            f"the size of {name} could double at each step of reduce(); use {name} only once in "
            "the expression of reduce()"
        )
    added = value.total % ACCUMULATOR
    return Size(start.total + items.total * added, max(start.item, added))


def _number(text: str) -> float:
    """Return a decimal number; refuse another literal, such as ``0x10`` and ``10d``."""
    try:
        return float(text)
    except ValueError:
        raise Refusal(f"{text} is not a decimal number; write only digits") from None


def call_of(name: str, sizes: Sequence[Size], numbers: Sequence[str], words: AllowLists) -> Size:
    """Return the size of a function's result. `numbers` are the numbers in its arguments."""
    total = sum_of(sizes).total
    if name in words["repeating functions"]:
        times = prod(max(_number(number), 1.0) for number in numbers)
        total *= require_at_most(_MOST_ITEMS, times, f"items of {name}()")
    elif name in words["replacing functions"]:
        total *= max(1.0, sizes[-1].total)
    elif name not in words["functions that do not lengthen"]:
        total *= 2.0
    return Size.of(total)


def range_of(arguments: str, largest: float) -> Size:
    """Return the size of a range: exact if its bounds are numbers, otherwise an upper bound.

    Parameters
    ----------
    arguments
        The text between the brackets of range(). Spaces and the content of inner brackets are
        removed.
    largest
        The size of the largest value that the statement creates before this range.

    Raises
    ------
    Refusal
        The range is too long, or its bounds may be any number. A server cannot interrupt the
        creation of a range.
    """
    bounds = _NUMBERS.fullmatch(arguments)
    if bounds is not None:
        start, stop, step = (int(number or 1) for number in bounds.groups())
        count = abs(stop - start) / (step or 1) + 1
    elif _SIZES.fullmatch(arguments):
        count = sum(map(float, re.findall(r"\d+", arguments))) + largest
    else:
        raise Refusal("the bounds of range() must be decimal numbers, size() or length()")
    return Size(require_at_most(_MOST_ITEMS, count, "items of range()"))
