"""Whether an opened database contains runs or a memory, which agents must not read by default."""

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
    """Whether a session can read the tables or labels of a run store or a memory.

    One statement per table is faster than reading a schema of thousands of tables.

    Raises
    ------
    DatabaseUnavailableError
        The server does not answer.
    """
    if session.kind == "graph":  # a loaded situation shows its own nodes alone
        may_hold = session.dialect == "neo4j" and session.namespace is None
        return may_hold and _finds(session, _GRAPH_PROBE, least=1)
    return any(_finds(session, probe) for probe in _PROBES)


def _finds(session: Session, probe: str, least: int = 0) -> bool:
    """Whether a probe runs and returns at least as many rows."""
    try:
        return len(session.run(probe, _LIMITS).rows) >= least
    except StatementTimeoutError:  # another session has locked the existing table
        return True
    except QueryError:  # there is no such table, or the role may not read it
        return False
