"""Names in a scenario's texts that refer to what is not there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from dqa.loaders.inspection.findings import Findings, nearest

_TICKED = re.compile(r"`([^`\n]+)`")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_JOINED = re.compile(r"(?<![\w.$`])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w`(])")
"""A word that is nothing but a name, also without backticks: ``unit_cost``."""
_CALCULATED = re.compile(r"\s[-+*/|]\s|[=<>]")
"""What no name has, and many a formula."""
_WORDS = re.compile(r"[^\W\d]\w*(?: \w+)*")
_NEAR, _LIKE = 0.6, 0.8
"""How like a name another is that is offered, and how like one what may as well be no name."""
_NO_NAMES = frozenset({"null", "true", "false", "and", "or", "not", "in", "is"})


class _Word(NamedTuple):
    """A word of a text, and whether its writer marked it as a name."""

    line: int
    text: str
    marked: bool


def check_text(
    file: str,
    found: Findings,
    parameters: Collection[str],
    columns: Mapping[str, Collection[str]],
) -> None:
    """Find what a text names that neither the scenario nor the database has.

    Parameters
    ----------
    file
        Of the text.
    found
        Where findings go.
    parameters
        What ``$name`` may stand for.
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
                swap = (name, near) if near else None
                found.add("error", file, line, problem, swap=swap)
    known = {*columns, *(name for names in columns.values() for name in names), *parameters}
    folded = {name.casefold() for name in known}
    for word in _words(found.lines(file)):
        if word.text.casefold() in folded:
            continue
        owner, _, column = word.text.rpartition(".")
        if not _NAME.fullmatch(word.text) and not _is_quotable(word, columns, known):
            continue
        if owner:
            _check_pair(file, found, word, columns, (owner, column))
        else:
            _tell((file, found), word, "table, column or parameter", word.text, known)


def _is_quotable(
    word: _Word, columns: Mapping[str, Collection[str]], known: Collection[str]
) -> bool:
    """Whether what stands in backticks is meant as a name that has to be quoted in statements."""
    if _CALCULATED.search(word.text):
        return False
    owner, _, _ = word.text.rpartition(".")
    if owner:
        return any(owner.casefold() == name.casefold() for name in columns)
    return bool(_WORDS.fullmatch(word.text)) or nearest(word.text, known, _LIKE) is not None


def _check_pair(
    file: str,
    found: Findings,
    word: _Word,
    columns: Mapping[str, Collection[str]],
    pair: tuple[str, str],
) -> None:
    """Check ``table.column``."""
    owner, column = pair
    table = next((name for name in columns if name.casefold() == owner.casefold()), None)
    if table is None:
        _tell((file, found), word, "table", owner, columns)
    elif column.casefold() not in {name.casefold() for name in columns[table]}:
        _tell((file, found), word, f"column of '{table}'", column, columns[table])


def _words(lines: list[str]) -> Iterator[_Word]:
    for number, text in enumerate(lines, start=1):
        for ticked in _TICKED.findall(text):
            if ticked.casefold() not in _NO_NAMES:
                yield _Word(number, ticked, marked=True)
        for name in _JOINED.findall(_TICKED.sub("", text)):
            yield _Word(number, name, marked=False)


def _tell(
    where: tuple[str, Findings], word: _Word, what: str, name: str, known: Collection[str]
) -> None:
    file, found = where
    near = nearest(name, known, _NEAR if _NAME.fullmatch(word.text) else _LIKE)
    if near is None and not word.marked:
        problem = f"'{name}' looks like a name, and there is no {what} of that name"
        found.add("warning", file, word.line, f"{problem}; name what is there, or say it in words")
        return
    hint = f"; did you mean '{near}'?" if near else "; if it is a value, write it in quotes"
    problem = f"there is no {what} '{name}'{hint}"
    found.add("error", file, word.line, problem, swap=(name, near) if near else None)
