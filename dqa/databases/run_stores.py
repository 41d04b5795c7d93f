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
_GRAPH_PROBE: Final = f"MATCH (m:{MEMORY_TABLE}) RETURN 1 LIMIT 1"
_LIMITS: Final = Limits(rows=1, bytes=1 << 10, seconds=30.0)


def holds_store(session: Session) -> bool:
    """Whether a store of runs or a memory lies among the tables or labels that a session reads.

    Tables are found by a statement each, as reading a schema of thousands of tables takes seconds.

    Raises
    ------
    DatabaseUnavailableError
        The server does not answer.
    """
    if session.kind == "graph":
        # Of a situation its own nodes alone are seen; an embedded graph holds no memory.
        may_hold = session.dialect == "neo4j" and session.namespace is None
        return may_hold and _is_there(session, _GRAPH_PROBE, least=1)
    return any(_is_there(session, probe) for probe in _PROBES)


def _is_there(session: Session, probe: str, least: int = 0) -> bool:
    """Whether a probe runs, and returns as many rows at least."""
    try:
        return len(session.run(probe, _LIMITS).rows) >= least
    except StatementTimeoutError:  # only a table that is there can be locked
        return True
    except QueryError:  # there is no such table, or nobody here may read it
        return False
