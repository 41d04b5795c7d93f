"""Splits Cypher into tokens, and refuses what two readers could split in two ways.

The guard must see the same tokens as the server. Where a character, an escape or a comment is read
in one way by one server and in another by the next, the statement is refused: an honest one never
needs it, and a difference is what an attack is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dqa.guard.cypher.failure import UnreadableError
from dqa.guard.cypher.words import KEYWORDS
from dqa.guard.script import Span

NAME = "`"
"""The key of a name that is no keyword: a quoted one, or any other word."""
NUMBER = "0"
"""The key of a number."""
TEXT = "'"
"""The key of a string."""

_DEEPEST = 60
"""Brackets within brackets; parsing takes a few frames for each."""

_SPACE = r"[ \t\n\r\x0b\x0c\x1c-\x1f\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""White space of both servers: not U+0085 and U+180E, which only one of them skips."""
# Python 3.11.2 misreads "(?:...)*+" around alternatives, so these repeat within "(?>...)".
_LINE = r"(?>(?:[^\n\r\x0b\x0c\x85\u2028\u2029\\]|\\(?!u))*)(?=\r?\n|\Z)"
"""What may follow ``//``: no character that might end the line for one reader only."""
_SHARED = r"""
    (?P<word>[^\W\d][\w$€£¥¢]*+)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|0o[0-7]+
      |(?:[0-9][0-9_]*(?:\.[0-9][0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?[dDfF]?)
      (?![\w$]|\.(?!\.)))
  | (?P<symbol><>|<=|>=|=~|!=|<<|>>|\|\||::|:=|\.\.|\+=|[-+*%^=<>!|&.,:;$()\[\]{}]|/(?![/*]))
"""
# A ``\u`` escape is replaced by Neo4j before anything else is read: one for a quote ends a string.
_ESCAPES = {
    "neo4j": r"\\[^u]|\\u(?!00[0189]|007[fF]|0022|0027|005[cC]|0060)[0-9a-fA-F]{4}",
    "ladybug": r"""\\(?:[\\'"bfnrtBFNRT]|[xX][0-9a-fA-F]{2}|[uU][0-9a-fA-F]{4})""",
}
# LadybugDB reads the stars of a comment in pairs: ``**/`` ends it only for an odd number of them.
_BLOCKS = {
    "neo4j": r"/\*(?>(?:[^*\\]|\\(?!u)|\*(?!/))*)\*/",
    "ladybug": r"/\*(?>(?:[^*]|\*(?!\*?/))*)\*/",
}
_QUOTED = {"neo4j": r"`(?>(?:[^`\\]|``|\\(?!u))+)`", "ladybug": r"`(?>(?:[^`]|``)+)`"}


def _pattern(dialect: str) -> re.Pattern[str]:
    escape, block, quoted = _ESCAPES[dialect], _BLOCKS[dialect], _QUOTED[dialect]
    return re.compile(
        rf"""
        {_SPACE}*+(?:{_SHARED}
          | (?P<text>'(?>(?:[^'\\]|{escape})*)'(?!')|"(?>(?:[^"\\]|{escape})*)"(?!"))
          | (?P<name>{quoted})
          | (?P<comment>//{_LINE}|{block})
          | (?P<end>\Z)
          | (?P<other>.)
        )""",
        re.VERBOSE | re.DOTALL,
    )


_PATTERNS: Mapping[str, re.Pattern[str]] = {name: _pattern(name) for name in _ESCAPES}
_GROUP = _PATTERNS["neo4j"].groupindex
_WORD, _SYMBOL, _NUMBER = _GROUP["word"], _GROUP["symbol"], _GROUP["number"]
_TEXT, _QUOTE, _COMMENT = _GROUP["text"], _GROUP["name"], _GROUP["comment"]
_END, _OTHER = _GROUP["end"], _GROUP["other"]
_CLOSES = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("()[]{}")


class Tokens(NamedTuple):
    """The tokens of one statement, as parallel lists that end with an empty token.

    Attributes
    ----------
    keys
        What a parser looks at: a symbol, a keyword in capitals, `NAME`, `NUMBER`, `TEXT`, or
        nothing for the end.
    texts
        Names without their quotes; everything else as it was written.
    starts, ends
        Where each begins and ends in the statement, in characters.
    closing
        By the index of an opening bracket, that of its closing one.
    """

    keys: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]
    closing: dict[int, int]


def tokens(statement: str, dialect: str) -> Tokens:
    """Return the tokens of `statement`.

    Raises
    ------
    UnreadableError
        Some character belongs to no token, or brackets do not match or are too many.
    """
    found = Tokens([], [], [], [], {})
    keys, texts, starts, ends, _ = found
    opened: list[int] = []
    for match in _PATTERNS[dialect].finditer(statement):
        kind = match.lastindex or 0
        if kind == _COMMENT:
            continue
        text = match.group(kind)
        if kind == _WORD:
            key = KEYWORDS.get(text.upper(), NAME) if text.isascii() else NAME
        elif kind == _SYMBOL:
            key = text
            if text in _BRACKETS:
                _bracket(text, opened, found)
        elif kind == _NUMBER:
            key = NUMBER
        elif kind == _TEXT:
            key = TEXT
        elif kind == _QUOTE:
            key, text = NAME, text[1:-1].replace("``", "`")
        elif kind == _END:
            break
        else:
            raise UnreadableError(_why(statement, match, dialect))
        keys.append(key)
        texts.append(text)
        end = match.end()
        ends.append(end)
        starts.append(match.start(kind))
    if opened:
        raise UnreadableError(f"a '{keys[opened[-1]]}' is never closed")
    keys.append("")
    texts.append("")
    starts.append(len(statement))
    ends.append(len(statement))
    return found


def spans(script: str, dialect: str) -> Iterator[Span]:
    """Yield where the statements of a script stand, which semicolons end."""
    start: int | None = None
    end = 0
    for match in _PATTERNS[dialect].finditer(script):
        kind = match.lastindex or 0
        if kind == _COMMENT:
            continue
        begins = match.start(kind)
        is_end = kind == _END or match.group(kind) == ";"
        if is_end and start is not None:
            yield Span(start, end)
        if kind == _END:
            return
        if start is None or is_end:
            start = None if is_end else begins
        if kind == _OTHER:
            problem = _why(script, match, dialect)
            yield Span(begins if start is None else start, len(script), problem, begins)
            return
        end = match.end()


def _bracket(text: str, opened: list[int], found: Tokens) -> None:
    """Note that the token behind those found is a bracket."""
    if text not in _CLOSES:
        opened.append(len(found.keys))
        if len(opened) > _DEEPEST:
            raise UnreadableError("it is nested too deeply; write it flatter")
    elif not opened or found.keys[opened[-1]] != _CLOSES[text]:
        raise UnreadableError(f"a '{text}' closes no bracket that is open")
    else:
        found.closing[opened.pop()] = len(found.keys)


def _near(statement: str, match: re.Match[str]) -> str:
    start = match.start(match.lastindex or 0)
    return f"at {statement[start : start + 20]!r}"


def _why(statement: str, match: re.Match[str], dialect: str) -> str:
    start = match.start("other")
    near = _near(statement, match)
    if statement.startswith(("'", '"', "`"), start):
        return (
            f"the quotation {near} is left open, or holds an escape that {dialect} reads otherwise"
        )
    if statement.startswith("/", start):
        return f"the comment {near} is left open, or could be read in two ways; leave it out"
    return f"the character {near} has no place in Cypher; quote names that hold it with backticks"
