"""Which characters of a statement are text, names, comments and code, as each server reads it.

It knows quotes and comments as each server's manual defines them, and nothing else. Where the
server's own reading depends on a setting (backslashes, mostly), there are several lexers of a
dialect, the default first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

# Python 3.11.2 misreads "(?:...)*+" around alternatives, so these repeat within "(?>...)".
_PLAIN = r"'(?>(?:[^']++|'')*)'"
_ESCAPED = r"'(?>(?:[^'\\]++|\\.|'')*)'"
_DOUBLE = r'"(?>(?:[^"]++|"")*)"'
_DOUBLE_ESCAPED = r'"(?>(?:[^"\\]++|\\.|"")*)"'
_BACKTICK = r"`(?>(?:[^`]++|``)*)`"
_BRACKETED = r"\[[^\]]*+\]"
_E_STRING = r"(?<![\w$])[eE]'(?>(?:[^'\\]++|\\.|'')*)'"
_DASHES = r"--[^\n]*+"
_DASHES_SPACE = r"--(?=[\t-\r ]|\Z)[^\n]*+"
"""Behind the dashes a blank: a server takes any control character for one, its client does not."""
_SLASHES = r"//[^\n]*+"
_HASH = r"\#[^\n]*+"
_BLOCK = r"/\*.*?\*/"
_BLOCK_TO_END = r"/\*.*?(?:\*/|\Z)"
_OPEN = r"(?P<open>(?:(?<![\w$])[eE])?'|[\"`]|/\*)"
_OPEN_DOLLAR = r"(?P<nested>/\*)|(?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*+)?\$)"
"""Only the beginning of what no regular expression can end: nested comments, $tag$ quotes."""


def _lexer(quotes: tuple[str, ...], comments: tuple[str, ...]) -> re.Pattern[str]:
    parts = [f"(?P<quoted>{'|'.join(quotes)})", f"(?P<comment>{'|'.join(comments)})"]
    if _BRACKETED in quotes:
        parts.append(r"(?P<open_bracket>\[)")
    nests = _BLOCK not in comments and _BLOCK_TO_END not in comments
    return re.compile("|".join([*parts, *([_OPEN_DOLLAR] * nests), _OPEN]), re.DOTALL)


_MYSQL_COMMENTS = (_DASHES_SPACE, _HASH, _BLOCK)
_NESTING = (_DASHES,)
LEXERS: dict[str, tuple[re.Pattern[str], ...]] = {
    # The default, ANSI_QUOTES, NO_BACKSLASH_ESCAPES.
    "mysql": (
        _lexer((_ESCAPED, _DOUBLE_ESCAPED, _BACKTICK), _MYSQL_COMMENTS),
        _lexer((_ESCAPED, _DOUBLE, _BACKTICK), _MYSQL_COMMENTS),
        _lexer((_PLAIN, _DOUBLE, _BACKTICK), _MYSQL_COMMENTS),
    ),
    # The default, standard_conforming_strings off.
    "postgres": (
        _lexer((_E_STRING, _PLAIN, _DOUBLE), _NESTING),
        _lexer((_ESCAPED, _DOUBLE), _NESTING),
    ),
    "sqlite": (_lexer((_PLAIN, _DOUBLE, _BACKTICK, _BRACKETED), (_DASHES, _BLOCK_TO_END)),),
    "duckdb": (_lexer((_E_STRING, _PLAIN, _DOUBLE), _NESTING),),
    # The standard, backslashes as in MySQL and BigQuery, names in brackets as in SQL Server.
    "ansi": (
        _lexer((_PLAIN, _DOUBLE), (_DASHES_SPACE, _BLOCK)),
        _lexer((_ESCAPED, _DOUBLE_ESCAPED), (_DASHES_SPACE, _BLOCK)),
        _lexer((_PLAIN, _DOUBLE, _BRACKETED), (_DASHES_SPACE, _BLOCK)),
    ),
}
"""By dialect, for every reading that is possible; the default first."""
LEXERS["mariadb"] = LEXERS["mysql"]
for _cypher in ("neo4j", "ladybug"):
    LEXERS[_cypher] = (_lexer((_ESCAPED, _DOUBLE_ESCAPED, _BACKTICK), (_SLASHES, _BLOCK)),)
_COMMENT_EDGE = re.compile(r"/\*|\*/")

_BEFORE_NAME = re.compile(r"(?:\.\s*|\b(?:FROM|JOIN)\s+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuotedPart:
    """A quoted string or name: where its first quote and its last one stand."""

    start: int
    end: int


class Found(NamedTuple):
    """Where quoted parts and comments stand, and the first that is left open; None for none."""

    quoted: tuple[QuotedPart, ...]
    comments: tuple[tuple[int, int], ...]
    opened: int | None


def find(statement: str, lexer: re.Pattern[str]) -> Found:
    """Return where quoted parts and comments stand."""
    quoted: list[QuotedPart] = []
    comments: list[tuple[int, int]] = []
    position = 0
    while (match := lexer.search(statement, position)) is not None:
        start, position = match.span()
        kind = match.lastgroup
        if kind == "quoted":
            quoted.append(QuotedPart(start + (statement[start] in "eE"), position - 1))
        elif kind == "comment":
            comments.append((start, position))
        elif kind == "nested" and (end := _nested_end(statement, start)):
            position = end
            comments.append((start, position))
        elif kind == "dollar" and (closed := statement.find(match.group(), position)) > 0:
            position = closed + len(match.group())
            quoted.append(QuotedPart(start, position - 1))
        else:
            return Found(tuple(quoted), tuple(comments), start)
    return Found(tuple(quoted), tuple(comments), None)


def _nested_end(statement: str, start: int) -> int:
    """Return where a comment that may hold others ends, or 0 where it does not."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(statement, start):
        depth += 1 if edge.group() == "/*" else -1
        if not depth:
            return edge.end()
    return 0


class Part(NamedTuple):
    """A part of a statement, as it was written: quoted with its quotes, a comment with its signs.

    What nothing closes goes on to the end, and is quoted. The ``E`` of a text is code.
    """

    kind: Literal["code", "quoted", "comment"]
    text: str


def split(statement: str, dialect: str) -> list[Part]:
    """Return the parts of a statement, in order: joined, they are the statement.

    Parameters
    ----------
    statement
        In SQL or Cypher, perhaps with a template's placeholders, perhaps with faults.
    dialect
        One of `dqa.guard.DIALECTS`.
    """
    found = find(statement, LEXERS[dialect][0])
    spans = [(start, end, "comment") for start, end in found.comments]
    spans += [(part.start, part.end + 1, "quoted") for part in found.quoted]
    if found.opened is not None:
        spans.append((found.opened, len(statement), "quoted"))
    return list(_parts(statement, sorted(spans)))


def _parts(statement: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[Part]:
    position = 0
    for start, end, kind in spans:
        if position < start:
            yield Part("code", statement[position:start])
        yield Part("comment" if kind == "comment" else "quoted", statement[start:end])
        position = end
    if position < len(statement):
        yield Part("code", statement[position:])


def around(parts: Sequence[Part], at: int) -> tuple[str, str]:
    """Return the code before and behind a part, up to what is quoted; a comment is a blank."""

    def code(places: range) -> Iterator[str]:
        for place in places:
            kind, text = parts[place]
            if kind == "quoted":
                return
            yield text if kind == "code" else " "

    before = [*code(range(at - 1, -1, -1))]
    return "".join(reversed(before)), "".join(code(range(at + 1, len(parts))))


def may_only_be_name(before: str, behind: str = "") -> bool:
    """Whether nothing but a name can stand between two parts of a statement's code."""
    return _BEFORE_NAME.search(before) is not None or behind.lstrip().startswith(".")
