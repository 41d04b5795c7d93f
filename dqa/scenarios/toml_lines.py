"""Find the lines of the fields in a TOML file, which `tomllib` does not report."""

from __future__ import annotations

import re
from typing import TypeAlias

FieldPath: TypeAlias = tuple[str | int, ...]
"""The path of a field: keys of tables, and indices of arrays."""

_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|#.*")
_KEY = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+")


def lines_of(text: str) -> dict[FieldPath, int]:
    """Return the lines, from 1, of the tables, keys and array items of a valid TOML text.

    The items of an array get lines only if each item is on a separate line.
    """
    lines: dict[FieldPath, int] = {}
    counts: dict[FieldPath, int] = {}
    table: FieldPath = ()
    key: FieldPath = ()
    depth = item = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = _QUOTED.sub(lambda found: "" if found[0][0] == "#" else "''", line).strip()
        if depth == 0 and bare.startswith("["):
            table = path = _table(line, counts)
            bare = ""
        elif depth == 0 and "=" in bare:
            key = path = (*table, *_keys(line.partition("=")[0]))
            item = 0 if bare.endswith("[") else 1
        elif depth == 1 and bare and bare[0] not in "]}":
            path = (*key, item)
            item += 1
        else:
            path = ()
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
        depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
    return lines


def _keys(text: str) -> list[str]:
    return [key.strip("\"'") for key in _KEY.findall(text)]


def _table(header: str, counts: dict[FieldPath, int]) -> FieldPath:
    """Return the path of a header. In an array of tables, it leads through the last item."""
    path: FieldPath = ()
    *outer, last = _keys(header.partition("]")[0])
    for key in outer:
        path = (*path, key)
        if path in counts:
            path = (*path, counts[path])
    path = (*path, last)
    if header.strip().startswith("[["):
        counts[path] = counts.get(path, -1) + 1
        path = (*path, counts[path])
    return path
