"""Which functions a statement calls, by the names it calls them.

A parser renames functions (``DATE_FORMAT`` becomes ``TimeToStr``) and drops the schema they were
called with; what the server runs is what was written. So every name before an opening bracket is
looked up as it was written, quoted or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dqa.guard.names import closest
from dqa.guard.policy import Policy
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
    found: list[FunctionCall], named: frozenset[int], known: AllowLists
) -> None:
    """Refuse the first call that is not the name of a WITH part or alias with its columns."""
    for call in found:
        if call.start not in named:
            hint = closest(call.name, known.functions, cutoff=0.8)
            raise Refusal(
                f"the function {call.full} is not known to only read"
                + (f".{hint}" if hint else "; if it does, the policy's functions can name it")
            )


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
