"""One entry point for all dialects, with a cache of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from dqa.databases.guard import cypher, sql
from dqa.databases.guard.verdict import Verdict, refused
from dqa.errors import RefusedStatementError, UnknownNameError

__all__ = ["DIALECTS", "check", "require"]

_LONGEST = 20_000
"""Characters: far more than a query needs, and little enough to read at once."""

_CHECKS: Mapping[str, Callable[[str], Verdict]] = {
    "ladybug": partial(cypher.check, dialect="ladybug"),
    "sqlite": partial(sql.check, dialect="sqlite"),
}

DIALECTS = tuple(_CHECKS)
"""The dialects that can be checked."""


def check(statement: str, dialect: str) -> Verdict:
    """Return whether `statement` is one single statement of `dialect` that only reads.

    Raises
    ------
    UnknownNameError
        Nobody knows the dialect.
    """
    if len(statement) > _LONGEST:  # before the cache, which is not to hold such texts
        return refused(f"the statement is longer than {_LONGEST} characters; write a shorter one")
    return _cached(statement, dialect)


def require(statement: str, dialect: str) -> None:
    """Raise `RefusedStatementError` unless `check` allows the statement."""
    verdict = check(statement, dialect)
    if not verdict.allowed:
        raise RefusedStatementError(f"The statement was not run: {verdict.reason}.")


@lru_cache(maxsize=4_096)
def _cached(statement: str, dialect: str) -> Verdict:
    if dialect not in _CHECKS:
        raise UnknownNameError("dialect", dialect, _CHECKS)
    if "\0" in statement or any("\ud800" <= character <= "\udfff" for character in statement):
        return refused("it holds a character that is no text (NUL or a lone surrogate); remove it")
    return _CHECKS[dialect](statement)
