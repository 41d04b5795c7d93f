"""Write the text that a database runs, from the tokens of a statement.

sqlglot's tokenizer reads the statement. The text that runs is written anew from its tokens: without
comments, with every string in one form that a server reads in only one way, and with names, numbers
and signs as their author wrote them. A tokenizer that reads a quote or a comment differently from
the server can then be no way round the guard, because the server never receives the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from dqa.guard.dialects import dialect_of
from dqa.guard.script import Span
from dqa.guard.verdict import SEVERAL, Refusal

_MYSQL = frozenset({"mysql", "mariadb"})
_GAP = re.compile(r"\s+|--[^\n]*|#[^\n]*|/\*")
_COMMAND = re.compile(
    r"(?:\s|--[^\n]*\n|/\*[^*]*\*/)*\b(analyze|desc|describe|explain|pragma|show)\b", re.IGNORECASE
)
_RUNS = re.compile(r"/\*M?!")
"""A comment that MySQL or MariaDB runs."""
_RETURN = r"\r(?!\n)"
_ALSO = {
    "mysql": r"|/\*M?!|--[\x00-\x08\x0e-\x1f]",
    "mariadb": r"|/\*M?!|--[\x00-\x08\x0e-\x1f]",
    "ansi": r"|/\*M?!",
}
_DOUBTFUL = {
    dialect: re.compile(_RETURN + _ALSO.get(dialect, ""))
    for dialect in ("mysql", "mariadb", "postgres", "sqlite", "duckdb", "ansi")
}
"""Between tokens: line ends and comments that not every server or client takes for such."""
_ESCAPING = frozenset({"mysql", "mariadb", "postgres", "ansi"})
"""Where a setting decides whether a backslash escapes a quote."""
_ESCAPED_QUOTE = re.compile(r"\\['\"]")
_MORE = re.compile(r";\s*\S")
_WORDS = re.compile(r"[\w$]+(?:\s+[\w$]+)*")
_NUMBER = re.compile(r"(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][-+]?\d+)?|0[xXbBoO][0-9a-fA-F_]+")
_SIGNS = re.compile(r"[-+*/%<>=!~^&|@#?.,:()\[\]{}$]+")
_NAME = re.compile(r'"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]')
_CODED = re.compile(
    r"[nNxXbB]'[^'\\]*'|0[xX][0-9a-fA-F]+|0[bB][01]+|[uU]&'(?:[^'\\]|\\[0-9a-fA-F]{4})*'"
)
"""Strings with a letter before them; what is within them is plain."""
_LONG_NUMBERS = frozenset({"duckdb", "postgres", "sqlite"})
_OTHER_NUMBER = re.compile(r"0[xXbBoO][0-9a-fA-F_]+|[1-9]\d*(?:_\d+)+")
_ESCAPED = re.compile(r"[eE]'(?:[^'\\]|\\[^'\"]|'')*'")
_TEXT = re.compile(r"'(?:[^'\\]|\\[^'\"]|'')*'")
_IN_SINGLE = re.compile(r"\\.|''", re.DOTALL)
_IN_DOUBLE = re.compile(r"\\.|\"\"|'", re.DOTALL)
_BEFORE_QUOTE = re.compile(r"[\w$&@'\"`\]]")
_BEFORE_WORD = re.compile(r"[\w$'\"`]")
"""What ends a piece that could become one token with a quote, or with a word, behind it."""
_ODD_CODE = {"ansi": frozenset("`#$[]{}")}


class StatementText(NamedTuple):
    """The text of one statement as it runs, and the tokens of that text."""

    text: str
    tokens: Sequence[Token]


def read_text(statement: str, dialect: str) -> StatementText:
    """Return the text that a database may be given in place of a statement.

    Raises
    ------
    Refusal
        It is empty, more than one statement, or has a token that cannot be written in one way.
    """
    tokens = _tokens(statement, dialect)
    _refuse_run_comments(statement, tokens, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise Refusal("it is empty; write a SELECT")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise Refusal(SEVERAL)
    text = _written(statement, tokens, dialect)
    again = _tokens(text, dialect)
    if _written(text, again, dialect) != text:
        raise Refusal("it can be read in two ways; write a space between its words and quotes")
    return StatementText(text, again)


def spans(script: str, dialect: str) -> Iterator[Span]:
    """Yield where the statements of a script stand.

    Other programs may run the script as it was written. What servers could split in different ways
    is therefore one statement with a problem, up to the end.
    """
    problem, place = "", len(script)
    try:
        tokens = _tokens(script, dialect)
    except Refusal as refusal:
        problem = str(refusal)
        place, tokens = _readable(script, dialect)
    doubt = _first_doubt(script[:place], tokens, dialect)
    if doubt is not None:
        problem, place = "from here on it can be read in two ways; write plain text", doubt
        tokens = [token for token in tokens if token.end < place]
    first: Token | None = None
    last = 0
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            first = first or token
        elif first is not None:
            yield Span(first.start, last)
            first = None
        last = token.end + 1
    if problem:
        start = last + len(script[last:]) - len(script[last:].lstrip())
        yield Span(start if first is None else first.start, len(script), problem, place)
    elif first is not None:
        yield Span(first.start, last)


def _first_doubt(script: str, tokens: Sequence[Token], dialect: str) -> int | None:
    """Return the first place that servers or their clients could read in different ways."""
    found = [gap.start() for gap in _gaps(script, tokens, _DOUBTFUL[dialect])]
    if dialect in _ESCAPING:
        for token in tokens:
            raw = script[token.start : token.end + 1]
            ends_elsewhere = token.token_type is TokenType.STRING and _ESCAPED_QUOTE.search(raw)
            if ends_elsewhere and _MORE.search(script, token.start):
                found.append(token.start)
    return min(found, default=None)


def _gaps(
    statement: str, tokens: Sequence[Token], pattern: re.Pattern[str]
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern in what stands between the tokens."""
    position = 0
    for token in tokens:
        yield from pattern.finditer(statement, position, token.start)
        position = token.end + 1
    yield from pattern.finditer(statement, position)


def _readable(script: str, dialect: str) -> tuple[int, list[Token]]:
    """Return where the first line begins that cannot be read, and the tokens before it."""
    tokens: list[Token] = []
    place = 0
    for end in (match.end() for match in re.finditer(r"\n|\Z", script)):
        try:
            tokens = _tokens(script[:end], dialect)
        except Refusal:
            continue
        place = end
    return place, tokens


def _tokens(statement: str, dialect: str) -> list[Token]:
    # sqlglot reads what follows these words as one text, so it gets another word in their place.
    command = _COMMAND.match(statement)
    if command is not None:
        word = "x" * len(command[1])
        read = statement[: command.start(1)] + word + statement[command.end(1) :]
    else:
        read = statement
    try:
        found: list[Token] = dialect_of(dialect).tokenize(read)
    except TokenError as error:
        if dialect == "sqlite" and "/*" in statement and not statement.endswith("*/"):
            return _tokens(f"{statement}*/", dialect)  # SQLite ends a comment with the statement
        raise Refusal(
            f"a quote, a comment or a number cannot be read as {dialect}; close every quote, and "
            "write ' in text as ''"
        ) from error
    tokens: list[Token] = []
    for token in found:
        if tokens and dialect in _LONG_NUMBERS and _is_one(statement, tokens[-1], token):
            tokens.append(_joined(tokens.pop(), token))
        elif token.token_type is not TokenType.HINT:
            tokens.append(token)
    return tokens


def _joined(first: Token, second: Token) -> Token:
    if first.token_type is TokenType.NUMBER:
        value = str(int(first.text + second.text, 0))
        return Token(TokenType.NUMBER, value, start=first.start, end=second.end)
    return Token(TokenType.HEX_STRING, second.text, start=first.start, end=second.end)


def _is_one(statement: str, first: Token, second: Token) -> bool:
    """Whether a database reads two tokens as one: 0xFF, 1_000 or x'41'."""
    if first.end + 1 != second.start:
        return False
    raw = statement[first.start : second.end + 1]
    return _OTHER_NUMBER.fullmatch(raw) is not None or _CODED.fullmatch(raw) is not None


def _refuse_run_comments(statement: str, tokens: Sequence[Token], dialect: str) -> None:
    """Refuse comments that a server would run; all others are left out of the text."""
    if "/*" not in statement or dialect not in {"mysql", "mariadb", "ansi"}:
        return
    for gap in _gaps(statement, tokens, _GAP):
        if _RUNS.match(statement, gap.start()):
            raise Refusal("it has a comment that the server would run (/*! ... */); remove it")


def _written(statement: str, tokens: Sequence[Token], dialect: str) -> str:
    pieces: list[str] = []
    position = tokens[0].start
    for token in tokens:
        gap = statement[position : token.start]
        piece = _piece(statement[token.start : token.end + 1], token, dialect)
        if gap:
            pieces.append(gap if not gap.strip(" \n") else " ")
        elif pieces and _would_join(pieces[-1], piece):
            if pieces[-1][0].isdigit():
                raise Refusal(f"{pieces[-1]}{piece} can be read in two ways; write a space")
            pieces.append(" ")
        pieces.append(piece)
        position = token.end + 1
    return "".join(pieces)


def _would_join(before: str, piece: str) -> bool:
    """Whether two pieces without a space between them could be read as one, or as a comment."""
    if piece[0] in "'\"`":
        return _BEFORE_QUOTE.match(before[-1]) is not None
    if piece[0].isalnum() or piece[0] in "_$":
        return _BEFORE_WORD.match(before[-1]) is not None
    return before[-1] + piece[0] in {"--", "/*", "//"}


def _piece(raw: str, token: Token, dialect: str) -> str:
    """Return how a token is written."""
    kind = token.token_type
    if kind in {TokenType.STRING, TokenType.HEREDOC_STRING, TokenType.RAW_STRING}:
        return _string(raw, token.text, dialect)
    pattern = _NUMBER
    if kind is TokenType.BYTE_STRING and dialect in {"postgres", "duckdb"}:
        raw = raw.replace("\\\\", "\0").replace("\\'", "''").replace("\0", "\\\\")
        pattern = _ESCAPED
    elif kind is TokenType.IDENTIFIER:
        pattern = _NAME
    elif kind.name.endswith("STRING"):
        pattern = _CODED
    elif kind is not TokenType.NUMBER:
        raw = " ".join(raw.split())
        pattern = _WORDS if raw[0].isalnum() or raw[0] in "_$" else _SIGNS
    if not pattern.fullmatch(raw) or _ODD_CODE.get(dialect, frozenset()) & set(raw):
        raise Refusal(f"{raw[:40]!r} cannot be read as {dialect} in only one way; write it plainly")
    return raw


def _string(raw: str, value: str, dialect: str) -> str:
    """Return a string so that no setting of a server can end it elsewhere."""
    if dialect in _MYSQL:
        return _mysql_string(raw)
    if "\\" in value and dialect == "ansi":
        raise Refusal("a text has a backslash, which databases read in different ways")
    is_escaped = "\\" in value and dialect == "postgres"
    value = value.replace("\\", "\\\\") if is_escaped else value
    return ("E'" if is_escaped else "'") + value.replace("'", "''") + "'"


def _mysql_string(raw: str) -> str:
    """Return a string of MySQL in single quotes; its escapes stay, except those of quotes."""
    plain = {"\\'": "''", '\\"': '"', '""': '"', "'": "''"}
    inner = _IN_SINGLE if raw[0] == "'" else _IN_DOUBLE
    written = inner.sub(lambda match: plain.get(match[0], match[0]), raw[1:-1])
    if not _TEXT.fullmatch(f"'{written}'"):
        raise Refusal("a text cannot be read in only one way; write ' in text as ''")
    return f"'{written}'"
