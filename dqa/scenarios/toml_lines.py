"""The line of a field of a TOML file, which `tomllib` does not report."""

from __future__ import annotations

import re
from typing import TypeAlias

Place: TypeAlias = tuple[str | int, ...]
"""The path of a field: keys of tables, and indices of arrays."""

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|#.*")
_KEY = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+")


def line_of(place: Place, text: str) -> int | None:
    """Return the line of a field, or of the innermost part around it that has a line.

    An item of an array has its line if each item is on a line of its own.
    """
    lines = _lines_of(text)
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _lines_of(text: str) -> dict[Place, int]:
    """Return the lines, from 1, of the tables, keys and array items of a valid TOML text."""
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    key: Place = ()
    depth = item = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = _QUOTED.sub(lambda found: "" if found[0][0] == "#" else "''", line).strip()
        if depth == 0 and bare.startswith("["):
            table = place = _table(line, counts)
            bare = ""
        elif depth == 0 and "=" in bare:
            key = place = (*table, *_keys(line.partition("=")[0]))
            item = 0 if bare.endswith("[") else 1
        elif depth == 1 and bare and bare[0] not in "]}":
            place = (*key, item)
            item += 1
        else:
            place = ()
        for length in range(1, len(place) + 1):
            lines.setdefault(place[:length], number)
        depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
    return lines


def _keys(text: str) -> list[str]:
    return [key.strip("\"'") for key in _KEY.findall(text)]


def _table(header: str, counts: dict[Place, int]) -> Place:
    """Return the place of a header, through the latest item of each array of tables."""
    place: Place = ()
    *outer, last = _keys(header.partition("]")[0])
    for key in outer:
        place = (*place, key)
        if place in counts:
            place = (*place, counts[place])
    place = (*place, last)
    if header.strip().startswith("[["):
        counts[place] = counts.get(place, -1) + 1
        place = (*place, counts[place])
    return place
