"""Whether a database that is opened holds a store of runs, which no agent is to read unasked."""

from __future__ import annotations

from typing import Final

from dqa.core.database import Limits
from dqa.core.errors import QueryError, StatementTimeoutError
from dqa.core.run_stores import VERSION_TABLE
from dqa.core.session import Session

_PROBE: Final = f"SELECT 1 FROM {VERSION_TABLE} WHERE 1 = 0"  # noqa: S608  (a constant)
_LIMITS: Final = Limits(rows=1, bytes=1 << 10, seconds=30.0)


def holds_store(session: Session) -> bool:
    """Whether a store of runs lies among the tables that a session reads.

    It is found by one statement, as reading a schema of thousands of tables takes seconds.

    Raises
    ------
    DatabaseUnavailableError
        The server does not answer.
    """
    if session.kind == "graph":
        return False
    try:
        session.run(_PROBE, _LIMITS)
    except StatementTimeoutError:  # only a table that is there can be locked
        return True
    except QueryError:  # there is no such table
        return False
    return True
