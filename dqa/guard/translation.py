"""Statements written in MySQL's dialect, for databases that speak another.

The paper's models write MySQL, and many write it wherever they are. A statement is tried in the
database's own dialect first; only where that cannot be read is it translated, and the guard judges
what comes out as it would judge anything else. What the guard does not let run as MySQL either is
never translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial

from sqlglot import exp

from dqa.guard.check import check
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.reading import read
from dqa.guard.sql.dialects import dialect_of
from dqa.guard.sql.text import spaced
from dqa.guard.verdict import Refusal

_SOURCE = "mysql"
_SPEAK_IT = frozenset({"mysql", "mariadb"})
_NAMES: Mapping[str, str] = {"ansi": ""}
"""What sqlglot calls a dialect, where that is not what the guard calls it."""


@lru_cache(maxsize=1_024)
def from_mysql(statement: str, dialect: str, policy: Policy = DEFAULT) -> str | None:
    """Return a statement of MySQL's in `dialect`, where it means something and may run.

    Returns
    -------
    str or None
        None where `dialect` is MySQL's own, where the statement is none of MySQL's, where
        translation changes nothing, and where the guard refuses either side.
    """
    if dialect in _SPEAK_IT or not check(statement, _SOURCE, policy).allowed:
        return None
    try:
        translated = read(partial(_translated, statement, dialect))
    except Refusal:
        return None
    if translated is None or translated == statement:
        return None
    return translated if check(translated, dialect, policy).allowed else None


def _translated(statement: str, dialect: str) -> str | None:
    """Return a query in `dialect`; None for what is no query, which means something else there."""
    source, target = dialect_of(_SOURCE), dialect_of(_NAMES.get(dialect, dialect))
    trees = source.parse(spaced(statement, _SOURCE))
    if len(trees) != 1 or not isinstance(trees[0], (exp.Query, exp.Values)):
        return None
    return target.generate(trees[0], copy=False)
