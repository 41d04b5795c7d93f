"""LadybugDB, the embedded graph database: files, and situations in memory.

A file is opened read-only. In memory every statement runs in a read-only transaction of its own.
Statements are prepared before they run, because the engine prepares one statement only. What this
second line does not stop is reading and writing files by COPY and LOAD: the engine has no setting
that would, so that is the guard's. The engine looks at the clock, and at interrupts, between
batches of rows only, and the memory of one list is not its buffer pool's: ``range(1, 100000000)``
takes two seconds and 800 MB whatever the limits.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import ladybug

from dqa import guard
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo
from dqa.core.situation import Situation
from dqa.databases import hints
from dqa.databases.base import Backend, Examination, Loaded
from dqa.databases.bounded import collect
from dqa.databases.gate import Gate
from dqa.databases.locations import existing_file, is_ours, new_or_existing_file
from dqa.databases.relational_writer import in_the_way, tag_of

__all__ = ["BACKEND", "LadybugBackend", "LadybugDatabase"]

_SUFFIXES = (".lbug", ".lbdb", ".ladybug", ".kuzu")
_MEBIBYTE = 1 << 20
_POOL = 256 * _MEBIBYTE
"""Buffer pool: bounds what statements may hold in memory; taken only as it is used."""
_ADDRESSES = 4_096 * _MEBIBYTE
"""Address space of a database. The engine's own default leaves room for 14 in a process."""
_DESCRIBING = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0)

_UNKNOWN = re.compile(
    r"Cannot find property (?P<property>.+) for .+"
    r"|Table (?P<table>.+) does not exist"
)
_WRITING = (
    "Can not execute a write query inside a read-only transaction",
    "Connection exception: Cannot execute write operations in a read-only database",
)
_INTERNAL = frozenset({"_ID", "_SRC", "_DST"})


class _OutOfMemoryError(StatementError):
    """The buffer pool had no room left."""


class LadybugDatabase:
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
        self.name = name
        self._database = database
        self._gate = Gate()
        self._idle: deque[ladybug.Connection] = deque()
        self._schema: DatabaseSchema | None = None
        self._closed = False

    def schema(self) -> DatabaseSchema:
        """Return node labels and relationship types with their properties; read once."""
        if self._schema is None:
            # In the order in which they were made, which a file does not list them in.
            tables = self._described("CALL show_tables() RETURN name, type ORDER BY id")
            names = {kind: [str(n) for n, k in tables if k == kind] for kind in ("NODE", "REL")}
            self._schema = DatabaseSchema(
                nodes=tuple(self._node(label) for label in names["NODE"]),
                edges=tuple(edge for label in names["REL"] for edge in self._edges(label)),
            )
        return self._schema

    def query(self, statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`."""
        guard.require(statement, self.dialect)
        return self._run(statement, limits)

    def close(self) -> None:
        """Close all connections; a database in memory is gone."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        self._database.close()

    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        All statements share one buffer pool, so one may fail for what its neighbours hold. Such a
        statement is run again alone, and fails only for what it needs itself.
        """
        try:
            with self._gate.together():
                return self._run_once(statement, limits)
        except _OutOfMemoryError:
            with self._gate.alone():
                try:
                    return self._run_once(statement, limits)
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
                raise self._translated(error, limits) from error
            # A list comes back for several statements only, which cannot be prepared.
            with result if isinstance(result, ladybug.QueryResult) else result[0] as rows:
                names = rows.get_column_names()
                if not names:
                    raise StatementError("The statement returned no rows; write a query.")
                return collect(names, rows, limits, started, _without_ids)  # type: ignore[arg-type]

    @contextmanager
    def _connection(self) -> Iterator[ladybug.Connection]:
        """Lend a connection to one thread, in a read-only transaction where memory needs one."""
        if self._closed:
            raise DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")
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

    def _translated(self, error: RuntimeError, limits: Limits) -> DqaError:
        problem = " ".join(str(error).split()).rstrip(".")
        if problem == "Interrupted":
            return StatementTimeoutError(
                f"The statement was stopped after {limits.seconds:g} seconds. Write one that "
                "reads less: connect the patterns, filter earlier, bound path lengths."
            )
        if problem.startswith(_WRITING):
            return RefusedStatementError(f"The statement was not run: {problem}.")
        if problem.startswith("Buffer manager exception"):
            return _OutOfMemoryError(
                "The statement needs more memory than it may have; aggregate, filter or use LIMIT."
            )
        if problem.startswith(("IO exception", "Storage exception")):
            return DatabaseUnavailableError(f"Database '{self.name}' failed: {problem}.")
        problem = problem.removeprefix("Binder exception: ")
        unknown = _UNKNOWN.search(problem)
        if unknown is not None:
            name = unknown["property"] or unknown["table"]
            return StatementError(hints.with_properties(problem, name, self.schema()))
        return StatementError(f"{problem}.")

    def _described(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        # Not through the gate: error messages ask for the schema while their thread is inside.
        return self._run_once(statement, _DESCRIBING).rows

    def _node(self, label: str) -> NodeInfo:
        rows = self._described(f"CALL table_info({_text(label)}) RETURN name, type, `primary key`")
        key = next((name for name, _, is_key in rows if is_key), None)
        return NodeInfo(label, tuple(Field(name, kind) for name, kind, _ in rows), key)

    def _edges(self, label: str) -> Iterator[EdgeInfo]:
        rows = self._described(f"CALL table_info({_text(label)}) RETURN name, type")
        ends = self._described(
            f"CALL show_connection({_text(label)}) "
            "RETURN `source table name`, `destination table name`"
        )
        for source, target in ends:
            yield EdgeInfo(label, source, target, tuple(Field(name, kind) for name, kind in rows))


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _without_ids(value: Any) -> Any:  # noqa: ANN401
    """Drop the engine's internal ids from nodes, relationships and paths."""
    if isinstance(value, dict):
        return {key: _without_ids(item) for key, item in value.items() if key not in _INTERNAL}
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    return value


class LadybugBackend:
    """Opens LadybugDB files, and loads situations into new ones or into memory."""

    name = "ladybug"
    kind: Kind = "graph"
    dialect = "ladybug"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``ladybug:///`` URL, a LadybugDB file, or named like one."""
        return is_ours(location, "ladybug", _SUFFIXES)

    def open(self, location: str) -> Database:
        """Open an existing file read-only.

        Raises
        ------
        UsageError
            There is no such file.
        DataError
            The file is no LadybugDB database, or one of another version.
        DatabaseUnavailableError
            Another process is writing to it.
        """
        path = existing_file(location, "ladybug")
        return LadybugDatabase(_opened(path), str(path))

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into memory, or into a file of its own, and open that read-only.

        A file is a place: `replace` names it as `location` does.

        Raises
        ------
        UsageError
            Something else is at `location` and `replace` does not name it, or its folder is
            missing.
        DataError
            The situation does not read as a graph.
        """
        from dqa.databases.ladybug.writer import size, write, write_file

        def create(where: Path | str) -> ladybug.Database:
            pool = max(_POOL, 16 * size(situation))
            return ladybug.Database(where, buffer_pool_size=pool, max_db_size=_ADDRESSES)

        if location is not None:
            path = new_or_existing_file(location, "ladybug")
            tag = tag_of(situation, str(path))
            if not _is(_held(path), tag):
                named = replace is not None and _same(replace, path)
                try:
                    write_file(situation, path, tag, create, named)
                except FileExistsError:
                    held = _held(path)  # perhaps what another has just loaded
                    if not _is(held, tag):
                        what = f"situation '{held.name}'" if held else "what is not of this project"
                        raise in_the_way(str(path), what) from None
            return self.open(str(path))
        database = create(":memory:")
        try:
            write(situation, database)
        except BaseException:
            database.close()
            raise
        return LadybugDatabase(database, situation.name)

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """Return the situation that the file holds, if it holds one."""
        held = _held(existing_file(location, "ladybug"))
        return (held,) if held is not None else ()

    def examine(self, location: str | None = None) -> Examination:
        """Open and look: `DqaError` says what is wrong with the file."""
        version = f"LadybugDB {ladybug.__version__}"
        if location is None:
            return Examination(version)
        with closing(self.open(location)):
            path = existing_file(location, "ladybug")
            return Examination(version, may_write=os.access(path, os.W_OK))

    def unload(self, location: str, place: str) -> Loaded:
        """Delete a file and return what it held; `UsageError` where it holds no situation."""
        path = existing_file(location, "ladybug")
        held = _held(path)
        if held is None or not _same(place, path):
            raise UsageError(f"'{place}' in {path} holds no situation.")
        path.unlink()
        return held


def _opened(path: Path) -> ladybug.Database:
    addresses = max(_ADDRESSES, 1 << (4 * path.stat().st_size).bit_length())
    try:
        return ladybug.Database(path, read_only=True, buffer_pool_size=_POOL, max_db_size=addresses)
    except RuntimeError as error:
        problem = " ".join(str(error).split()).rstrip(".")
        if "lock" in problem:
            raise DatabaseUnavailableError(
                f"'{path}' is in use by a process that writes to it: {problem}."
            ) from error
        raise DataError(f"'{path}' cannot be opened by this LadybugDB: {problem}.") from error


def _held(path: Path) -> Loaded | None:
    """Return the situation that a file holds; None where there is none of this project's in it."""
    from dqa.databases.ladybug.writer import read_tag

    try:
        existing_file(str(path), "ladybug")
        with _opened(path) as database:
            return read_tag(database, str(path))
    except (UsageError, DataError):
        return None


def _is(held: Loaded | None, tag: Loaded) -> bool:
    return held is not None and held.content_hash == tag.content_hash


def _same(place: str, path: Path) -> bool:
    return Path(place.removeprefix("ladybug:///")).resolve() == path.resolve()


BACKEND: Backend = LadybugBackend()
