"""JSON Schemas of a scenario's files, for editors.

The description of a field is that of its class's docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*)\n(?P<text>(?: {4}.*\n?)+)", re.MULTILINE)
_MARKS = re.compile(r"`+")


def describe_fields(kind: type[Any], schema: dict[str, Any]) -> None:
    """Add a class's docstring to its JSON Schema, and remove nulls, which TOML lacks.

    Parameters
    ----------
    kind
        A model with NumPy docstrings.
    schema
        Its schema by pydantic, which is changed.
    """
    schema["description"] = _plain((inspect.getdoc(kind) or "").partition("\n\nAttributes\n")[0])
    told = {name: text for base in reversed(kind.__mro__) for name, text in _attributes(base)}
    for name, field in schema.get("properties", {}).items():
        field.pop("title", None)
        _without_null(field)
        # A name that Python reserves has an underscore behind it there.
        text = told.get(name) or told.get(f"{name}_")
        if text:
            field["description"] = text


def _attributes(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a class itself documents."""
    doc = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    _, _, section = doc.partition("\n\nAttributes\n----------\n")
    for entry in _ENTRY.finditer(section):
        for name in entry["names"].split(", "):
            yield name, _plain(entry["text"])


def _plain(text: str) -> str:
    return _MARKS.sub("'", " ".join(text.split()))


def _without_null(field: dict[str, Any]) -> None:
    """Remove null from the types of a field."""
    if "default" in field and field["default"] is None:
        del field["default"]
    kinds = [kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1 and len(kinds) < len(field["anyOf"]):
        del field["anyOf"]
        field.update(kinds[0])
