"""Odd values, as each engine writes them, by the kind of type they are of: see `values`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_VALUES = Path(__file__).parent / "values"
_TYPES = "types"
_BACKSLASHES = frozenset({"mariadb", "neo4j", "ladybug"})
"""Engines in whose texts a backslash begins an escape."""
_OWN_NUMBERS = frozenset({"neo4j", "ladybug"})
"""Engines that cannot read the numbers of others."""

COLUMNS = {
    "sql": ("goods_name", "base_price", "code", "pop_demand", "current_price"),
    "cypher": ("n.name", "n.code", "n.level", "r.level", "n.base_price", "m.id"),
}
"""Columns of the small world: of goods, and of goods and their neighbours."""
_KINDS: tuple[tuple[str, str], ...] = (
    ("list", "[] list array vector"),
    ("map", "map struct record row range node relationship path point union"),
    ("interval", "interval duration"),
    ("date", "date time"),
    ("json", "json"),
    ("bytes", "blob bytea bit binary"),
    ("boolean", "bool"),
    ("integer", "int oid serial long"),
    ("number", "float double decimal num real money"),
    ("text", "char text string name cstring"),
)
"""Kinds, and what the names of their types have in them; the first that fits holds."""


@cache
def values_of(engine: str) -> Mapping[str, tuple[str, ...]]:
    """Return the odd values of an engine, by kind."""
    found = {kind: list(values) for kind, values in _read("common").items()}
    if engine in _OWN_NUMBERS:
        del found["number"]
    found["text"] = _texts(backslash=engine in _BACKSLASHES)
    for kind, values in _read(engine).items():
        found[kind] = [*found.get(kind, ()), *values]
    found.pop(_TYPES, None)
    return {kind: tuple(values) for kind, values in found.items()}


@cache
def types_of(engine: str) -> tuple[str, ...]:
    """Return the types that an engine casts to; none where it has no casts."""
    return tuple(_read(engine).get(_TYPES, ()))


def kind_of(type_name: str) -> str | None:
    """Return the kind of values that an argument of a type takes; None where any is as good."""
    name = type_name.lower()
    return next((kind for kind, parts in _KINDS if any(p in name for p in parts.split())), None)


def _texts(*, backslash: bool) -> list[str]:
    words: list[str] = json.loads((_VALUES / "words.json").read_text("utf-8"))
    if not backslash:
        return ["'" + word.replace("'", "''") + "'" for word in words]
    escaped = (word.replace("\\", "\\\\").replace("'", "\\'") for word in words)
    return [f"'{word}'" for word in escaped]


def _read(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    values: list[str] = []
    for line in (_VALUES / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].isalpha():
            values = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            values.append(line)
    return sections
