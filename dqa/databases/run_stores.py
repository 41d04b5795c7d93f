"""Whether a database that is opened holds runs or a memory, which no agent is to read unasked."""

from __future__ import annotations

from typing import Final

from dqa.core.database import Limits
from dqa.core.errors import QueryError, StatementTimeoutError
from dqa.core.run_stores import MEMORY_TABLE, VERSION_TABLE
from dqa.core.session import Session

_PROBES: Final = tuple(
    f"SELECT 1 FROM {table} WHERE 1 = 0"  # noqa: S608  (constants)
    for table in (VERSION_TABLE, MEMORY_TABLE)
)
_LIMITS: Final = Limits(rows=1, bytes=1 << 10, seconds=30.0)


def holds_store(session: Session) -> bool:
    """Whether a store of runs or a memory lies among the tables that a session reads.

    They are found by a statement each, as reading a schema of thousands of tables takes seconds.

    Raises
    ------
    DatabaseUnavailableError
        The server does not answer.
    """
    if session.kind == "graph":
        return False
    return any(_is_there(session, probe) for probe in _PROBES)


def _is_there(session: Session, probe: str) -> bool:
    try:
        session.run(probe, _LIMITS)
    except StatementTimeoutError:  # only a table that is there can be locked
        return True
    except QueryError:  # there is no such table
        return False
    return True
