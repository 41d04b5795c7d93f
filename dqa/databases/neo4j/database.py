"""A read-only Neo4j database, or one situation in it.

Three lines keep a statement from writing: the guard; the transaction, which the server opens for
reading only; and the server's own plan, which must be one that reads, asked for once a statement:
it stops what changes no data but the server, as killing a connection does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

from dqa import guard
from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.schema import DatabaseSchema, EdgeInfo, NodeInfo
from dqa.databases import hints
from dqa.databases.bounded import collect
from dqa.databases.neo4j.describing import described, rebuilt
from dqa.databases.neo4j.hiding import confined, namer
from dqa.databases.neo4j.server import Server, first_line, is_timeout
from dqa.databases.neo4j.values import converter
from dqa.guard.cypher import parsed
from dqa.guard.cypher.facts import IN_MAP, ITSELF

__all__ = ["Neo4jDatabase", "Place"]

_PAGE = 1_000
"""Most rows fetched at a time."""
_KEPT = 4_096
"""Statements remembered."""
_NO_MEMORY = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError", "OutOfMemoryError")
_REFUSED = ("Statement.AccessMode", "Security.Forbidden")


@dataclass(frozen=True, slots=True)
class Place:
    """A loaded situation's label, and what its tag says of its schema and of its rows' order."""

    label: str
    schema: Mapping[str, Any]
    orders: Mapping[str, bytes]


class Neo4jDatabase:
    """A read-only Neo4j database.

    Parameters
    ----------
    server
        The open server; it belongs to this object from now on.
    place
        The situation to show; None for the whole database.
    """

    kind: Kind = "graph"
    dialect = "neo4j"
    language = "Cypher (Neo4j 5)"

    def __init__(self, server: Server, place: Place | None = None) -> None:
        self.name = server.address.named(place.label if place else None)
        self._server = server
        self._place = place
        self._convert = converter(place.label if place else None)
        self._named: Callable[[str], str] = namer(place.label) if place else str
        self._ready: dict[str, str] = {}
        self._reading: set[str] = set()
        self._schema: DatabaseSchema | None = None
        self._closed = False

    def schema(self) -> DatabaseSchema:
        """Return node labels and relationship types with their properties; read once."""
        if self._schema is None:
            self._schema = (
                rebuilt(self._place.schema) if self._place else described(self._server.rows)
            )
        return self._schema

    def query(self, statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`."""
        guard.require(statement, self.dialect)
        return self._run(self._prepared(statement), limits)

    def row_order(self, table: str) -> bytes:
        """Return the order in which the rows of a loaded table stood; see `row_order.restored`.

        Raises
        ------
        DataError
            This is no loaded situation, or it has no such table.
        """
        if self._place is None or table not in self._place.orders:
            raise DataError(f"Database '{self.name}' keeps no order of the rows of '{table}'.")
        return self._place.orders[table]

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._server.close()

    def _prepared(self, statement: str) -> str:
        """Return the statement as it runs: on a situation, kept to its nodes."""
        if self._place is None:
            return statement
        ready = self._ready.get(statement)
        if ready is None:
            ready = confined(statement, self._place.label)
            self._require_known(statement)
            if len(self._ready) >= _KEPT:
                self._ready.clear()
            self._ready[statement] = ready
        return ready

    def _require_known(self, statement: str) -> None:
        """Refuse names that a situation's graph does not have: the server would find nothing."""
        facts, schema = parsed(statement, self.dialect), self.schema()
        owners = {name for known in facts.owners for name in known or ()}
        owners |= {name for _, name in facts.tested if name is not None}
        for name in sorted(owners - self._names[0]):
            raise StatementError(
                hints.with_properties(f"There is no label or type {name}", name, schema)
            )
        for trace, name in facts.reads:
            is_element = trace & ITSELF and not trace & IN_MAP
            if is_element and name not in self._names[1]:
                raise StatementError(
                    hints.with_properties(f"Cannot find property {name}", name, schema)
                )

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Labels and types; properties."""
        schema = self.schema()
        parts: tuple[NodeInfo | EdgeInfo, ...] = (*schema.nodes, *schema.edges)
        return (
            frozenset(part.label for part in parts),
            frozenset(field.name for part in parts for field in part.properties),
        )

    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through; once more where the server was away.

        Reading may be repeated. After a failure the driver has dropped the connections of before,
        so the second time is on a new one.
        """
        import neo4j.exceptions as known

        if self._closed:
            raise DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")
        failures = (known.Neo4jError, known.DriverError, OSError)
        try:
            return self._run_once(statement, limits)
        except failures as error:
            problem = self._translated(error, limits)
            if not isinstance(problem, DatabaseUnavailableError):
                raise problem from error
        try:
            return self._run_once(statement, limits)
        except failures as error:
            raise self._translated(error, limits) from error

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        with (
            self._server.reading(min(limits.rows + 1, _PAGE)) as session,
            session.begin_transaction(timeout=limits.seconds) as transaction,
        ):
            if statement not in self._reading:
                self._require_reading(statement, transaction.run)
            result = transaction.run(statement)
            rows = collect(
                list(map(self._named, result.keys())),
                (record.values() for record in result),
                limits,
                started,
                self._convert,
            )
            # What was cut is not worth a commit, which would read it to its end.
            transaction.rollback()
            return rows

    def _require_reading(self, statement: str, run: Callable[..., Any]) -> None:
        kind = run(f"EXPLAIN {statement}").consume().query_type
        if kind != "r":
            raise RefusedStatementError("The statement was not run: it does more than read data.")
        if len(self._reading) >= _KEPT:
            self._reading.clear()
        self._reading.add(statement)

    def _translated(self, error: Exception, limits: Limits) -> DqaError:
        code = str(getattr(error, "code", None) or "")
        problem = first_line(error)
        if self._place is not None:
            problem = problem.replace(self._place.label, "…")
        if is_timeout(error):
            return StatementTimeoutError(
                f"The statement was stopped after {limits.seconds:g} seconds. Write one that "
                "reads less: connect the patterns, filter earlier, bound path lengths."
            )
        if code.endswith(_NO_MEMORY):
            return StatementError(
                "The statement needs more memory than it may have; aggregate, filter or use LIMIT."
            )
        if code.endswith(_REFUSED):
            return RefusedStatementError(f"The statement was not run: {problem}.")
        if code.startswith(("Neo.ClientError.Statement", "Neo.ClientError.Procedure")):
            return StatementError(f"{problem}.")
        return self._server.failure(error)
