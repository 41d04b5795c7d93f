"""Which functions a statement calls, by the names it calls them.

A parser renames functions (``DATE_FORMAT`` becomes ``TimeToStr``) and drops the schema they were
called with; what the server runs is what was written. So every name before an opening bracket is
looked up as it was written, quoted or not. The one exception are names with a list of columns, as
in ``WITH t(a, b)``, and there the parser is not believed alone: the text has to look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dqa.guard.names import closest
from dqa.guard.policy import Policy
from dqa.guard.sql.instead import instead_of
from dqa.guard.sql.lists import AllowLists
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import Refusal

_BEFORE_BRACKET = re.compile(r"(?:(?<![\w$])([\w$]++)|([\"`\]]))\s*+\(")
_QUALIFIER = re.compile(r"(?:([\w$]+)|([\"`\]]))\s*\.\s*\Z")
_SYSTEM_SCHEMAS = {"postgres": frozenset({"pg_catalog"})}
"""Schemas whose functions are those of the list."""
_METHODS = frozenset({"duckdb"})
"""Dialects in which ``x.f()`` calls ``f(x)``, whatever x is."""
_CONSTRUCTS = frozenset({"operator"})
_BEFORE_PART = re.compile(r"(?:\b(?:with|recursive)|,)\Z", re.IGNORECASE)
_BEFORE_ALIAS = re.compile(r"(?:\bas|\)|\bwith\s+ordinality)\Z", re.IGNORECASE)
"""What stands before a name with a list of columns: of a WITH part, of an alias."""
_LAST_WORD = re.compile(r"\w+\Z")
_SIZE = re.compile(r"\([\d\s,]*\)")
"""Of a column's type."""
_COLUMN = re.compile(r"\s*+(?:[^\W\d][\w$]*+|\"\s*+\"|`\s*+`)(?:\s[\w\s.\[\]\"]*+)?")
_NAMED_BY_POLICY = "; if it does, the policy's functions can name it"
_NEAR = 200
"""How far back is looked for what stands before a name."""


class FunctionCall(NamedTuple):
    """A name before an opening bracket, in lower case, and where it starts."""

    name: str
    qualifier: str
    quoted: bool
    start: int

    @property
    def full(self) -> str:
        """The name as it was called."""
        return f"{self.qualifier}.{self.name}" if self.qualifier else self.name


class ColumnList(NamedTuple):
    """What a parser takes for a name with a list of columns.

    Attributes
    ----------
    is_part
        Whether the name is that of a WITH part.
    is_named
        Whether there is a name before the columns.
    behind
        Where the name of the table ends that it is another name of; -1 for none.
    """

    is_part: bool
    is_named: bool
    behind: int


def calls(text: StatementText) -> Iterator[FunctionCall]:
    """Yield every name that stands before an opening bracket."""
    ends = {part.end: part.start for part in text.quoted}
    for match in _BEFORE_BRACKET.finditer(text.code):
        word, start = match[1], match.start()
        if word is None:
            if start not in ends:
                continue
            opening = ends[start]
            name = _unquoted(text, opening, start)
            start = opening
        else:
            name = word.lower()
        yield FunctionCall(name, _qualifier(text, ends, start), word is None, start)


def unknown(
    text: StatementText, dialect: str, known: AllowLists, policy: Policy
) -> list[FunctionCall]:
    """Return the calls of what is neither a known function nor, unquoted, syntax."""
    functions = known.functions
    schemas = _SYSTEM_SCHEMAS.get(dialect, frozenset())
    found = []
    for call in calls(text):
        own = dialect in _METHODS or not call.qualifier or call.qualifier in schemas
        if own and call.name in functions:
            continue
        if not call.quoted and not call.qualifier and call.name in known.syntax | _CONSTRUCTS:
            continue
        if call.full in policy.functions:
            continue
        if dialect in _METHODS and call.name in policy.functions:
            continue
        found.append(call)
    return found


def refuse_unless_known(
    found: list[FunctionCall],
    lists: Mapping[int, ColumnList],
    text: StatementText,
    known: AllowLists,
    dialect: str,
) -> None:
    """Refuse the first call that is not the name of a WITH part or alias with its columns.

    What a parser takes for a name with columns, and a server might take for a call, is refused
    even where the function is known: the parser has not seen its arguments.

    Parameters
    ----------
    found
        Calls of what is not known.
    lists
        By where it starts, what has a list of columns to the parser.
    text, known, dialect
        The statement, and what its dialect has.
    """
    for call in found:
        if call.start not in lists:
            hint = instead_of(call.name, dialect) or closest(call.name, known.functions, cutoff=0.8)
            raise Refusal(
                f"the function {call.full} is not known to only read"
                + (f". {hint.lstrip()}" if hint else _NAMED_BY_POLICY)
            )
    for start, columns in lists.items():
        if start < 0 or not _has_columns(text, start, columns, known):
            near = " ".join(text.sql[max(start, 0) :].split())[:30]
            raise Refusal(
                f"'{near}' can be read as a call or as an alias with the names of its columns; for "
                "an alias write AS x(a, b), and elsewhere put the call in brackets"
            )


def _has_columns(text: StatementText, start: int, columns: ColumnList, known: AllowLists) -> bool:
    """Whether a name reads as one with a list of columns: no server could take it for a call."""
    begin = text.code.find("(", start) + 1 if columns.is_named else start
    before = text.code[:start].rstrip()
    if not columns.is_named:
        before = before.removesuffix("(").rstrip()
    pattern = _BEFORE_PART if columns.is_part else _BEFORE_ALIAS
    if pattern.search(before, max(0, len(before) - _NEAR)) is None:
        word = _LAST_WORD.search(before, max(0, len(before) - _NEAR))
        is_table = len(before) == columns.behind
        if not is_table or (word is not None and word.group().lower() in known.syntax):
            return False
    names = _SIZE.sub("", text.code[begin : _closing(text.code, begin)])
    return all(_COLUMN.fullmatch(name) for name in names.split(","))


def _closing(code: str, position: int) -> int:
    """Return where the bracket ends that is open at `position`."""
    depth = 1
    for match in re.compile(r"[()]").finditer(code, position):
        depth += 1 if match.group() == "(" else -1
        if not depth:
            return match.start()
    return len(code)


def _qualifier(text: StatementText, ends: dict[int, int], start: int) -> str:
    """Return the schema before a name, in lower case; ``?`` where something else is before it."""
    position = start - 1
    while position >= 0 and text.code[position].isspace():
        position -= 1
    if position < 0 or text.code[position] != ".":
        return ""
    match = _QUALIFIER.search(text.code, max(0, position - 200), position + 1)
    if match is None:
        return "?"
    if match[1] is not None:
        return match[1].lower()
    opening = ends.get(match.start())
    return "?" if opening is None else _unquoted(text, opening, match.start())


def _unquoted(text: StatementText, start: int, end: int) -> str:
    quote = text.sql[end]
    return text.sql[start + 1 : end].replace(quote * 2, quote).lower()
