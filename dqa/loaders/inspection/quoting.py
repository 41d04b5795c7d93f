"""Names that a statement has to quote and does not, and what SQLite takes for a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

_QUOTED = re.compile(r"""("(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|--[^\n]*|/\*.*?\*/)""", re.DOTALL)
"""What stands in quotes, and remarks."""
_BEFORE = r"(?:(?<=\.)|(?<=\bFROM )|(?<=\bJOIN ))"
"""Where a word that is also one of the language can be nothing but a name."""
_PART_OF_WITH = re.compile(r"\s*(?:\([^()]*\)\s*)?AS\s*\(", re.IGNORECASE)
_LAST_WORD = re.compile(r"\w+$")
_BEFORE_VALUES = frozenset(
    {
        *("SELECT", "DISTINCT", "ALL", "WHERE", "AND", "OR", "NOT", "ON", "BY", "HAVING", "CASE"),
        *("WHEN", "THEN", "ELSE", "IN", "LIKE", "GLOB", "IS", "BETWEEN", "LIMIT", "OFFSET"),
    }
)
"""Words behind which a name is one that is read, and none that is given."""


def with_quotes(line: str, names: Mapping[str, str], near: str = "", *, backticks: bool) -> str:
    """Return a line of a statement with its names as they have to be written.

    Parameters
    ----------
    line
        Of the statement.
    names
        By name, how it is written; of names that need no quotes there are none.
    near
        The word at which the database stopped to read.
    backticks
        Whether the database takes what is in double quotes for a text.
    """
    parts = _QUOTED.split(line)
    for at, part in enumerate(parts):
        if at % 2 == 0:
            parts[at] = _bare_quoted(part, names, near)
        elif backticks and part.startswith('"') and part[1:-1] in names:
            parts[at] = names[part[1:-1]]
    return "".join(parts)


def _bare_quoted(text: str, names: Mapping[str, str], near: str) -> str:
    """Return text without quotes with the names in it quoted, the longest first."""
    found = sorted((name for name in names if name in text), key=len, reverse=True)
    if not found:
        return text
    forms = [
        f"{'' if not name.isidentifier() or name == near else _BEFORE}{re.escape(name)}"
        for name in found
    ]
    whole = re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)")
    return whole.sub(lambda match: names[match[0]], text)


def taken_for_texts(statement: str, known: Collection[str]) -> Iterator[str]:
    """Yield what stands in double quotes and names nothing: SQLite takes that for a text.

    Parameters
    ----------
    statement
        In SQL, a template's placeholders among it.
    known
        Names of tables and columns.
    """
    parts = _QUOTED.split(statement)
    there = {ascii_lower(name) for name in known}
    there |= {ascii_lower(_inside(parts[at])) for at in _given(parts)}
    for part in dict.fromkeys(parts[1::2]):
        name = _inside(part)
        if part.startswith('"') and "$" not in name and ascii_lower(name) not in there:
            yield name


def _given(parts: Sequence[str]) -> Iterator[int]:
    """Yield the places of what a statement gives as a name of its own: ``n AS "x"``, ``t "x"``."""
    for at in range(1, len(parts), 2):
        before = parts[at - 1].rstrip()
        word = _LAST_WORD.search(before)
        if not before:
            is_given = at > 1
        elif word is not None:
            is_given = word[0].upper() not in _BEFORE_VALUES
        else:
            is_given = before.endswith(")")
        if is_given or _PART_OF_WITH.match(parts[at + 1]):
            yield at


def _inside(part: str) -> str:
    return part[1:-1].replace('""', '"')


def ascii_lower(name: str) -> str:
    """Return a name as most databases compare it: letters beyond ASCII are kept as they are."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in name)
