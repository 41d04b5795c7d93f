"""Tokens of SQL and Cypher scripts, each with its line, and a cursor that says what it missed.

This is the tolerant path of both readers: it costs about a microsecond a token, so the readers
turn to it only for text that their one-regex-a-table path does not wholly cover.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

from dqa.core.errors import ParseError
from dqa.core.situation import Cell

TokenKind = Literal["string", "number", "name", "word", "symbol", "end"]

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_PLAIN = frozenset({"symbol", "word"})
_LITERALS: dict[str, Cell] = {"TRUE": True, "FALSE": False, "NULL": None}

_SQL_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
# MySQL keeps the backslash of these two: they only mean something to LIKE.
_SQL_ESCAPES |= {"%": "\\%", "_": "\\_"}
_CYPHER_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Token(NamedTuple):
    """A piece of a script; a string's text comes unescaped, a quoted name's without quotes."""

    kind: TokenKind
    text: str
    line: int


def _unescape_sql(body: str, quote: str) -> str:
    return re.sub(
        rf"\\(.)|{quote}{quote}",
        lambda match: _SQL_ESCAPES.get(match[1], match[1]) if match[1] else quote,
        body,
        flags=re.DOTALL,
    )


def _unescape_cypher(body: str, quote: str) -> str:
    del quote  # Cypher has no doubled quotes

    def plain(match: re.Match[str]) -> str:
        if match[1] is not None:
            return chr(int(match[1], 16))
        return _CYPHER_ESCAPES.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", plain, body, flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class Language:
    """How a script's comments and strings are written.

    Attributes
    ----------
    name
        What messages call it.
    string_body
        Regex with ``{q}`` for the quote: what may stand inside a string that ends on its line.
    unescape
        Turns what stands between two quotes into the text it means.
    token
        Regex over one token, comment or stretch of white space.
    """

    name: str
    string_body: str
    unescape: Callable[[str, str], str]
    token: re.Pattern[str]


def _language(
    name: str, comment: str, string: str, body: str, unescape: Callable[[str, str], str]
) -> Language:
    strings = "|".join(string.replace("{q}", quote) for quote in "'\"")
    pattern = (
        rf"(?P<skip>\s+|{comment}|/\*.*?\*/)|(?P<string>{strings})|(?P<number>{_NUMBER})"
        r"|`(?P<name>(?:[^`]|``)*)`|(?P<word>[^\W\d]\w*)|(?P<symbol>.)"
    )
    return Language(name, body, unescape, re.compile(pattern, re.DOTALL))


SQL = _language(
    "SQL",
    r"--[^\n]*|#[^\n]*",
    r"{q}(?:[^{q}\\]|\\.|{q}{q})*{q}",
    r"[^{q}\\\n]*(?:(?:\\.|{q}{q})[^{q}\\\n]*)*",
    _unescape_sql,
)
CYPHER = _language(
    "Cypher",
    r"//[^\n]*",
    r"{q}(?:[^{q}\\]|\\.)*{q}",
    r"[^{q}\\\n]*(?:\\.[^{q}\\\n]*)*",
    _unescape_cypher,
)


def _tokens(text: str, language: Language, file: Path) -> list[Token]:
    found: list[Token] = []
    line, counted = 1, 0
    for match in language.token.finditer(text):
        kind = match.lastgroup
        if kind == "skip":
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        raw = match[0]
        if kind == "string":
            found.append(Token("string", language.unescape(raw[1:-1], raw[0]), line))
        elif kind == "name":
            found.append(Token("name", raw[1:-1].replace("``", "`"), line))
        elif kind == "number":
            found.append(Token("number", raw, line))
        elif kind == "word":
            found.append(Token("word", raw, line))
        else:
            _refuse_unclosed(raw, text, match.start(), file, line)
            found.append(Token("symbol", raw, line))
    line += text.count("\n", counted)
    found.append(Token("end", "", line))
    return found


def _refuse_unclosed(raw: str, text: str, start: int, file: Path, line: int) -> None:
    if raw in {"'", '"', "`"}:
        raise ParseError(file, line, f"a string that starts with {raw} is never closed")
    if text.startswith("/*", start):
        raise ParseError(file, line, "a comment that starts with /* is never closed")


class Cursor:
    """Reads a script token by token; whatever is not as expected becomes a `ParseError`."""

    def __init__(self, text: str, language: Language, file: Path) -> None:
        self.file = file
        self.language = language
        self._tokens = _tokens(text, language, file)
        self._next = 0

    @property
    def token(self) -> Token:
        """The token to be read next."""
        return self._tokens[self._next]

    @property
    def line(self) -> int:
        """Line of the token to be read next."""
        return self.token.line

    def fail(self, expected: str) -> NoReturn:
        """Raise `ParseError` with what was found and what was `expected`."""
        token = self.token
        shown = token.text if len(token.text) <= 40 else f"{token.text[:40]}..."
        found = "the end of the file" if token.kind == "end" else f"{token.kind} {shown!r}"
        raise ParseError(self.file, token.line, f"found {found}; expected {expected}")

    def at(self, *texts: str) -> bool:
        """Whether the next tokens are these symbols or words, whatever their case."""
        place = self._next
        for text in texts:
            kind, found, _ = self._tokens[place]
            if kind not in _PLAIN or found.upper() != text:
                return False
            place += 1  # the end is no plain token, so there always is a next one
        return True

    def take(self, *texts: str) -> bool:
        """Read these symbols or words if they come next."""
        if not self.at(*texts):
            return False
        self._next += len(texts)
        return True

    def expect(self, *texts: str) -> None:
        """Read these symbols or words, which must come next."""
        for text in texts:
            if not self.take(text):
                self.fail(f"{self.language.name} '{text}'")

    def name(self, what: str) -> str:
        """Read an identifier; in SQL a double-quoted one may stand here too."""
        token = self.token
        if token.kind not in {"word", "name"} and not (
            token.kind == "string" and self.language is SQL
        ):
            self.fail(what)
        self._next += 1
        return token.text

    def value(self) -> Cell:
        """Read a literal: a string, a number, TRUE, FALSE or NULL."""
        sign = "-" if self.take("-") else ""
        if not sign:
            self.take("+")
        token = self.token
        if token.kind == "number":
            self._next += 1
            whole = token.text.isdigit()
            return int(sign + token.text) if whole else float(sign + token.text)
        if sign:
            self.fail("a number after the sign")
        if token.kind == "string":
            self._next += 1
            return token.text
        if token.kind == "word" and token.text.upper() in _LITERALS:
            self._next += 1
            return _LITERALS[token.text.upper()]
        return self.fail("a quoted string, a number, TRUE, FALSE or NULL")

    def skip(self) -> None:
        """Pass over one token."""
        self._next += 1

    def skip_statement(self) -> None:
        """Pass over everything up to and including the next ``;``."""
        while self.token.kind != "end" and not self.take(";"):
            self._next += 1

    def skip_parenthesised(self) -> None:
        """Pass over what stands between ``(`` and its ``)``."""
        self.expect("(")
        depth = 1
        while depth:
            if self.token.kind == "end":
                self.fail("')'")
            depth += self.at("(") - self.at(")")
            self._next += 1
