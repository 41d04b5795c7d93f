"""sqlglot's dialects, each loaded by one thread.

sqlglot imports a dialect's parser and generator when they are first used. Two threads that do so at
the same time can see a half-imported module.
"""

from __future__ import annotations

import logging
from functools import cache
from threading import RLock

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

# sqlglot warns of what it does not know; the guard refuses it with a reason.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

_loading = RLock()
_READ_AS = {"mariadb": "mysql", "ansi": ""}


def dialect_of(name: str) -> Dialect:
    """Return sqlglot's dialect for one of the guard's dialects."""
    with _loading:
        return _loaded(_READ_AS.get(name, name))


@cache
def _loaded(name: str) -> Dialect:
    found = Dialect.get_or_raise(name)
    found.parse("SELECT 1")
    found.generate(exp.select("1"))
    return found
