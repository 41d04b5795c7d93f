"""Names in a scenario's texts that neither the scenario nor the database has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from dqa.loaders.inspection.findings import Findings, nearest

_TICKED = re.compile(r"`([^`\n]+)`")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_JOINED = re.compile(r"(?<![\w.$`])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w`(])")
"""A word that can only be a name, also without backticks: ``unit_cost``."""
_CALCULATED = re.compile(r"\s[-+*/|]\s|[=<>]|^(?:null|true|false|and|or|not|in|is)$", re.IGNORECASE)
"""What a formula or a value has, and a name has not."""
_LIKE = 0.8
"""How similar a text in backticks that may be no name has to be to a name."""


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
    for line, text in enumerate(found.lines(file), start=1):
        for name in _PARAMETER.findall(text):
            if name not in parameters:
                near = nearest(name, parameters)
                hint = f"; did you mean '${near}'?" if near else ""
                there = ", ".join(f"${key}" for key in parameters) or "none"
                problem = f"there is no parameter '${name}' (there are: {there}){hint}"
                found.add("error", file, line, problem, swap=(name, near) if near else None)
    known = {*columns, *(name for names in columns.values() for name in names), *parameters}
    folded = {name.casefold() for name in known}
    for line, name, is_marked in _names(found.lines(file)):
        if name.casefold() not in folded:
            _check(file, found, line, name, is_marked, columns, known)


def _check(  # noqa: PLR0913, PLR0917  (the parts of one name)
    file: str,
    found: Findings,
    line: int,
    name: str,
    is_marked: bool,
    columns: Mapping[str, Collection[str]],
    known: Collection[str],
) -> None:
    """Report a name, or ``table.column``, unless it is probably no name at all."""
    is_plain = name.replace(".", "", 1).isidentifier()
    owner, _, column = name.rpartition(".")
    what, word, choice = "table, column or parameter", name, known
    if owner:
        table = next((one for one in columns if one.casefold() == owner.casefold()), None)
        if table is None:
            what, word, choice = "table", owner, columns
        elif column.casefold() in {one.casefold() for one in columns[table]}:
            return
        else:
            what, word, choice, is_plain = f"column of '{table}'", column, columns[table], True
    near = nearest(word, choice, 0.6 if is_plain else _LIKE)
    if near is None and not (is_marked and is_plain):
        if not is_marked:
            problem = f"'{word}' looks like a name, and there is no {what} of that name"
            found.add("warning", file, line, f"{problem}; use a name that is there, or words")
        return
    hint = f"; did you mean '{near}'?" if near else "; if it is a value, write it in quotes"
    problem = f"there is no {what} '{word}'{hint}"
    found.add("error", file, line, problem, swap=(word, near) if near else None)


def _names(lines: list[str]) -> Iterator[tuple[int, str, bool]]:
    """Yield the line and text of each name, and whether its author marked it with backticks."""
    for number, text in enumerate(lines, start=1):
        for ticked in _TICKED.findall(text):
            if not _CALCULATED.search(ticked):
                yield number, ticked, True
        for name in _JOINED.findall(_TICKED.sub("", text)):
            yield number, name, False
