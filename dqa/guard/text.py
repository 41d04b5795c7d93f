"""From the tokens of a statement, write the text that a database runs.

sqlglot's tokenizer reads the statement, and the guard writes a new text from the tokens. It removes
comments and writes every string in a form that a server can read in only one way. Names, numbers
and signs are unchanged. The server never receives the original text, so differences between the
tokenizers of sqlglot and the server cannot bypass the guard.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from threading import RLock
from typing import NamedTuple

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from dqa.guard.check import SEVERAL, Refusal, ScriptTokens

# sqlglot logs a warning about unknown syntax; the guard refuses the syntax with a reason instead.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())
_loading = RLock()

_COMMAND = re.compile(
    r"(?:\s|--[^\n]*\n|/\*[^*]*\*/)*\b(analyze|desc|describe|explain|pragma|show)\b", re.IGNORECASE
)
_ESCAPING = frozenset({"mysql", "mariadb", "postgres", "ansi"})
"""Dialects in which a setting decides whether a backslash escapes a quote."""
_EXECUTED = re.compile(r"/\*M?!")
"""Matches the start of a comment whose text MySQL or MariaDB runs."""
_DOUBTFUL = re.compile(r"\r(?!\n)|/\*M?!|--[\x00-\x08\x0e-\x1f]")
"""Matches line ends and comments that servers or clients read in different ways."""
_ESCAPED_QUOTE = re.compile(r"\\['\"](?=[\s\S]*;\s*\S)")
_WORDS = re.compile(r"[\w$]+(?:\s+[\w$]+)*")
_NUMBER = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?|0[xXbBoO][0-9a-fA-F_]+")
_SIGNS = re.compile(r"[-+*/%<>=!~^&|@#?.,:()\[\]{}$]+")
_NAME = re.compile(r'"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]')
_CODED = re.compile(
    r"[nNxXbB]'[^'\\]*'|0[xX][0-9a-fA-F]+|0[bB][01]+|[uU]&'(?:[^'\\]|\\[0-9a-fA-F]{4})*'"
)
"""Matches strings with a prefix letter and plain content."""
_LONG_NUMBERS = frozenset({"duckdb", "postgres", "sqlite"})
_SPLIT_NUMBER = re.compile(r"0[xXbBoO][0-9a-fA-F_]+|[1-9]\d*(?:_\d+)+")
_ESCAPED = re.compile(r"[eE]'(?:[^'\\]|\\[^'\"]|'')*'")
_TEXT = re.compile(r"'(?:[^'\\]|\\[^'\"]|'')*'")
_PLAIN_STRINGS = frozenset({TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING})
_PATTERNS = {TokenType.NUMBER: _NUMBER, TokenType.IDENTIFIER: _NAME}
_UNCOMMON = re.compile(r"[`#$[\]{}]")
"""Characters that databases read in different ways."""
_QUOTES = re.compile(r"\\.|''|\"\"|'", re.DOTALL)
_JOINED = re.compile(r"[\w$&@'\"`\]]['\"`]|[\w$'\"`][\w$]|--|/\*|//")
"""Matches the last character of a token and the first character of the next token if a server could
read the two tokens as one token or as a comment. A space must separate such tokens."""


@cache
def dialect_of(name: str) -> Dialect:
    """Return sqlglot's dialect for one of the guard's dialects.

    sqlglot imports a dialect's parser and generator on first use. A lock prevents two threads from
    importing them at the same time, because one could see a half-imported module.
    """
    with _loading:
        found = Dialect.get_or_raise({"mariadb": "mysql", "ansi": ""}.get(name, name))
        found.parse("SELECT 1")
        found.generate(exp.select("1"))
        return found


class StatementText(NamedTuple):
    """The text of one statement as it runs, and the tokens of that text."""

    text: str
    tokens: Sequence[Token]


def read_text(statement: str, dialect: str) -> StatementText:
    """Return the text that a database runs in place of a statement.

    Raises
    ------
    Refusal
        The text is empty, contains several statements, or has an ambiguous token.
    """
    tokens = _tokens(statement, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise Refusal("the statement is empty; write a SELECT")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise Refusal(SEVERAL)
    text = _written(statement, tokens, dialect)
    again = _tokens(text, dialect)
    if _written(text, again, dialect) != text:
        raise Refusal("databases can read it in two ways; write a space between words and quotes")
    return StatementText(text, again)


def script_tokens(script: str, dialect: str) -> ScriptTokens:
    """Return the tokens of a script before the first part that servers could read differently.

    The caller may run the original script, so the script must not be ambiguous.
    """
    doubts = [_DOUBTFUL.search(script)]
    doubts += [_ESCAPED_QUOTE.search(script)] if dialect in _ESCAPING else []
    end = min((found.start() for found in doubts if found), default=len(script))
    problem = "from here on, databases can read the script in two ways; use only plain characters"
    problem = problem if end < len(script) else ""
    while True:  # find the longest readable part that ends with a whole line
        try:
            tokens = _tokens(script[:end], dialect)
        except Refusal as refusal:
            problem = problem or str(refusal)
            end = script.rfind("\n", 0, end - 1) + 1
        else:
            found = [(t.start, t.end + 1, t.token_type is TokenType.SEMICOLON) for t in tokens]
            return ScriptTokens(found, problem, end)


def _tokens(statement: str, dialect: str) -> list[Token]:
    # After these words, sqlglot reads the rest as one string, so another word replaces them here.
    command = _COMMAND.match(statement)
    read = statement
    if command is not None:
        read = (
            f"{statement[: command.start(1)]}{'x' * len(command[1])}{statement[command.end(1) :]}"
        )
    try:
        found: list[Token] = dialect_of(dialect).tokenize(read)
    except TokenError as error:
        if dialect == "sqlite" and "/*" in statement and not statement.endswith("*/"):
            return _tokens(f"{statement}*/", dialect)  # SQLite closes an open comment at the end
        raise Refusal(f"it cannot be read as {dialect}; close every quote and comment") from error
    tokens: list[Token] = []
    for token in found:
        start = tokens[-1].start if tokens and tokens[-1].end + 1 == token.start else token.end
        raw = statement[start : token.end + 1] if dialect in _LONG_NUMBERS else ""
        if _SPLIT_NUMBER.fullmatch(raw):  # sqlglot splits such a number
            value = str(int(tokens.pop().text + token.text, 0))
            tokens.append(Token(TokenType.NUMBER, value, start=start, end=token.end))
        elif start < token.start and _CODED.fullmatch(raw):
            tokens[-1] = Token(TokenType.HEX_STRING, token.text, start=start, end=token.end)
        elif token.token_type is not TokenType.HINT:
            tokens.append(token)
    return tokens


def _written(statement: str, tokens: Sequence[Token], dialect: str) -> str:
    pieces: list[str] = []
    gaps = [statement[a.end + 1 : b.start] for a, b in pairwise(tokens)]
    gaps = [statement[: tokens[0].start], *gaps, statement[tokens[-1].end + 1 :]]
    if dialect in {"mysql", "mariadb", "ansi"} and any(map(_EXECUTED.search, gaps)):
        raise Refusal("it has a comment that the server would run (/*! ... */); remove it")
    for token, gap in zip(tokens, gaps, strict=False):
        kind, piece = token.token_type, statement[token.start : token.end + 1]
        if kind.name.endswith("STRING"):
            piece = _literal(piece, token, dialect)
        else:
            pattern = _PATTERNS.get(kind)
            if pattern is None:
                piece = " ".join(piece.split())
                pattern = _WORDS if piece[0].isalnum() or piece[0] in "_$" else _SIGNS
            if not pattern.fullmatch(piece) or (dialect == "ansi" and _UNCOMMON.search(piece)):
                raise _doubtful(piece, dialect)
        if gap and pieces:
            pieces.append(gap if not gap.strip(" \n") else " ")
        elif pieces and _JOINED.fullmatch(pieces[-1][-1] + piece[0]):
            if pieces[-1][0].isdigit():
                raise Refusal(
                    f"databases can read {pieces[-1]}{piece} in two ways; write a space between "
                    "its parts"
                )
            pieces.append(" ")
        pieces.append(piece)
    return "".join(pieces)


def _doubtful(piece: str, dialect: str) -> Refusal:
    return Refusal(
        f"databases can read {piece[:40]!r} in several ways as {dialect}; write it in a simpler "
        "form"
    )


def _literal(raw: str, token: Token, dialect: str) -> str:
    """Return a string whose closing quote does not depend on the settings of the server."""
    kind, value = token.token_type, token.text
    if kind not in _PLAIN_STRINGS:
        is_escaped = kind is TokenType.BYTE_STRING and dialect in {"postgres", "duckdb"}
        if is_escaped:
            raw = raw.replace("\\\\", "\0").replace("\\'", "''").replace("\0", "\\\\")
        pattern = _ESCAPED if is_escaped else _CODED
        if not pattern.fullmatch(raw) or (dialect == "ansi" and _UNCOMMON.search(raw)):
            raise _doubtful(raw, dialect)
        return raw
    if dialect in {"mysql", "mariadb"}:  # keep escapes, except those of quotes
        plain = {"\\'": "''", '\\"': '"', "''": "''" if raw[0] == "'" else "''''"}
        plain |= {'""': '"' if raw[0] == '"' else '""', "'": "''"}
        written = f"'{_QUOTES.sub(lambda match: plain.get(match[0], match[0]), raw[1:-1])}'"
        if not _TEXT.fullmatch(written):
            raise Refusal(
                "databases can read this string in two ways; write each quote inside it as ''"
            )
        return written
    if "\\" in value and dialect == "ansi":
        raise Refusal(
            "a text contains a backslash, which databases read in different ways; leave out the "
            "backslash"
        )
    is_escaped = "\\" in value and dialect == "postgres"
    value = value.replace("\\", "\\\\") if is_escaped else value
    return ("E'" if is_escaped else "'") + value.replace("'", "''") + "'"
