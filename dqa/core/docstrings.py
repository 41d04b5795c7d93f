"""Read the descriptions of parameters in NumPy docstrings, for the help of commands and tools."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple


class Described(NamedTuple):
    """The description of a parameter, and the placeholder for its value in a command's help."""

    text: str
    placeholder: str | None = None


def descriptions(documented: Any, section: str) -> dict[str, Described]:  # noqa: ANN401
    """Return the descriptions in a section of a NumPy docstring, by the name of the parameter."""
    found: dict[str, Described] = {}
    rest = (inspect.getdoc(documented) or "").partition(f"\n{section}\n{'-' * len(section)}\n")[2]
    for part in re.split(r"\n(?=\S)", rest.split("\n\n", 1)[0]):
        head, _, text = part.partition("\n")
        names, _, placeholder = head.partition(" : ")
        one = Described(" ".join(text.split()), placeholder or None)
        found |= dict.fromkeys(names.split(", "), one)
    return found
