"""A read-only LadybugDB database: a file, or a situation in memory.

A file is opened read-only. In memory every statement runs in a read-only transaction of its own.
Statements are prepared before they run, because the engine prepares one statement only. What this
second line does not stop is reading and writing files by COPY and LOAD: the engine has no setting
that would, so that is the guard's. The engine looks at the clock, and at interrupts, between
batches of rows only, and the memory of one list is not its buffer pool's: ``range(1, 100000000)``
takes two seconds and 800 MB whatever the limits.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any

import ladybug

from dqa.core.cypher import quote_text
from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.core.session import Session
from dqa.databases.failures import driver_reads, out_of_memory
from dqa.databases.faults import Attempts, Failure, Fault, error_of
from dqa.databases.ladybug.codes import fault_of
from dqa.databases.ladybug.writer import TAG
from dqa.databases.locks import ReadersWriterLock
from dqa.databases.rows import collect

_DESCRIBING = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0)

_UNKNOWN = re.compile(
    r"Cannot find property (?P<property>.+) for .+"
    r"|Table (?P<table>.+) does not exist"
)
_INTERNAL = frozenset({"_ID", "_SRC", "_DST"})


class _OutOfMemoryError(StatementError):
    """The buffer pool had no room left."""


class LadybugSession(Session):
    """A read-only LadybugDB database.

    Parameters
    ----------
    database
        The open database; it belongs to this object from now on.
    name
        What to call it.
    """

    kind: Kind = "graph"
    dialect = "ladybug"
    language = "Cypher (LadybugDB)"

    def __init__(self, database: ladybug.Database, name: str) -> None:
        super().__init__()
        self.name = name
        self._database = database
        self._lock = ReadersWriterLock()
        self._idle: deque[ladybug.Connection] = deque()
        self._attempts = Attempts(self._run_once, "RETURN 1")

    def read_schema(self) -> DatabaseSchema:
        """Read labels and types, in the order in which they were made."""
        # In the order in which they were made, which a file does not list them in.
        tables = self._described("CALL show_tables() RETURN name, type, comment ORDER BY id")
        told = {
            kind: {str(name): _own(said) for name, of, said in tables if of == kind}
            for kind in ("NODE", "REL")
        }
        return DatabaseSchema(
            nodes=tuple(self._node(label, said) for label, said in told["NODE"].items()),
            edges=tuple(e for label, said in told["REL"].items() for e in self._edges(label, said)),
        )

    def close(self) -> None:
        """Close all connections; a database in memory is gone."""
        while self._idle:
            self._idle.pop().close()
        self._database.close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        All statements share one buffer pool, so one may fail for what its neighbours hold. Such a
        statement is run again alone, and fails only for what it needs itself.
        """
        try:
            with self._lock.read():
                return self._attempts.run(statement, limits)
        except _OutOfMemoryError:
            with self._lock.write():
                try:
                    return self._attempts.run(statement, limits)
                except _OutOfMemoryError as error:
                    raise StatementError(str(error)) from error

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        with self._connection() as connection:
            connection.set_query_timeout(max(1, round(limits.seconds * 1_000)))
            try:
                prepared = ladybug.PreparedStatement(connection, statement)
                result = connection.execute(prepared)
            except RuntimeError as error:
                raise self._translate(error, limits) from error
            # A list comes back for several statements only, which cannot be prepared.
            with result if isinstance(result, ladybug.QueryResult) else result[0] as rows:
                with driver_reads():
                    names = rows.get_column_names()
                if not names:
                    raise StatementError("The statement returned no rows; write a query.")
                return collect(
                    *(names, rows, limits, started, _without_ids),  # type: ignore[arg-type]
                    total=rows.get_num_tuples(),
                    failures=RuntimeError,
                    stop=lambda: None,  # all rows are here
                )

    @contextmanager
    def _connection(self) -> Iterator[ladybug.Connection]:
        """Lend a connection to one thread, in a read-only transaction where memory needs one."""
        in_memory = not self._database.read_only
        try:
            connection = self._take_idle() or ladybug.Connection(self._database)
            if in_memory:
                connection.execute("BEGIN TRANSACTION READ ONLY")
        except RuntimeError as error:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' gives no connection: {error}."
            ) from error
        try:
            yield connection
        finally:
            if in_memory:
                # An error of the engine may have ended the transaction; then there is none to end.
                with suppress(RuntimeError):
                    connection.execute("ROLLBACK")
            self._idle.append(connection)

    def _take_idle(self) -> ladybug.Connection | None:
        try:
            return self._idle.pop()  # atomic, where a look before would not be
        except IndexError:
            return None

    def _translate(self, error: RuntimeError, limits: Limits) -> DqaError:
        problem = " ".join(str(error).split()).rstrip(".")
        fault = fault_of(problem)
        if fault is Fault.MEMORY:
            return _OutOfMemoryError(str(out_of_memory()))
        problem = problem.removeprefix("Binder exception: ")
        unknown = _UNKNOWN.search(problem) if fault is Fault.STATEMENT else None
        failure = Failure(fault, problem)
        if unknown is not None:
            name = unknown["property"] or unknown["table"]
            failure = Failure(Fault.UNKNOWN_NAME, problem, name)
        return error_of(failure, error, self.name, self.kind, limits)

    def _described(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        return self._run_once(statement, _DESCRIBING).rows

    def _node(self, label: str, comment: str) -> NodeInfo:
        rows = self._described(
            f"CALL table_info({quote_text(label)}) RETURN name, type, `primary key`"
        )
        key = next((name for name, _, is_key in rows if is_key), None)
        return NodeInfo(label, tuple(Field(name, kind) for name, kind, _ in rows), key, comment)

    def _edges(self, label: str, comment: str) -> Iterator[EdgeInfo]:
        rows = self._described(f"CALL table_info({quote_text(label)}) RETURN name, type")
        ends = self._described(
            f"CALL show_connection({quote_text(label)}) "
            "RETURN `source table name`, `destination table name`"
        )
        fields = tuple(Field(name, kind) for name, kind in rows)
        for source, target in ends:
            yield EdgeInfo(label, source, target, fields, comment)


def _own(comment: str | None) -> str:
    """Return a comment, unless it is the tag of a loaded situation."""
    return "" if comment is None or comment.startswith(TAG) else comment


def _without_ids(value: Any) -> Any:  # noqa: ANN401
    """Drop the engine's internal ids from nodes, relationships and paths."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key not in _INTERNAL}
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    return value
