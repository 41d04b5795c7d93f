"""Convert the names of databases' types to dqa's column types."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dqa.core.situation import ColumnType

# Names of user-defined types, such as "real_estate", must not match.
_FORMS: tuple[tuple[str, ColumnType], ...] = (
    (r"^(\S+ )?enum\(", "text"),
    (r"\[|^(array|list|map|struct|union|row)\b", "array"),
    (r"^jsonb?\b", "json"),
    (r"^bool(ean)?\b|^tinyint\(1\)|^bit(\(1\))?$", "boolean"),
    (r"^interval\b|^duration\b", "interval"),
    (
        r"^u?(tiny|small|medium|big|huge)?int(eger)?\d*\b|^(small|big)?serial\d*\b|^year\b",
        "integer",
    ),
    (r"^dec(imal)?\d*\b|^numeric\b|^number\b|^(small)?money\b", "decimal"),
    (r"^float\d*\b|^double\b|^real\b", "float"),
    (r"^timestamp|^(local|zoned)? ?datetime|^smalldatetime", "timestamp"),
    (r"^date\b", "date"),
    (r"^(local|zoned)? ?time", "time"),
    (r"^uuid|^uniqueidentifier", "uuid"),
    (r"char|text|string|clob|enum|^set\b|^name$|^inet|^citext", "text"),
)
_TYPES = tuple((re.compile(form, re.IGNORECASE), kind) for form, kind in _FORMS)
_NUMBERS: frozenset[ColumnType] = frozenset({"integer", "decimal", "float"})
_ALSO: Mapping[ColumnType, frozenset[ColumnType]] = {
    # A database that lacks a type may store its values in one of these types.
    "boolean": frozenset({"integer"}),
    "date": frozenset({"text"}),
    "timestamp": frozenset({"text"}),
    "time": frozenset({"text"}),
    "interval": frozenset({"text"}),
    "uuid": frozenset({"text"}),
    "json": frozenset({"text", "array"}),
    "array": frozenset({"text", "json"}),
    "text": frozenset({"uuid", "json"}),
    **dict.fromkeys(_NUMBERS, _NUMBERS),
}


def column_type(described: str) -> ColumnType | None:
    """Return the column type for the name of a database's type; None if the name is unknown."""
    words = described.strip()
    return next((kind for pattern, kind in _TYPES if pattern.search(words)), None)


def can_hold(described: str, wanted: ColumnType) -> bool:
    """Return whether a database column can be read as the type that a scenario declares."""
    kind = column_type(described)
    return kind is None or kind == wanted or kind in _ALSO.get(wanted, ())
