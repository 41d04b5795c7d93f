"""The guard for Cypher: a tokenizer, and an allow-list of words at keyword positions.

Between two operands Cypher always has an operator, a bracket or a keyword. So a word that follows
a complete operand can only be a keyword, and must be one that reads; a word anywhere else is a
name, which may be spelled like any keyword. Strings, quoted names and comments are never looked
into, so a property called ``set`` or a text that says ``DELETE`` is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dqa.databases.guard.verdict import ALLOWED, Verdict, refused

__all__ = ["check"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<name>`(?:[^`]|``)*`)
  | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol>[-+*/%^=<>!~|&.,:;$?@()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)

_OPENINGS = frozenset({"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"})
_PREFIXES = _OPENINGS | {
    *("NOT", "DISTINCT", "CASE", "WHEN", "WHERE", "BY", "ALL", "SHORTEST", "TRAIL", "ACYCLIC"),
}
"""Keywords that may stand where an operand is expected, and expect one themselves."""
_KEYWORDS = _PREFIXES | {
    *("ORDER", "SKIP", "OFFSET", "LIMIT", "UNION", "AS", "YIELD", "AND", "OR", "XOR", "IN", "IS"),
    *("STARTS", "ENDS", "CONTAINS", "THEN", "ELSE"),
}
"""Keywords that may follow an operand, and expect one."""
_ENDINGS = frozenset({"END", "ASC", "ASCENDING", "DESC", "DESCENDING"})
"""Keywords that may follow an operand and expect none."""
_EFFECTS = frozenset(
    {
        *("ALTER", "ANALYZE", "ATTACH", "BEGIN", "CHECKPOINT", "COMMENT", "COMMIT", "COPY"),
        *("CREATE", "DELETE", "DETACH", "DROP", "EXPORT", "FOREACH", "IMPORT", "INSERT", "INSTALL"),
        *("LOAD", "MERGE", "REMOVE", "ROLLBACK", "SET", "UNINSTALL", "UPDATE", "USE"),
    }
)
"""Words that, as keywords, change something: refused by name, for a better reason."""

_PROCEDURES: Mapping[str, frozenset[str]] = {
    "ladybug": frozenset({"db_version", "show_connection", "show_tables", "table_info"}),
}
_REFUSED_FUNCTIONS: Mapping[str, frozenset[str]] = {"ladybug": frozenset({"nextval", "setseed"})}
"""Functions with an effect of their own."""

_HELP = "only MATCH, OPTIONAL MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT and UNION"


class _Token(NamedTuple):
    kind: str
    text: str

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text


_END = _Token("end", "")


class _UnreadableError(Exception):
    """Some character belongs to no token."""


class _RefusedError(Exception):
    """What `check` turns into a verdict."""


def check(statement: str, dialect: str) -> Verdict:
    """Return whether `statement` is one Cypher query of `dialect` with no effect."""
    try:
        tokens = list(_tokens(statement))
        while tokens and tokens[-1].text == ";":
            tokens.pop()
        if not tokens:
            return refused("it is empty; write MATCH ... RETURN ...")
        if tokens[0].upper not in _OPENINGS:
            return refused(f"it begins with {tokens[0].upper}, and {_HELP} may be used")
        _walk(tokens, dialect)
    except (_RefusedError, _UnreadableError) as error:
        return refused(str(error))
    return ALLOWED


def _tokens(statement: str) -> Iterator[_Token]:
    position = 0
    while position < len(statement):
        match = _TOKEN.match(statement, position)
        if match is None:
            raise _UnreadableError(
                f"it cannot be read from {statement[position : position + 20]!r} on; "
                "a quote or a comment may be left open"
            )
        if match.lastgroup != "space":
            yield _Token(str(match.lastgroup), match.group())
        position = match.end()


def _walk(tokens: list[_Token], dialect: str) -> None:
    """Follow the statement, knowing at each token whether an operand has just ended."""
    operand_ended = False
    before = _END
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else _END
        if token.kind == "word":
            name_follows = before.text in {".", ":", "$", "@"} and not operand_ended
            if operand_ended:
                operand_ended = _keyword(token)
            elif not name_follows and token.upper in _PREFIXES and _opens(after):
                operand_ended = False
            else:
                _name(token, before, after)
                operand_ended = True
            if token.upper == "CALL" and not operand_ended:
                _procedure(tokens, index + 1, dialect)
            if after.text == "(" and operand_ended:
                _function(tokens, index, dialect)
        elif token.kind == "symbol":
            operand_ended = _after_symbol(token, operand_ended=operand_ended)
        else:
            operand_ended = True
        before = token


def _opens(after: _Token) -> bool:
    """Whether the next token can begin what a prefix keyword expects."""
    return after.kind != "end" and after.text not in {".", ":", ",", ")", "]", "}", "=", ";"}


def _after_symbol(token: _Token, *, operand_ended: bool) -> bool:
    if token.text == ";":
        raise _RefusedError("it is more than one statement; write one statement at a time")
    if token.text == "*":  # an operand in `count(*)` and `WITH *`, an operator in `a * b`
        return not operand_ended
    return token.text in {")", "]", "}"}


def _keyword(token: _Token) -> bool:
    """Check a word that follows an operand; return whether an operand has still ended."""
    word = token.upper
    if word in _ENDINGS:
        return True
    if word in _KEYWORDS:
        return False
    if word in _EFFECTS:
        raise _RefusedError(f"it contains {word}, and only reading is allowed")
    raise _RefusedError(f"{token.text} is not expected there: {_HELP} may be used")


def _name(token: _Token, before: _Token, after: _Token) -> None:
    """Check a word where a name belongs: one that would be a clause is none."""
    follows = after.kind in {"word", "name", "text", "number"} or after.text in {"(", "{"}
    is_clause = follows and before.text not in {".", ":", "$"} and token.upper in _EFFECTS
    if is_clause and not (after.kind == "word" and after.upper in _KEYWORDS | _ENDINGS):
        raise _RefusedError(f"it contains {token.upper}, and only reading is allowed")


def _procedure(tokens: list[_Token], index: int, dialect: str) -> None:
    name: list[str] = []
    while index < len(tokens) and tokens[index].text not in {"(", ";"} and len(name) < 9:
        name.append(tokens[index].text)
        index += 1
    is_call = index < len(tokens) and tokens[index].text == "("
    called = "".join(name).lower()
    if not is_call or called not in _PROCEDURES[dialect]:
        known = ", ".join(sorted(_PROCEDURES[dialect]))
        raise _RefusedError(f"CALL may only be used with {known}")


def _function(tokens: list[_Token], index: int, dialect: str) -> None:
    if tokens[index].text.lower() in _REFUSED_FUNCTIONS[dialect]:
        raise _RefusedError(f"the function {tokens[index].text} has an effect of its own")
