"""DuckDB: files, and situations in memory that all threads share.

Its own driver opens it and not SQLAlchemy, whose dialects for it know neither its streams nor its
interrupts; `duckdb_store` says how databases share a file.

Every statement runs in a read-only transaction, in a session that reaches no file, no network, no
extension and no Python object, and whose settings are locked. A situation's place in a file is a
schema of its own, and in memory it is all there is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from dqa.core.database import Database, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    RefusedStatementError,
    StatementError,
    UsageError,
)
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.situation import Situation
from dqa.databases import hints
from dqa.databases.base import Backend, Examination, Loaded, place_name
from dqa.databases.duckdb.store import Store, leave, said, store_of, taken_store
from dqa.databases.locations import existing_file, is_ours, new_or_existing_file
from dqa.databases.relational import (
    NotUnderstoodError,
    RelationalDatabase,
    taken,
    timed_out,
)
from dqa.databases.relational_writer import TAG_TABLE, in_the_way, tag_of
from dqa.databases.servers import require_driver
from dqa.databases.watchdog import WATCHDOG

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Statement

__all__ = ["BACKEND", "DuckdbBackend", "DuckdbDatabase"]

_SUFFIXES = (".duckdb", ".ddb")
_COLUMNS = (
    "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() "
    "WHERE schema_name = ? AND database_name = current_database() AND NOT internal "
    "ORDER BY table_name, column_index"
)
_CONSTRAINTS = (
    "SELECT table_name, constraint_type, constraint_column_names, referenced_table, "
    "referenced_column_names FROM duckdb_constraints() "
    "WHERE schema_name = ? AND database_name = current_database() ORDER BY constraint_index"
)
_PLACES = (
    "SELECT schema_name, bool_or(table_name = ?) FROM duckdb_tables() "
    "WHERE database_name = current_database() AND NOT internal GROUP BY ALL ORDER BY ALL"
)
_UNKNOWN = re.compile(
    r"(?:Catalog Error: Table with name (?P<table>\S+) does not exist"
    r'|Binder Error: .*?[Cc]olumn "?(?P<column>[^" ]+)"? (?:not found|that is not))'
)


class DuckdbDatabase(RelationalDatabase):
    """A read-only schema of a DuckDB database.

    Parameters
    ----------
    store
        Where it is; in use by this object from now on.
    place
        The schema.
    name
        What to call it.
    """

    language = "SQL (DuckDB)"

    def __init__(self, store: Store, place: str, name: str) -> None:
        super().__init__("duckdb", name)
        self._store = store
        self._place = place

    def close(self) -> None:
        """Leave the file to others; a database in memory is gone."""
        if not self._closed:
            super().close()
            leave(self._store)

    def _run(self, statement: str, limits: Limits) -> Rows:
        import duckdb

        self._refuse_if_closed()
        started = perf_counter()
        try:
            with (
                self._store.reading() as cursor,
                WATCHDOG.after(limits.seconds, cursor.interrupt),
            ):
                parsed = cursor.extract_statements(statement)
                if len(parsed) != 1 or not _is_query(parsed[0]):
                    raise RefusedStatementError(
                        "The statement was not run: it is not one query, and this database can "
                        "only be read."
                    )
                cursor.execute("BEGIN TRANSACTION READ ONLY")
                cursor.execute(f"USE {_quoted(self._place)}")
                cursor.execute(parsed[0])
                return taken(cursor, limits, started)  # type: ignore[arg-type]
        except duckdb.Error as error:
            raise self._meaning(error, limits) from error

    def _meaning(self, error: Exception, limits: Limits) -> DqaError:
        import duckdb

        problem = said(error)
        if isinstance(error, duckdb.InterruptException):
            return timed_out(limits)
        if isinstance(error, (duckdb.PermissionException, duckdb.TransactionException)):
            return RefusedStatementError(f"The statement was not run: {problem}.")
        if isinstance(error, (duckdb.IOException, duckdb.FatalException, duckdb.InternalException)):
            return DatabaseUnavailableError(f"Database '{self.name}' failed: {problem}.")
        unknown = _UNKNOWN.match(problem)
        if unknown is not None:
            name = unknown["table"] or unknown["column"]
            return StatementError(hints.with_tables(problem, name, self.schema()))
        not_understood = isinstance(error, (duckdb.ParserException, duckdb.CatalogException)) or (
            isinstance(error, duckdb.BinderException) and "No function matches" in problem
        )
        return (NotUnderstoodError if not_understood else StatementError)(f"{problem}.")

    def _read_schema(self) -> DatabaseSchema:
        import duckdb

        try:
            with self._store.reading() as cursor:
                columns = cursor.execute(_COLUMNS, [self._place]).fetchall()
                constraints = cursor.execute(_CONSTRAINTS, [self._place]).fetchall()
        except duckdb.Error as error:
            raise DatabaseUnavailableError(
                f"The schema of database '{self.name}' cannot be read: {said(error)}."
            ) from error
        return _schema(columns, constraints)


def _is_query(parsed: Statement) -> bool:
    import duckdb

    try:
        return parsed.type == duckdb.StatementType.SELECT
    except ValueError:  # the client has no name for some kinds, as UPDATE EXTENSIONS
        return False


def _schema(columns: list[Any], constraints: list[Any]) -> DatabaseSchema:
    from dqa.databases.duckdb.writer import REFERENCES

    fields: dict[str, list[Field]] = {}
    links: dict[str, list[tuple[str, str, str]]] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for table, name, kind, comment in columns:
        fields.setdefault(table, []).append(Field(name, kind))
        if comment is not None and comment.startswith(REFERENCES):
            other, _, other_column = comment.removeprefix(REFERENCES).partition(".")
            links.setdefault(table, []).append((name, other, other_column))
    for table, kind, names, other, others in constraints:
        if kind == "PRIMARY KEY":
            keys[table] = tuple(names)
        elif kind == "FOREIGN KEY":
            pairs = zip(names, others, strict=True)
            links.setdefault(table, []).extend((one, other, two) for one, two in pairs)
    return DatabaseSchema(
        tables=tuple(
            TableInfo(table, tuple(fields[table]), keys.get(table, ()), tuple(links.get(table, ())))
            for table in fields
            if table != TAG_TABLE
        )
    )


class DuckdbBackend:
    """Opens DuckDB files, and loads situations into schemas of them or into memory."""

    name = "duckdb"
    kind: Kind = "relational"
    dialect = "duckdb"
    embedded = True

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``duckdb:///`` URL, a DuckDB file, or named like one."""
        return is_ours(location.partition("?")[0], "duckdb", _SUFFIXES)

    def open(self, location: str) -> Database:
        """Open a schema of an existing file read-only.

        The schema is the one in ``duckdb:///file?schema=name``; without it ``main``, or the only
        situation where that is all there is.

        Raises
        ------
        UsageError
            There is no such file or schema, or the file has several and none is named.
        DataError
            The file is no DuckDB database.
        DatabaseUnavailableError
            Another process writes it.
        """
        require_driver("duckdb", "duckdb")
        where, wanted = _split(location)
        path = existing_file(where, "duckdb")
        with store_of(path) as store, store.reading() as cursor:
            places = [place for place, _ in cursor.execute(_PLACES, [TAG_TABLE]).fetchall()]
            place = _chosen(places, wanted, path)
            return DuckdbDatabase(taken_store(path), place, _named(path, place))

    def load(
        self, situation: Situation, location: str | None = None, replace: str | None = None
    ) -> Database:
        """Write a situation into memory, or into a schema of its own of a file, and open that.

        Raises
        ------
        UsageError
            The schema holds something else and `replace` does not name it, or the file cannot be
            made.
        DataError
            The situation breaks its keys, or the file is no DuckDB database.
        DatabaseUnavailableError
            Another process has the file open, or the disk is full.
        """
        require_driver("duckdb", "duckdb")
        from dqa.databases.duckdb import writer

        place = place_name(situation)
        tag = tag_of(situation, place)
        if location is None:
            memory = Store(None)
            memory.users = 1
            with memory.writing() as connection:
                writer.write(connection, tag, situation)
            return DuckdbDatabase(memory, place, situation.name)
        path = new_or_existing_file(_split(location)[0], "duckdb")
        with store_of(path) as store, _failures(path):
            if not (path.exists() and _is_there(store, tag)):
                with store.writing() as connection:
                    _write(connection, tag, situation, replace)
            return DuckdbDatabase(taken_store(path), place, _named(path, place))

    def loaded(self, location: str) -> tuple[Loaded, ...]:
        """List the situations that a file holds, by place."""
        require_driver("duckdb", "duckdb")
        path = existing_file(_split(location)[0], "duckdb")
        with store_of(path) as store, store.reading() as cursor:
            found = cursor.execute(_PLACES, [TAG_TABLE]).fetchall()
            held = [_held(cursor, place) for place, tagged in found if tagged]
        return tuple(each for each in held if isinstance(each, Loaded))

    def examine(self, location: str | None = None) -> Examination:
        """Connect and look: `DqaError` says what is wrong with the file."""
        require_driver("duckdb", "duckdb")
        import duckdb

        version = f"DuckDB {duckdb.__version__}"
        if location is None:
            return Examination(version)
        path = existing_file(_split(location)[0], "duckdb")
        with store_of(path) as store, store.reading():
            return Examination(version, may_write=os.access(path, os.W_OK))

    def unload(self, location: str, place: str) -> Loaded:
        """Drop a schema and return what it held; `UsageError` where it holds no situation."""
        require_driver("duckdb", "duckdb")
        path = existing_file(_split(location)[0], "duckdb")
        with store_of(path) as store, _failures(path), store.writing() as connection:
            held = _held(connection, place)
            if not isinstance(held, Loaded):
                raise UsageError(f"'{place}' in {path} holds no situation.")
            _drop(connection, place)
            return held


def _write(
    connection: DuckDBPyConnection, tag: Loaded, situation: Situation, replace: str | None
) -> None:
    from dqa.databases.duckdb import writer

    held = _held(connection, tag.place)
    if isinstance(held, Loaded) and held.content_hash == tag.content_hash:
        return
    if held is not None:
        if replace != tag.place:
            what = held if isinstance(held, str) else f"situation '{held.name}'"
            raise in_the_way(tag.place, what)
        _drop(connection, tag.place)
    writer.write(connection, tag, situation)


def _is_there(store: Store, tag: Loaded) -> bool:
    """Whether a file holds a situation, found out without keeping others from it."""
    try:
        existing_file(str(store.path), "duckdb")
    except DataError as error:
        raise UsageError(f"{error} Nothing is overwritten; name another file.") from error
    with store.reading() as cursor:
        held = _held(cursor, tag.place)
    return isinstance(held, Loaded) and held.content_hash == tag.content_hash


def _held(connection: DuckDBPyConnection, place: str) -> Loaded | str | None:
    """Return what a schema holds: a situation, something else in words, or None: nothing at all."""
    exists = connection.execute(
        "SELECT 1 FROM duckdb_schemas() WHERE schema_name = ? "
        "AND database_name = current_database()",
        [place],
    ).fetchone()
    if exists is None:
        return None
    tagged = connection.execute(
        "SELECT 1 FROM duckdb_tables() WHERE schema_name = ? AND table_name = ?", [place, TAG_TABLE]
    ).fetchone()
    if tagged is None:
        return "tables that are not of this project"
    tag = connection.execute(
        f"SELECT scenario, name, content_hash, row_count FROM {_quoted(place)}.{TAG_TABLE}"  # noqa: S608
    ).fetchone()
    return "a tag without a situation" if tag is None else Loaded(place, *tag)


def _drop(connection: DuckDBPyConnection, place: str) -> None:
    connection.execute(f"DROP SCHEMA {_quoted(place)} CASCADE")


@contextmanager
def _failures(path: Path) -> Iterator[None]:
    """Say what the engine's errors mean to who loads."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise DatabaseUnavailableError(f"'{path}' cannot be written: {said(error)}.") from error


def _chosen(places: list[str], wanted: str | None, path: Path) -> str:
    if wanted is not None:
        if wanted not in [*places, "main"]:
            raise UsageError(f"'{path}' has no schema '{wanted}'. It has: {', '.join(places)}.")
        return wanted
    if "main" in places or not places:
        return "main"
    if len(places) > 1:
        raise UsageError(
            f"'{path}' has several schemas; append one, as in duckdb:///{path}?schema={places[0]}. "
            f"It has: {', '.join(places[:20])}."
        )
    return places[0]


def _split(location: str) -> tuple[str, str | None]:
    """Return what names the file, and the schema named with it."""
    where, _, query = location.partition("?")
    return where, next(iter(parse_qs(query).get("schema", [])), None)


def _named(path: Path, place: str) -> str:
    return str(path) if place == "main" else f"duckdb:///{path}?schema={place}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


BACKEND: Backend = DuckdbBackend()
