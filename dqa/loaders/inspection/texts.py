"""Unknown names in a scenario's texts: after a ``$``, and in backticks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from dqa.loaders.inspection.findings import Findings, hint_of, nearest

_TICKED = re.compile(r"`([^`\n]+)`")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_VALUE = re.compile(r"null|true|false|and|or|not|in|is", re.IGNORECASE)
_LIKE = 0.8
"""How similar a text in backticks has to be to a name, unless it has the form of one."""


def check_text(
    file: str,
    found: Findings,
    parameters: Collection[str],
    columns: Mapping[str, Collection[str]],
) -> None:
    """Report unknown names of a text.

    Parameters
    ----------
    file
        The text's file.
    found
        Receives the findings.
    parameters
        The names that may follow a ``$``.
    columns
        By table, label or relationship type, its columns or properties.
    """
    known = {*columns, *(name for names in columns.values() for name in names), *parameters}
    folded = {name.casefold() for name in known}
    folded |= {f"{table}.{name}".casefold() for table in columns for name in columns[table]}
    for line, text in enumerate(found.lines(file), start=1):
        for name in _PARAMETER.findall(text):
            if name not in parameters:
                near = nearest(name, parameters)
                problem = f"there is no parameter '${name}'{hint_of(near)}"
                found.add("error", file, line, problem, (name, near) if near else None)
        for name in _TICKED.findall(text):
            if name.casefold() in folded or _VALUE.fullmatch(name):
                continue
            is_name = _NAME.fullmatch(name) is not None
            owner, _, column = name.rpartition(".")
            what, word, choice = "table, column or parameter", name, known
            if owner in columns:
                what, word, choice = f"column of '{owner}'", column, {*columns[owner]}
            near = nearest(word, choice, 0.6 if is_name else _LIKE)
            if near is not None or is_name:
                hint = hint_of(near) or "; if it is a value, write it in quotes"
                swap = (word, near) if near else None
                found.add("error", file, line, f"there is no {what} '{word}'{hint}", swap)
