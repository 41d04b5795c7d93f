"""LadybugDB's namespaces: a file each, with the tag in a comment; and situations in memory.

A situation is written by one COPY from Arrow per label, all in one transaction.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import ladybug
import pyarrow as pa

from dqa.core.cypher import quote_name, quote_text
from dqa.core.errors import DatabaseUnavailableError, DataError, UsageError
from dqa.core.situation import EdgeSchema, NodeSchema, Situation, StoredType, TableSchema
from dqa.databases.errors import refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.ladybug.session import TAG, LadybugSession
from dqa.databases.namespaces import (
    LoadedSituation,
    no_graph,
    require_graph,
    tag_from_json,
    tag_to_json,
)

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
    require_graph(situation)
    schema = situation.schema
    with ladybug.Connection(database, num_threads=1) as connection:
        connection.execute("BEGIN TRANSACTION")
        try:
            for node in schema.nodes:
                columns = _declared(node.properties, schema.table(node.table))
                columns.append(f"PRIMARY KEY ({quote_name(node.key)})")
                label = quote_name(node.label)
                connection.execute(f"CREATE NODE TABLE {label} ({', '.join(columns)})")
                _copy(connection, situation, node, node.properties)
            for edge in schema.edges:
                columns = _declared(edge.properties, schema.table(edge.table))
                joined = f"FROM {quote_name(edge.source[0])} TO {quote_name(edge.target[0])}"
                columns.insert(0, joined)
                label = quote_name(edge.label)
                connection.execute(f"CREATE REL TABLE {label} ({', '.join(columns)})")
                ends = (("from", edge.source[1]), ("to", edge.target[1]))
                _copy(connection, situation, edge, (*ends, *edge.properties))
            if tag is not None:
                comment = TAG + tag_to_json(tag)
                label = quote_name(schema.nodes[0].label)
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
    return tag_from_json(namespace, tags[0]) if tags else None


def size(situation: Situation) -> int:
    """Return the approximate bytes of the situation's values."""
    return sum(
        sum(map(len, array.tolist())) if array.dtype == object else array.nbytes
        for table in situation.tables.values()
        for array in table.columns.values()
    )


def _declared(properties: Iterable[tuple[str, str]], table: TableSchema) -> list[str]:
    return [
        f"{quote_name(name)} {_TYPES[table.column(column).stored]}" for name, column in properties
    ]


def _copy(
    connection: ladybug.Connection,
    situation: Situation,
    part: NodeSchema | EdgeSchema,
    columns: Iterable[tuple[str, str]],
) -> None:
    table = situation[part.table]
    if not len(table):
        return
    # COPY goes by position, and two properties may come from one column.
    arrays = [
        pa.array(table[column], _ARROW[table.schema.column(column).stored], from_pandas=True)
        for _, column in columns
    ]
    rows = pa.table(arrays, names=[f"column{number}" for number in range(len(arrays))])
    connection.execute(f"COPY {quote_name(part.label)} FROM $rows", {"rows": rows})


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
    def start(cls) -> None:
        """Open a database in memory for a moment.

        The first one loads the engine's library, and another thread must not open one meanwhile.
        """
        ladybug.Database(":memory:").close()

    @classmethod
    def engine_version(cls) -> str:
        """Return LadybugDB's version."""
        return f"LadybugDB {ladybug.__version__}"

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> LadybugSession:
        """Write a situation, or run a script, in memory."""
        database = _new_database(":memory:", content)
        try:
            if isinstance(content, str):
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
