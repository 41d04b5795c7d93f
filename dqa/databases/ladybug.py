"""A read-only LadybugDB database: a file, or a situation in memory.

A file is opened read-only. In memory every statement runs in a read-only transaction of its own.
Statements are prepared before they run, because the engine prepares one statement only. Only the
guard stops reading and writing files by COPY and LOAD: the engine has no setting for that. The
engine checks its time limit between batches of rows only, and the memory of one list is not in its
buffer pool, so a worker process limits both.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import ladybug
import pyarrow as pa

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    StatementError,
    UsageError,
)
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, quote_name, quote_text
from dqa.core.session import Session
from dqa.core.situation import EdgeSchema, Situation, StoredType
from dqa.databases.errors import Attempts, Failure, Fault, driver_reads, error_of, refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.graph_rows import GraphRows, graph_rows, no_graph
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.rows import collect

TAG = "dqa_situation "
"""The beginning of the comment that tags a database."""
_DESCRIBING = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0)
_UNKNOWN = re.compile(r".*?(?:Cannot find property (.+) for .|Table (.+) does not exist)")
_INTERNAL = frozenset({"_ID", "_SRC", "_DST"})

_FAULTS: tuple[tuple[re.Pattern[str], Fault], ...] = (
    (re.compile("write query inside a read-only transaction"), Fault.REFUSED),
    (re.compile("execute write operations in a read-only database"), Fault.REFUSED),
    (re.compile("Assertion failed|UNREACHABLE"), Fault.STATEMENT),
    (re.compile("std::bad_alloc|bad allocation|^Buffer manager exception"), Fault.MEMORY),
    (re.compile("^Interrupted"), Fault.TIME),
    (re.compile("^IO exception"), Fault.UNCLEAR),
    (re.compile("^(Checkpoint|Storage) exception"), Fault.SERVER),
    (re.compile("^Transaction manager exception"), Fault.PASSING),
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
                    stop=lambda: None,  # the engine has all rows by now
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
        failure = Failure.of(fault_of(text), text.removeprefix("Binder exception: "), _UNKNOWN)
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


_TYPES: Mapping[StoredType, str] = {
    "text": "STRING",
    "float": "DOUBLE",
    "integer": "INT64",
    "boolean": "BOOLEAN",
}
_ARROW: Mapping[StoredType, pa.DataType] = {
    "text": pa.string(),
    "float": pa.float64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
}


def write(
    situation: Situation, database: ladybug.Database, tag: LoadedSituation | None = None
) -> None:
    """Create the situation's node and relationship tables and fill them, in one transaction.

    A single thread copies, so that nodes and relationships are numbered (``offset(id(x))``) in the
    order of their rows. A missing float is null.

    Parameters
    ----------
    situation
        What to write; every table must read as nodes or edges.
    database
        An empty database that no one else reads yet.
    tag
        The tag, if it is to be found again: stored in the comment on the first table of nodes,
        where no query of the graph finds it.

    Raises
    ------
    DataError
        The situation is not a graph, or the engine cannot hold it.
    """
    with ladybug.Connection(database, num_threads=1) as connection:
        connection.execute("BEGIN TRANSACTION")
        try:
            for rows in graph_rows(situation):
                connection.execute(_definition(rows))
                _copy(connection, rows)
            if tag is not None:
                comment = TAG + json.dumps(asdict(tag))
                label = quote_name(situation.schema.nodes[0].label)
                connection.execute(f"COMMENT ON TABLE {label} IS {quote_text(comment)}")
            connection.execute("COMMIT")
        except RuntimeError as error:
            raise no_graph(situation, " ".join(str(error).split())) from error


def read_tag(database: ladybug.Database, namespace: str) -> LoadedSituation | None:
    """Return the tag of a database; None without one."""
    with (
        ladybug.Connection(database) as connection,
        connection.execute("CALL show_tables() RETURN comment") as rows,  # type: ignore[union-attr]
    ):
        tags = [comment.removeprefix(TAG) for (comment,) in rows if comment.startswith(TAG)]
    return LoadedSituation(**json.loads(tags[0]) | {"namespace": namespace}) if tags else None


def size(situation: Situation) -> int:
    """Return the approximate bytes of the situation's values."""
    return sum(
        sum(map(len, array.tolist())) if array.dtype == object else array.nbytes
        for table in situation.tables.values()
        for array in table.columns.values()
    )


def _definition(rows: GraphRows) -> str:
    part = rows.part
    columns = [f"{quote_name(name)} {_TYPES[kind]}" for name, kind in rows.properties]
    if isinstance(part, EdgeSchema):
        ends = f"FROM {quote_name(part.source[0])} TO {quote_name(part.target[0])}"
        return f"CREATE REL TABLE {quote_name(part.label)} ({', '.join([ends, *columns])})"
    columns.append(f"PRIMARY KEY ({quote_name(part.key)})")
    return f"CREATE NODE TABLE {quote_name(part.label)} ({', '.join(columns)})"


def _copy(connection: ladybug.Connection, rows: GraphRows) -> None:
    if not len(rows):
        return
    # COPY goes by position, and two properties may come from one column.
    arrays = [pa.array(array, _ARROW[kind], from_pandas=True) for array, kind in rows.columns]
    table = pa.table(arrays, names=[f"column{number}" for number in range(len(arrays))])
    connection.execute(f"COPY {quote_name(rows.part.label)} FROM $rows", {"rows": table})


_MEBIBYTE = 1 << 20
_POOL = 256 * _MEBIBYTE
"""Buffer pool: the memory of statements; allocated as it is used."""
_LARGEST_POOL = 8 * _POOL
"""The pool for a file of very many tables."""
_ADDRESSES = 4_096 * _MEBIBYTE
"""Address space of a database. The engine's own default leaves room for 14 in a process."""


class LadybugFile(FileNamespaces):
    """A file that holds one situation, or will hold one."""

    kind = "ladybug"

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> LadybugSession:
        """Write a situation, or run a script, in memory."""
        database = _new_database(":memory:", content)
        try:
            if content == "":
                pass  # the first database loads the engine's library
            elif isinstance(content, str):
                with ladybug.Connection(database) as connection:
                    connection.execute(content)
            else:
                write(content, database)
        except (RuntimeError, DataError) as error:
            database.close()
            raise refused_script("LadybugDB", error) from error
        return LadybugSession(database, "temporary" if isinstance(content, str) else content.name)

    def open(self, namespace: str | None) -> LadybugSession:  # noqa: ARG002
        """Open the file; `DataError` where it is damaged or of another version."""
        session = LadybugSession(self._open_engine(), str(self._path))
        session.file = self._path
        return session

    def _open_engine(self) -> ladybug.Database:
        path = existing_file(self._path, "ladybug")
        addresses = max(_ADDRESSES, 1 << (4 * path.stat().st_size).bit_length())
        try:
            return _opened(path, addresses)
        except RuntimeError as error:
            problem = " ".join(str(error).split()).rstrip(".")
            if "lock" in problem:
                raise DatabaseUnavailableError(
                    f"'{path}' is in use by a process that writes to it: {problem}."
                ) from error
            raise DataError(f"'{path}' cannot be opened by this LadybugDB: {problem}.") from error

    def _read_tag(self) -> LoadedSituation | None:
        try:
            with self._open_engine() as database:
                return read_tag(database, self.location)
        except (UsageError, DataError):
            return None

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        # On a full disk the engine ends the whole process. The factor was measured.
        if shutil.disk_usage(path.parent).free < 2_000_000 + 64 * size(situation):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path.parent))
        with _new_database(path, situation) as database:
            write(situation, database, tag)


def _opened(path: Path, addresses: int) -> ladybug.Database:
    """Open a file with a pool for its tables: each takes about a megabyte."""
    pool = _POOL
    while True:
        try:
            return ladybug.Database(
                path, read_only=True, buffer_pool_size=pool, max_db_size=addresses
            )
        except RuntimeError as error:
            if pool >= _LARGEST_POOL or "buffer pool is full" not in str(error):
                raise
            pool *= 2


def _new_database(where: Path | str, content: Situation | str) -> ladybug.Database:
    pool = _POOL if isinstance(content, str) else max(_POOL, 16 * size(content))
    return ladybug.Database(where, buffer_pool_size=pool, max_db_size=_ADDRESSES)
