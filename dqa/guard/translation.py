"""Translate a statement of another dialect, if the database cannot read it as it was written.

The paper's models write MySQL wherever they are, and many models mix functions of several dialects.
The guard judges a statement in the dialect that it is read in, and judges its translation again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError

from dqa.guard.check import check
from dqa.guard.dialects import dialect_of
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.text import read_text

_SPEAK_MYSQL = frozenset({"mysql", "mariadb"})
_OTHER_VALUES = (exp.HexString, exp.BitString, exp.ByteString, exp.National)
"""Literals whose value another dialect reads differently."""
_NUMBER = re.compile(r"\d\w*")


def translations(statement: str, dialect: str, policy: Policy = DEFAULT) -> Iterator[str]:
    """Yield what a statement that `dialect` cannot read may mean, each text once.

    It is read as MySQL's, and as the dialect's own with functions of others (``IF``,
    ``STRING_AGG``). In MySQL ``||`` is OR, and double quotes are texts: a statement with ``||``
    and without backticks is read as the dialect's own alone, and double quotes are read as names
    unless the statement has backticks.
    """
    if dialect in _SPEAK_MYSQL:
        return
    sources = ["mysql", dialect] if "`" in statement or "||" not in statement else [dialect]
    found: set[str] = set()
    for source in sources:
        written = _with_backticks(statement) if source == "mysql" else statement
        translated = _translate(written, source, dialect, policy)
        if translated is not None and translated not in found:
            found.add(translated)
            yield translated


def _with_backticks(statement: str) -> str:
    """Return a statement without backticks with its names in double quotes in backticks."""
    if '"' not in statement or "`" in statement:
        return statement
    try:
        tokens = dialect_of("ansi").tokenize(statement)
    except SqlglotError:
        return statement
    parts: list[str] = []
    done = 0
    for token in tokens:
        if token.token_type is TokenType.IDENTIFIER:
            parts += statement[done : token.start], f"`{token.text}`"
            done = token.end + 1
    return "".join((*parts, statement[done:]))


@lru_cache(maxsize=1_024)
def _translate(statement: str, source: str, dialect: str, policy: Policy) -> str | None:
    """Return a query of the dialect `source` in `dialect`; None where it may not run in both."""
    verdict = check(statement, source, Policy(functions=policy.functions))
    if not verdict.allowed:
        return None
    try:
        text, tokens = read_text(verdict.statement, source)
        tree = dialect_of(source).parser().parse(list(tokens), text)[0]
        if not isinstance(tree, exp.Query | exp.Values) or any(map(_changes, tree.walk())):
            return None
        if _is_cut(tokens, tree):
            return None
        translated = dialect_of(dialect).generate(tree, copy=False)
    except (SqlglotError, RecursionError, ValueError):
        return None
    if translated == statement or not check(translated, dialect, policy).allowed:
        return None
    return translated


def _is_cut(tokens: Sequence[Token], tree: exp.Expr) -> bool:
    """Whether the tree lacks a name of the text, as of a surplus argument that the parser drops."""
    kept = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    following = [*tokens, None][1:]
    return any(
        token.token_type is TokenType.VAR
        and (after is None or after.token_type is not TokenType.L_PAREN)
        and token.text.lower() not in kept
        for token, after in zip(tokens, following, strict=True)
    )


def _changes(node: exp.Expr) -> bool:
    """Whether a part could have another value in another dialect."""
    is_number = isinstance(node, exp.Identifier) and not node.quoted and _NUMBER.match(node.name)
    return bool(is_number) or isinstance(node, _OTHER_VALUES)
