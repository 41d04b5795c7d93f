"""One entry point for all dialects, with a cache of verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial

from dqa.core.errors import UnknownNameError
from dqa.guard import cypher, sql
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.reading import read
from dqa.guard.script import ScriptStatement, with_lines
from dqa.guard.verdict import ALLOWED, SEVERAL, GuardVerdict, Refusal, not_run, refused

_LONGEST = 20_000
"""Characters: far more than a query needs, and little enough to read at once."""
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_KEPT = 4_096
"""Verdicts kept."""

_SQL = ("mysql", "mariadb", "postgres", "sqlite", "duckdb", "ansi")
_CYPHER = ("neo4j", "ladybug")

DIALECTS = (*_SQL, *_CYPHER)
"""The dialects that can be checked; ``ansi`` is what SQL databases have in common."""


def require_dialect(dialect: str) -> None:
    """Raise `UnknownNameError` unless `dialect` is one of `DIALECTS`."""
    if dialect not in DIALECTS:
        raise UnknownNameError("dialect", dialect, DIALECTS)


def split(script: str, dialect: str) -> Iterator[ScriptStatement]:
    """Yield the statements of a script, in order; what is empty or only comments is left out.

    A semicolon ends a statement wherever it is no part of a text, a name or a comment, so the body
    of a procedure is several. From the first place on that cannot be read with certainty, the rest
    is one statement with a `problem`, and must be refused. None of them is checked.

    Parameters
    ----------
    script
        Statements with semicolons between them.
    dialect
        One of `DIALECTS`.

    Raises
    ------
    UnknownNameError
        The dialect is unknown.
    """
    require_dialect(dialect)
    language = cypher if dialect in _CYPHER else sql
    return with_lines(script, language.spans(script, dialect))


def check(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return whether `statement` is one single statement of `dialect` that only reads.

    Parameters
    ----------
    statement
        What somebody, or a model, wrote.
    dialect
        One of `DIALECTS`.
    policy
        What may be called and read beyond, or short of, what the guard allows by itself.

    Raises
    ------
    UnknownNameError
        The dialect is unknown.
    """
    require_dialect(dialect)
    if len(statement) > _LONGEST:  # before the cache, which is not to hold such texts
        return refused(f"the statement is longer than {_LONGEST} characters; write a shorter one")
    return _cached(statement, dialect, policy)


def require(statement: str, dialect: str, policy: Policy = DEFAULT) -> None:
    """Raise `RefusedStatementError` unless `check` allows the statement."""
    verdict = check(statement, dialect, policy)
    if not verdict.allowed:
        raise not_run(verdict.reason)


def forget() -> None:
    """Empty the cache of verdicts; it is never necessary, and shows what a verdict costs."""
    _cached.cache_clear()


def judge(statement: str, dialect: str, policy: Policy = DEFAULT) -> GuardVerdict:
    """Return the verdict without looking whether it is known; as `check` otherwise."""
    if _NO_TEXT.search(statement):
        return refused("it holds a character that is no text (NUL or a lone surrogate); remove it")
    check_language = cypher.judge if dialect in _CYPHER else sql.refuse_unless_reading
    try:
        read(partial(check_language, statement, dialect, policy))
    except Refusal as refusal:
        reason = str(refusal)
        if ";" in statement.rstrip().rstrip(";"):
            reason += _of_several(reason, statement, dialect, policy)
        return refused(reason)
    return ALLOWED


def _of_several(reason: str, statement: str, dialect: str, policy: Policy) -> str:
    """Return what `reason` does not say of several statements: their number, or the first's own."""
    language = cypher if dialect in _CYPHER else sql
    try:
        spans = read(lambda: list(language.spans(statement, dialect)))
    except Refusal:
        return ""
    if len(spans) < 2 or any(span.problem for span in spans):
        return ""
    if reason != SEVERAL:
        return f". Besides, {SEVERAL}"
    first = judge(statement[spans[0].start : spans[0].end], dialect, policy)
    return "" if first.allowed else f". Besides, the first may not run at all: {first.reason}"


_cached = lru_cache(maxsize=_KEPT)(judge)
