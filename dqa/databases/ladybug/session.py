"""A read-only LadybugDB database: a file, or a situation in memory.

A file is opened read-only. In memory every statement runs in a read-only transaction of its own.
Statements are prepared before they run, because the engine prepares one statement only. Only the
guard stops reading and writing files by COPY and LOAD: the engine has no setting for that. The
engine checks its time limit between batches of rows only, and the memory of one list is not in its
buffer pool, so a worker process limits both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import perf_counter
from typing import Any

import ladybug

from dqa.core.cypher import quote_text
from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DqaError, StatementError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.core.session import Session
from dqa.databases.errors import Attempts, Failure, Fault, driver_reads, error_of
from dqa.databases.rows import collect

TAG = "dqa_situation "
"""The beginning of the comment that tags a database."""
_DESCRIBING = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0)
_UNKNOWN = re.compile(r"Cannot find property (.+) for .+|Table (.+) does not exist")
_INTERNAL = frozenset({"_ID", "_SRC", "_DST"})

_FAULTS: tuple[tuple[re.Pattern[str], Fault], ...] = (
    (re.compile("write query inside a read-only transaction"), Fault.REFUSED),
    (re.compile("execute write operations in a read-only database"), Fault.REFUSED),
    (re.compile("Assertion failed|UNREACHABLE"), Fault.STATEMENT),
    (re.compile("std::bad_alloc|bad allocation|^Buffer manager exception"), Fault.MEMORY),
    (re.compile("^Interrupted"), Fault.TIME),
    (re.compile("^IO exception"), Fault.UNCLEAR),
    (re.compile("^(Checkpoint|Storage) exception"), Fault.SERVER),
    (re.compile("^Transaction manager exception"), Fault.UNCLEAR),
)
"""The meaning of errors, which have no codes; a message begins with its kind."""


class LadybugSession(Session):
    """A read-only LadybugDB database, which runs one statement at a time.

    Parameters
    ----------
    database
        The open database; it belongs to this object from now on.
    name
        Its name in results and messages.
    """

    kind: Kind = "graph"
    dialect = "ladybug"
    language = "Cypher (LadybugDB)"

    def __init__(self, database: ladybug.Database, name: str) -> None:
        super().__init__()
        self.name = name
        self._database = database
        self._connection = ladybug.Connection(database)
        self._running = Lock()
        self._attempts = Attempts(self._run_once, "RETURN 1")

    def read_schema(self) -> DatabaseSchema:
        """Read labels and types, in the order in which they were made."""
        tables = self._rows("CALL show_tables() RETURN name, type, comment ORDER BY id")
        nodes: list[NodeInfo] = []
        edges: list[EdgeInfo] = []
        for label, kind, comment in tables:
            described = "" if comment is None or comment.startswith(TAG) else comment
            if kind == "NODE":
                nodes.append(self._node(label, described))
            elif kind == "REL":
                edges.extend(self._edges(label, described))
        return DatabaseSchema(nodes=tuple(nodes), edges=tuple(edges))

    def close(self) -> None:
        """Close the database; one in memory is lost."""
        self._connection.close()
        self._database.close()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has allowed."""
        return self._attempts.run(statement, limits)

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        with self._transaction():
            self._connection.set_query_timeout(max(1, round(limits.seconds * 1_000)))
            try:
                prepared = ladybug.PreparedStatement(self._connection, statement)
                result = self._connection.execute(prepared)
            except RuntimeError as error:
                raise self._translate(error, limits) from error
            # Only several statements return a list, and they cannot be prepared.
            with result if isinstance(result, ladybug.QueryResult) else result[0] as rows:
                with driver_reads():
                    names = rows.get_column_names()
                if not names:
                    raise StatementError("The statement returned no rows; write a query.")
                return collect(
                    *(names, rows, limits, started, _without_ids),  # type: ignore[arg-type]
                    total=rows.get_num_tuples(),
                    failures=(RuntimeError,),
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Keep other threads out, and begin a read-only transaction in memory."""
        with self._running:
            if self._database.read_only:
                yield
                return
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                yield
            finally:
                with suppress(RuntimeError):  # an error may have ended the transaction
                    self._connection.execute("ROLLBACK")

    def _translate(self, error: RuntimeError, limits: Limits) -> DqaError:
        text = " ".join(str(error).split()).rstrip(".")
        fault, problem = fault_of(text), text.removeprefix("Binder exception: ")
        unknown = _UNKNOWN.search(problem) if fault is Fault.STATEMENT else None
        failure = Failure(fault, problem)
        if unknown is not None:
            failure = Failure(Fault.UNKNOWN_NAME, problem, unknown[1] or unknown[2])
        return error_of(failure, self.name, self.kind, limits)

    def _rows(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        return self._run_once(statement, _DESCRIBING).rows

    def _node(self, label: str, comment: str) -> NodeInfo:
        rows = self._rows(f"CALL table_info({quote_text(label)}) RETURN name, type, `primary key`")
        key = next((name for name, _, is_key in rows if is_key), None)
        return NodeInfo(label, tuple(Field(name, kind) for name, kind, _ in rows), key, comment)

    def _edges(self, label: str, comment: str) -> Iterator[EdgeInfo]:
        rows = self._rows(f"CALL table_info({quote_text(label)}) RETURN name, type")
        ends = self._rows(
            f"CALL show_connection({quote_text(label)}) "
            "RETURN `source table name`, `destination table name`"
        )
        fields = tuple(Field(name, kind) for name, kind in rows)
        for source, target in ends:
            yield EdgeInfo(label, source, target, fields, comment)


def _without_ids(value: Any) -> Any:  # noqa: ANN401
    """Drop the engine's internal ids from nodes, relationships and paths."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key not in _INTERNAL}
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    return value


def fault_of(problem: str) -> Fault:
    """Return the meaning of a message; most are about the statement."""
    return next((fault for words, fault in _FAULTS if words.search(problem)), Fault.STATEMENT)
