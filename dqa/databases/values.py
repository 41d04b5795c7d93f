"""Convert the values of a driver to plain values, so that equal values become equal cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from dqa.core.display import Value, cell_of, spelled_number

CELLS = frozenset({str, int, float, bool, type(None)})
"""Types that a result contains unchanged."""
_DEEPEST = 50
"""The maximum depth of nested lists and maps."""
_DIGITS = 600
"""Decimals with a decimal exponent of at least this size become text."""


def plain(value: Any, levels: int = _DEEPEST) -> Value:  # noqa: ANN401
    """Convert any value of a driver to a plain value, or to a list or map of plain values.

    Numbers remain numbers if JSON can represent them exactly. Binary data become hexadecimal text,
    and dates and times become ISO 8601. Lists and maps are converted to a depth of `levels`. Any
    other value becomes text.
    """
    for kinds, convert in _CONVERTERS:
        if isinstance(value, kinds):
            return convert(value, levels)
    return str(value)


def readable(text: str) -> str:
    """Return a text that can be encoded as UTF-8.

    Drivers represent bytes that are not UTF-8 by surrogates. A text with such surrogates becomes
    hexadecimal. Other surrogates become escapes as in JSON.
    """
    if text.isascii():
        return text
    try:
        data = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    try:
        data.decode()
    except UnicodeDecodeError:
        return f"0x{data.hex()}"
    return text


def loaded(text: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """Parse a JSON text. A number that a float cannot represent exactly becomes text.

    A value that is not text or cannot be parsed is returned unchanged.
    """
    if not isinstance(text, (str, bytes)):
        return text
    with suppress(ValueError, RecursionError):
        return json.loads(text, parse_float=_json_number)
    return text if isinstance(text, str) else text.decode(errors="backslashreplace")


def _json_number(text: str) -> float | str:
    """Convert a number with a fraction or an exponent to a float, or to text to keep all digits."""
    number = float(text)
    if not isfinite(number):
        return text
    same = Decimal(text).as_tuple() == Decimal(repr(number)).as_tuple()
    # A number with an exponent becomes a float of equal value: 1e3 becomes 1000.0.
    return number if same or ("e" in text.lower() and Decimal(text) == Decimal(number)) else text


_TIME = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d )?(?P<clock>\d\d:\d\d:\d\d)(?P<fraction>\.\d{1,6})?"
    r"(?P<zone>[+-](?:[01]\d|2[0-3])(?::\d\d)?)?"
)


def iso_text(text: str) -> str:
    """Return a time as ISO 8601, or unchanged if Python cannot represent it."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    day, clock, fraction, zone = found.groups(default="")
    fraction = fraction and fraction.ljust(7, "0")
    return f"{day.replace(' ', 'T')}{clock}{fraction}{zone}{':00' if len(zone) == 3 else ''}"


def _number(value: Decimal, _: int) -> Value:
    if value.is_finite() and abs(value.adjusted()) < _DIGITS:
        if value == int(value):
            return int(value)
        if Decimal(repr(float(value))) == value:
            return float(value)
    return str(value)


def _interval(value: timedelta, _: int) -> str:
    """Return a duration in PostgreSQL's format: ``-1 days -02:00:00``."""
    sign, value = ("-", -value) if value < timedelta() else ("", value)
    hours, rest = divmod(value.seconds, 3_600)
    fraction = f".{value.microseconds:06}" if value.microseconds else ""
    clock = f"{sign}{hours:02}:{rest // 60:02}:{rest % 60:02}{fraction}"
    if not value.days:
        return clock
    days = f"{sign}{value.days} {'day' if value.days == 1 and not sign else 'days'}"
    return f"{days} {clock}" if value.seconds or fraction else days


def _inner(value: Any, levels: int) -> Value:  # noqa: ANN401
    """Convert a value in a list or map."""
    if levels < 1 and isinstance(value, (list, tuple, dict)):
        return "..."
    return spelled_number(plain(value, levels))


def _listed(values: Iterable[Any], levels: int) -> list[Value]:
    return [_inner(item, levels - 1) for item in values]


def _key(key: Any, levels: int) -> str:  # noqa: ANN401
    return str(cell_of(_inner(key, levels)))


_CONVERTERS: tuple[tuple[tuple[type, ...], Callable[[Any, int], Value]], ...] = (
    ((str,), lambda value, _: readable(str(value))),
    ((type(None), bool), lambda value, _: value),
    ((int,), lambda value, _: int(value)),
    ((float,), lambda value, _: float(value)),
    ((Decimal,), _number),
    ((bytes, bytearray, memoryview), lambda value, _: f"0x{bytes(value).hex()}"),
    ((datetime, date, time), lambda value, _: str(value.isoformat())),
    ((timedelta,), _interval),
    (
        (dict,),
        lambda value, levels: {
            _key(key, levels - 1): _inner(item, levels - 1) for key, item in value.items()
        },
    ),
    ((list, tuple), _listed),
)
"""The converters of values, by type. A converter also applies to subclasses of its types."""
