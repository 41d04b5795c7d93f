"""Names that a statement has to quote and does not, and what SQLite takes for a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from dqa.loaders.inspection.quotes import Part, around, may_only_be_name, split

_TEXTS_IN_DOUBLE_QUOTES = frozenset({"ladybug", "mariadb", "mysql", "neo4j"})
_PART_OF_WITH = re.compile(r"\s*(?:\([^()]*\)\s*)?AS\s*\(", re.IGNORECASE)
_LAST_WORD = re.compile(r"\w+$")
_OF_BY = re.compile(r"\s+BY\b", re.IGNORECASE)
_BEFORE_VALUES = frozenset(
    {
        *("SELECT", "DISTINCT", "ALL", "WHERE", "AND", "OR", "NOT", "ON", "BY", "HAVING", "CASE"),
        *("WHEN", "THEN", "ELSE", "IN", "LIKE", "GLOB", "IS", "BETWEEN", "LIMIT", "OFFSET"),
    }
)
"""Words behind which a name is one that is read, and none that is given."""


def with_quotes(
    statement: str, names: Mapping[str, str], stops: Collection[str], dialect: str
) -> str:
    """Return a statement with its names as they have to be written, on the same lines.

    A word of the language is taken for a name where nothing else can stand, and where the database
    stopped to read.

    Parameters
    ----------
    statement
        In SQL or Cypher, a template's placeholders among it.
    names
        By name, how it is written; of names that need no quotes there are none.
    stops
        The words at which the database stopped.
    dialect
        One of `dqa.guard.DIALECTS`.
    """
    parts = split(statement, dialect)
    backticks = dialect in {"mysql", "mariadb"}
    written: list[str] = []
    for at, (kind, text) in enumerate(parts):
        if kind == "code":
            written.append(_bare_quoted(around(parts, at)[0], text, names, stops))
        elif backticks and text.startswith('"') and kind == "quoted":
            written.append(names.get(text[1:-1], text))
        else:
            written.append(text)
    return "".join(written)


def _bare_quoted(before: str, text: str, names: Mapping[str, str], stops: Collection[str]) -> str:
    """Return text without quotes with the names in it quoted, the longest first."""
    found = sorted((name for name in names if name in text), key=len, reverse=True)
    if not found:
        return text

    def quoted(match: re.Match[str]) -> str:
        name = match[0]
        is_word = name.isidentifier() and not may_only_be_name(before + text[: match.start()])
        if is_word and (name not in stops or _OF_BY.match(text, match.end())):
            return name
        return names[name]

    whole = re.compile(rf"(?<![\w$])(?<!\$\{{)(?:{'|'.join(map(re.escape, found))})(?!\w)")
    return whole.sub(quoted, text)


def without_texts(statement: str, dialect: str) -> str:
    """Return a statement with empty texts, and blanks for comments."""
    quotes = ("'", '"') if dialect in _TEXTS_IN_DOUBLE_QUOTES else ("'",)

    def kept(part: Part) -> str:
        if part.kind == "comment":
            return " "
        return "''" if part.kind == "quoted" and part.text.startswith(quotes) else part.text

    return "".join(map(kept, split(statement, dialect)))


def taken_for_texts(statement: str, known: Collection[str]) -> Iterator[str]:
    """Yield what stands in double quotes and names nothing: SQLite takes that for a text.

    Parameters
    ----------
    statement
        In SQL, a template's placeholders among it.
    known
        Names of tables and columns.
    """
    parts = split(statement, "sqlite")
    quoted = [at for at, part in enumerate(parts) if part.kind == "quoted"]
    there = {ascii_lower(name) for name in known}
    there |= {ascii_lower(_inside(parts[at])) for at in _given(parts, quoted)}
    for part in dict.fromkeys(parts[at] for at in quoted):
        name = _inside(part)
        if part.text.startswith('"') and "$" not in name and ascii_lower(name) not in there:
            yield name


def _given(parts: Sequence[Part], quoted: Sequence[int]) -> Iterator[int]:
    """Yield the places of what a statement gives as a name of its own: ``n AS "x"``, ``t "x"``."""
    for at in quoted:
        code, behind = around(parts, at)
        before = code.rstrip()
        word = _LAST_WORD.search(before)
        if not before:
            is_given = at != quoted[0]
        elif word is not None:
            is_given = word[0].upper() not in _BEFORE_VALUES
        else:
            is_given = before.endswith(")")
        if is_given or _PART_OF_WITH.match(behind):
            yield at


def _inside(part: Part) -> str:
    return part.text[1:-1].replace('""', '"')


def ascii_lower(name: str) -> str:
    """Return a name as most databases compare it: letters beyond ASCII are kept as they are."""
    return "".join(sign.lower() if sign.isascii() else sign for sign in name)
