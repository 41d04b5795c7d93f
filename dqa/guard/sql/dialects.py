"""sqlglot's dialects, each loaded by one thread.

sqlglot imports a dialect's parser and generator when they are first used, and two threads that do
so at once can see a half-imported module (``ValueError: Empty module name``).
"""

from __future__ import annotations

from functools import cache
from threading import RLock

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

_loading = RLock()
_READ_AS = {"mariadb": "mysql", "ansi": ""}


def read_as(dialect: str) -> str:
    """Return what sqlglot calls the dialect that statements of this one are read in."""
    return _READ_AS.get(dialect, dialect)


def dialect_of(name: str) -> Dialect:
    """Return sqlglot's dialect of that name, whole; the empty name is what all have in common."""
    with _loading:
        return _loaded(name)


@cache
def _loaded(name: str) -> Dialect:
    found = Dialect.get_or_raise(name)
    found.parse("SELECT 1")
    found.generate(exp.select("1"))
    return found
