"""The line of each field of a TOML file, which `tomllib` does not report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""The path of a field: keys of tables, and indices of arrays."""

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|' + r"'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*|(?P<sign>[\[\]{},=\n])",
    re.DOTALL,
)
_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_KEY = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+")


def lines_of(text: str) -> dict[Place, int]:
    """Return the lines, from 1, of the tables, keys and array items of a valid TOML text.

    Fields inside an item or an inline table are on the line of that.
    """
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    place: Place | None = None
    start = depth = item = 0
    for token in _TOKEN.finditer(f"{text}\n"):
        sign = token["sign"]
        if sign == "=" and depth == 0:
            place, item = (*table, *_keys(text[start : token.start()])), -1
            for length in range(len(table) + 1, len(place) + 1):
                lines.setdefault(place[:length], _line(text, start))
        elif sign == "\n" and depth == 0:
            header = text[start : token.start()].strip()
            if place is None and header.startswith("["):
                table = _table(header, counts)
                for length in range(1, len(table) + 1):
                    lines.setdefault(table[:length], _line(text, start))
            place, start = None, token.end()
        elif sign in ("[", "{"):
            depth += 1
        elif sign in ("]", "}"):
            depth -= 1
        if place is not None and depth == 1 and sign in ("[", ","):
            item += 1
            lines.setdefault((*place, item), _line(text, token.end()))
    return lines


def line_of(place: Place, lines: Mapping[Place, int]) -> int | None:
    """Return the line of a field, or of the innermost part around it that has a line."""
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _line(text: str, offset: int) -> int:
    """Return the line of the first sign from an offset that is neither blank nor a comment."""
    found = _BLANK.match(text, offset)
    return text.count("\n", 0, found.end() if found else offset) + 1


def _keys(text: str) -> list[str]:
    return [key.strip("\"'") for key in _KEY.findall(_BLANK.sub("", text, count=1))]


def _table(header: str, counts: dict[Place, int]) -> Place:
    """Return the place of a header, through the latest item of each array of tables."""
    place: Place = ()
    *outer, last = _keys(header.partition("#")[0] if '"' not in header else header)
    for key in outer:
        place = (*place, key)
        if place in counts:
            place = (*place, counts[place])
    place = (*place, last)
    if header.startswith("[["):
        counts[place] = counts.get(place, -1) + 1
        place = (*place, counts[place])
    return place
