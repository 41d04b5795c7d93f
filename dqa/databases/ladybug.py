"""A read-only LadybugDB database in a file or in memory.

A file is opened read-only. A statement on a database in memory runs in a read-only transaction.
Each statement is prepared before it runs. The engine refuses to prepare a text with several
statements. The engine cannot prevent COPY and LOAD from accessing files, so only the guard prevents
this. A worker process limits time and memory, because the engine's limits are not enough. The
engine checks its time limit only between batches of rows, and a single list may need memory outside
of the buffer pool.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import ladybug
import pyarrow as pa

from dqa.core.database import Kind, Limits
from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, quote_name, quote_text
from dqa.core.situation import EdgeSchema, Situation, StoredType
from dqa.databases.engine_session import Connection, EngineSession, Result
from dqa.databases.errors import Fault, driver_reads, one_line, refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.graph_rows import GraphRows, graph_rows, no_graph
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.rows import no_result

TAG = "dqa_situation "
"""The beginning of the table comment that contains the tag of a database."""
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
"""The faults by the words of error messages, because the engine has no error codes."""


def _without_ids(value: Any) -> Any:  # noqa: ANN401
    """Remove the engine's internal ids from nodes, relationships and paths."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key not in _INTERNAL}
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    return value


def fault_of(problem: str) -> Fault:
    """Return the `Fault` for a message; `Fault.STATEMENT` for an unknown message."""
    return next((fault for words, fault in _FAULTS if words.search(problem)), Fault.STATEMENT)


class Ladybug(EngineSession):
    """A LadybugDB database.

    Parameters
    ----------
    database
        The open database.
    """

    kind: Kind = "graph"
    dialect = "ladybug"
    language = "Cypher (LadybugDB)"
    errors = (RuntimeError,)
    trivial = "RETURN 1"
    unknown = re.compile(r".*?(?:Cannot find property (.+) for .|Table (.+) does not exist)")
    convert = staticmethod(_without_ids)

    def __init__(self, database: ladybug.Database, name: str) -> None:
        super().__init__(name, on_close=database.close)
        self._database = database

    def connect(self) -> ladybug.Connection:
        """Return a new connection to the open database."""
        return ladybug.Connection(self._database)

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Set the engine's time limit, because no other thread can stop a running statement."""
        connection.driver.set_query_timeout(max(1, round(limits.seconds * 1_000)))

    def interrupt(self, connection: Connection) -> Callable[[], object]:  # noqa: ARG002
        """Return a function that does nothing, because the engine stops statements itself."""
        return lambda: None

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run a statement. If the database is in memory, use a read-only transaction."""
        driver: ladybug.Connection = connection.driver
        if not self._database.read_only:
            driver.execute("BEGIN TRANSACTION READ ONLY")
        try:
            result = driver.execute(ladybug.PreparedStatement(driver, statement))
            # The driver returns a list only for several statements, and those cannot be prepared.
            with result if isinstance(result, ladybug.QueryResult) else result[0] as rows:
                with driver_reads():
                    names = rows.get_column_names()
                if not names:
                    raise no_result()
                yield Result(names, rows, total=rows.get_num_tuples())  # type: ignore[arg-type]
        finally:
            if not self._database.read_only:
                with suppress(RuntimeError):  # an error may have ended the transaction
                    driver.execute("ROLLBACK")

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by the words of its message."""
        problem = one_line(error)
        return fault_of(problem), problem.removeprefix("Binder exception: ")

    def describe(self, driver: ladybug.Connection) -> DatabaseSchema:
        """Read labels and types in the order of their creation."""

        def ask(statement: str) -> list[Any]:
            with driver.execute(statement) as rows:  # type: ignore[union-attr]
                return list(rows)

        nodes: list[NodeInfo] = []
        edges: list[EdgeInfo] = []
        tables = ask("CALL show_tables() RETURN name, type, comment ORDER BY id")
        for label, kind, found in tables:
            comment = "" if found is None or found.startswith(TAG) else found
            about = f"CALL table_info({quote_text(label)}) RETURN name, type"
            if kind == "NODE":
                columns = ask(f"{about}, `primary key`")
                key = next((name for name, _, is_key in columns if is_key), None)
                fields = tuple(Field(name, type_) for name, type_, _ in columns)
                nodes.append(NodeInfo(label, fields, key, comment))
            elif kind == "REL":
                fields = tuple(Field(name, type_) for name, type_ in ask(about))
                ends = ask(
                    f"CALL show_connection({quote_text(label)}) "
                    "RETURN `source table name`, `destination table name`"
                )
                edges.extend(EdgeInfo(label, one, other, fields, comment) for one, other in ends)
        return DatabaseSchema(nodes=tuple(nodes), edges=tuple(edges))


_TYPES: Mapping[StoredType, tuple[str, pa.DataType]] = {
    "text": ("STRING", pa.string()),
    "float": ("DOUBLE", pa.float64()),
    "integer": ("INT64", pa.int64()),
    "boolean": ("BOOLEAN", pa.bool_()),
}
"""The engine's type and Arrow's type for each type of a column."""


def write(
    situation: Situation, database: ladybug.Database, tag: LoadedSituation | None = None
) -> None:
    """Create the situation's node and relationship tables and fill them in one transaction.

    A single thread copies the rows. The numbers of nodes and relationships (``offset(id(x))``)
    therefore follow the order of the rows. A missing float is stored as null.

    Parameters
    ----------
    situation
        The situation; every table must define nodes or edges.
    database
        An empty database that no other connection reads.
    tag
        The tag of the situation; None for no tag. It is stored in the comment on the first node
        table, where queries on the graph cannot find it.

    Raises
    ------
    DataError
        The situation is not a graph, or the engine cannot store it.
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


def size(situation: Situation) -> int:
    """Return the approximate size of a situation in bytes."""
    arrays = [array for table in situation.tables.values() for array in table.columns.values()]
    return sum(sum(map(len, a.tolist())) if a.dtype == object else a.nbytes for a in arrays)


def _definition(rows: GraphRows) -> str:
    part = rows.part
    columns = [f"{quote_name(name)} {_TYPES[kind][0]}" for name, kind in rows.properties]
    if isinstance(part, EdgeSchema):
        ends = f"FROM {quote_name(part.source[0])} TO {quote_name(part.target[0])}"
        return f"CREATE REL TABLE {quote_name(part.label)} ({', '.join([ends, *columns])})"
    columns.append(f"PRIMARY KEY ({quote_name(part.key)})")
    return f"CREATE NODE TABLE {quote_name(part.label)} ({', '.join(columns)})"


def _copy(connection: ladybug.Connection, rows: GraphRows) -> None:
    if not len(rows):
        return
    # COPY matches columns by position, and two properties may use the same column.
    arrays = [pa.array(array, _TYPES[kind][1], from_pandas=True) for array, kind in rows.columns]
    table = pa.table(arrays, names=[f"column{number}" for number in range(len(arrays))])
    connection.execute(f"COPY {quote_name(rows.part.label)} FROM $rows", {"rows": table})


_MEBIBYTE = 1 << 20
_POOL = 256 * _MEBIBYTE
"""The maximum size of the buffer pool, which holds the data of statements."""
_LARGEST_POOL = 8 * _POOL
"""The maximum size of the pool for a file with very many tables."""
_ADDRESSES = 4_096 * _MEBIBYTE
"""The address space of a database. With the engine's default, a process can open only 14
databases."""


class LadybugFile(FileNamespaces):
    """A file with one situation, or a new file."""

    kind = "ladybug"
    tag = f"CALL show_tables() WHERE comment STARTS WITH '{TAG}' RETURN comment"

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> Ladybug:
        """Open a database in memory with a situation or the result of a script."""
        database = _new_database(":memory:", content)
        try:
            if content == "":
                pass  # opening the first database loads the engine's library
            elif isinstance(content, str):
                with ladybug.Connection(database) as connection:
                    connection.execute(content)
            else:
                write(content, database)
        except (RuntimeError, DataError) as error:
            database.close()
            raise refused_script("LadybugDB", error) from error
        return Ladybug(database, "temporary" if isinstance(content, str) else content.name)

    def open(self, namespace: str | None) -> Ladybug:  # noqa: ARG002
        """Open the file; raise `DataError` if it is damaged or of another version."""
        path = existing_file(self._path, "ladybug")
        addresses = max(_ADDRESSES, 1 << (4 * path.stat().st_size).bit_length())
        try:
            session = Ladybug(_opened(path, addresses), str(path))
        except RuntimeError as error:
            problem = one_line(error)
            if "lock" in problem:
                raise DatabaseUnavailableError(
                    f"'{path}' is in use by a process that writes to it: {problem}."
                ) from error
            raise DataError(f"'{path}' cannot be opened by this LadybugDB: {problem}.") from error
        session.file = path
        return session

    def _tag_values(self, rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Return the values of the tag, which is JSON in a comment."""
        tag = json.loads(rows[0][0].removeprefix(TAG))
        return [tag[name] for name in ("scenario", "name", "content_hash", "rows")]

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        # If the disk is full, the engine ends the whole process, so estimate the space first. The
        # factor is the result of a measurement.
        if shutil.disk_usage(path.parent).free < 2_000_000 + 64 * size(situation):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path.parent))
        with _new_database(path, situation) as database:
            write(situation, database, tag)


def _opened(path: Path, addresses: int) -> ladybug.Database:
    """Open a file with enough buffer memory for its tables, about a megabyte per table."""
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
