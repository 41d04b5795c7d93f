"""Reads a statement with sqlglot, which must read it as this guard does and in a bounded time."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import Token, TokenType, exp
from sqlglot.errors import ParseError, TokenError

from dqa.guard.sql.dialects import dialect_of, read_as
from dqa.guard.sql.text import StatementText
from dqa.guard.verdict import SEVERAL, Refusal

# sqlglot warns of what it does not know; it is refused here, with a reason.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

_STARTS_WITH_VALUES = re.compile(r"\s*values\b", re.IGNORECASE)
_SILENT = {
    "postgres": re.compile(
        r"\b(?:box|cidr|circle|datemultirange|daterange|inet|int4range|int8range|line|lseg|macaddr"
        r"|money|numrange|point|polygon|tsquery|tsrange|tstzrange|tsvector|xml)(?=\s+')",
        re.IGNORECASE,
    ),
    "mysql": re.compile(r"\bsql_(?:(?:big|small|buffer)_result|no_cache|cache)\b", re.IGNORECASE),
    "mariadb": re.compile(
        r"\bsql_(?:(?:big|small|buffer)_result|no_cache|cache)\b|\brows\s+examined\s+\d+"
        r"|\bas\s+of\s+(timestamp|transaction)\b",
        re.IGNORECASE,
    ),
}
"""Words that change nothing and that sqlglot does not know: a type before a literal, hints."""
_MOST_TOKENS = 4_000
"""What can be parsed in well under a tenth of a second."""
_NODES, _SPARE_NODES = 2, 500
"""How many nodes a parser may make for a token, and beyond: a query needs one for two or three,
and what tries each reading of each part makes thousands."""
_TOO_MANY_NODES = "Maximum number of AST nodes"
_NO_UTF8 = re.compile("[\ud800-\udfff]")
_QUOTES = frozenset("'\"`]$")
_CLASS = re.compile(r"<class '[\w.]*\.(\w+)'>")


class ParsedStatement(NamedTuple):
    """What sqlglot makes of a statement: its tree, every node of that, and its tokens."""

    tree: exp.Expr
    nodes: Sequence[exp.Expr]
    tokens: Sequence[Token]


def parse(text: StatementText, dialect: str) -> ParsedStatement:
    """Return what sqlglot makes of one statement.

    Raises
    ------
    Refusal
        sqlglot cannot read it, or reads quotes or comments where this guard's lexer does not.
    """
    has_plain_values = dialect == "mariadb" and _STARTS_WITH_VALUES.match(text.code)
    reader = dialect_of("" if has_plain_values else read_as(dialect))  # MySQL's are ROW(...) only
    try:
        text = _without_silent_words(text, dialect)
        tokens = reader.tokenize(text.sql)
        if len(tokens) > _MOST_TOKENS:
            raise Refusal(f"it has more than {_MOST_TOKENS} words and signs; write a shorter one")
        _refuse_disagreement(text, tokens)
        parser = reader.parser(max_nodes=_SPARE_NODES + _NODES * len(tokens))
        trees = parser.parse(tokens, text.sql)
    except (ParseError, TokenError) as error:
        if str(error).startswith(_TOO_MANY_NODES):
            raise Refusal(
                "it can be read in so many ways that reading it takes too long; write it flatter, "
                "give each JOIN its ON, and name parts in a WITH"
            ) from error
        raise Refusal(f"it cannot be read as {dialect}: {_first_line(error)}") from error
    tree = trees[0] if len(trees) == 1 else None
    if tree is None:
        raise Refusal(SEVERAL)
    return ParsedStatement(tree, tuple(tree.walk()), tokens)


def is_one(statement: str, dialect: str) -> bool:
    """Return whether sqlglot finds no end of a statement inside a part of a script."""
    readable = _NO_UTF8.sub("?", statement)
    try:
        tokens = dialect_of(read_as(dialect)).tokenize(readable)
    except TokenError:
        return False
    return all(token.token_type is not TokenType.SEMICOLON for token in tokens)


def _without_silent_words(text: StatementText, dialect: str) -> StatementText:
    pattern = _SILENT.get(dialect)
    found = (
        [] if pattern is None else [m.span(m.lastindex or 0) for m in pattern.finditer(text.code)]
    )
    if not found:
        return text
    sql = text.sql
    for start, end in found:
        sql = sql[:start] + " " * (end - start) + sql[end:]
    return StatementText(sql, text.code, text.quoted)


def _refuse_disagreement(text: StatementText, tokens: Sequence[Token]) -> None:
    """Both lexers must see the same quotes, and sqlglot must have left nothing out."""
    quoted = iter(text.quoted)
    position = 0
    part = next(quoted, None)
    for token in tokens:
        gap = text.sql[position : token.start]
        if gap and not gap.isspace():
            raise Refusal(f"{gap.strip()[:40]!r} can be read in two ways; leave it out")
        position = token.end + 1
        if part is not None and token.start <= part.start <= token.end:
            if token.end != part.end or part.start - token.start > 2:
                raise Refusal("its quotes can be read in two ways; write ' in text as ''")
            part = next(quoted, None)
        elif text.sql[token.end] in _QUOTES and token.end - token.start > 0 and _is_quoted(token):
            raise Refusal("its quotes can be read in two ways; write ' in text as ''")
    if part is not None or text.sql[position:].strip():
        raise Refusal("its end can be read in two ways; leave out what is unusual")


def _is_quoted(token: Token) -> bool:
    return token.token_type.name.endswith(("STRING", "IDENTIFIER"))


def _first_line(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if details:
        first = details[0]
        near = first.get("highlight") or ""
        where = f" (line {first.get('line')}, column {first.get('col')}, near '{near}')"
        problem = _CLASS.sub(lambda match: match[1].upper(), str(first.get("description", "")))
        return problem.rstrip(".") + where
    return "; ".join(str(error).splitlines()[:1]).rstrip(".") or "write it more simply"
