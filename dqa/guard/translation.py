"""Translate a statement from another dialect if the database cannot read it.

Models often write MySQL for any database, or mix functions of several dialects. The guard checks
the translation again, in the dialect of the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import TokenType, exp

from dqa.guard.check import GuardVerdict, check
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.text import dialect_of, read_text

_OTHER_VALUES = (exp.HexString, exp.BitString, exp.ByteString, exp.National)
"""Literals that another dialect reads as another value."""
_NUMBER = re.compile(r"\d\w*")


def translations(
    statement: str, dialect: str, policy: Policy = DEFAULT
) -> Iterator[tuple[str, GuardVerdict]]:
    """Yield the translations of a statement that `dialect` cannot read, each with its verdict.

    The statement is first read as MySQL and then as `dialect` with functions of other dialects
    (``IF``, ``STRING_AGG``). In MySQL, ``||`` means OR and double quotes enclose strings. Backticks
    show that the author means MySQL. In a statement without backticks, double quotes therefore
    enclose names, and if it contains ``||``, it is not read as MySQL.
    """
    if dialect in {"mysql", "mariadb", "neo4j", "ladybug"}:
        return
    found = {statement}
    for source in ["mysql", dialect] if "`" in statement or "||" not in statement else [dialect]:
        written = statement
        if source == "mysql" and "`" not in statement:
            written = re.sub(r'"([^"]*)"|\'(?:[^\']|\'\')*\'', _in_backticks, statement)
        translated = _translate(written, source, dialect, policy)
        verdict = check(translated, dialect, policy)
        if translated not in found and verdict.allowed:
            found.add(translated)
            yield translated, verdict


def _in_backticks(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f"`{match[1]}`"


def _translate(statement: str, source: str, dialect: str, policy: Policy) -> str:
    """Translate a query from `source` to `dialect`. If that is not safe, return it unchanged.

    A translation is unsafe if a part could have another value, or if sqlglot would drop a name or
    a surplus argument.
    """
    verdict = check(statement, source, Policy(functions=policy.functions))
    if not verdict.allowed:
        return statement
    try:
        text, tokens = read_text(verdict.statement, source)
        tree = dialect_of(source).parser().parse(list(tokens), text)[0]
        if not isinstance(tree, exp.Query | exp.Values):
            return statement
        names = {node.name.lower() for node in tree.walk() if isinstance(node, exp.Identifier)}
        is_cut = any(
            token.token_type is TokenType.VAR
            and (after is None or after.token_type is not TokenType.L_PAREN)
            and token.text.lower() not in names
            for token, after in zip(tokens, [*tokens[1:], None], strict=True)
        )
        if is_cut or any(map(_changes, tree.walk())):
            return statement
        return dialect_of(dialect).generate(tree, copy=False)
    except Exception:  # noqa: BLE001  (sqlglot has no own exception for unsupported syntax)
        return statement


def _changes(node: exp.Expr) -> bool:
    """Return whether a part could have another value in another dialect."""
    is_number = isinstance(node, exp.Identifier) and not node.quoted and _NUMBER.match(node.name)
    return bool(is_number) or isinstance(node, _OTHER_VALUES)
