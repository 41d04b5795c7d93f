"""Read-only SQLite databases in a file or in memory.

A BOOLEAN column contains 0 and 1, which statements can compare with TRUE and FALSE. Foreign keys
are declared but not enforced.

Every connection is opened read-only. In addition, the session sets PRAGMA query_only, and SQLite's
authorizer callback allows only reading.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.core.schema import DatabaseSchema, quoted
from dqa.databases.catalogue import BROKEN, Relation, schema_of
from dqa.databases.engine_session import Connection, EngineSession, Result
from dqa.databases.errors import Fault, driver_reads, read_faults, refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.namespaces import LoadedSituation
from dqa.databases.rows import columns_of

if TYPE_CHECKING:
    from dqa.core.situation import Situation, Table


_BUSY_SECONDS = 2.0
"""The maximum number of seconds to wait for a file that another process has locked."""
_BUSY_SHARE = 0.8
"""A statement may spend this share of its time limit waiting for a locked file."""
_LARGEST = 16_000_000
"""The maximum size in bytes of a text or BLOB."""

_NOT_UNDERSTOOD = re.compile(r"^no such function|syntax error|^unrecognized token")
_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
"""Decodes text; bytes that are not UTF-8 become surrogates."""

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_OF_TABLES = frozenset(
    {
        *("foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo"),
        *("table_info", "table_list", "table_xinfo"),
    }
)
"""PRAGMAs that describe the table or index in their argument."""
_OF_INDEXES = frozenset({"data_version", "page_size"})
"""PRAGMAs that full-text and R-tree indexes use to read their own tables."""
_WAIT = "busy_timeout"
"""The only PRAGMA that the session itself uses. It only changes how long to wait for a locked
file."""
_LOADING = frozenset({"load_extension", "fts3_tokenizer"})
_TABLE_FUNCTIONS = ("json_each", "json_tree", *(f"pragma_{name}" for name in sorted(_OF_TABLES)))
"""Table functions that SQLite declares at their first use.

The authorizer would refuse the declaration as a change of the schema, so every connection uses the
functions before it sets the authorizer.
"""
_VIRTUAL = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage = 0"
_MODULES = re.compile(r"\bUSING\s+(?:fts[345]|rtree(?:_i32)?|geopoly)\b", re.IGNORECASE)
"""Matches the definition of a virtual table whose module only reads the module's own tables."""


class Sqlite(EngineSession):
    """A SQLite database.

    Parameters
    ----------
    uri
        SQLite's URI of the database.
    name
        The name in messages.
    on_close
        Releases a database in memory.
    """

    dialect = "sqlite"
    language = "SQL (SQLite)"
    errors = (sqlite3.Error,)
    trivial = "SELECT 1 FROM sqlite_master LIMIT 1"
    unknown = re.compile(r"no such (?:column|table): (.+)$")

    def __init__(self, uri: str, name: str, on_close: Callable[[], object] = lambda: None) -> None:
        super().__init__(name, namespace="main", on_close=on_close)
        self._uri = uri
        # `str` is much faster than `_TEXT`, but fails for text that is not UTF-8.
        self._text: Callable[[bytes], str] = str

    def connect(self) -> sqlite3.Connection:
        """Connect read-only."""
        connection = sqlite3.connect(self._uri, _BUSY_SECONDS, uri=True, check_same_thread=False)
        try:
            connection.text_factory = _TEXT
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.create_function("regexp", 2, _matches, deterministic=True)
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            virtual = connection.execute(_VIRTUAL).fetchall()  # fails if the file is locked
            tables = [quoted(name, '"') for name, text in virtual if _MODULES.search(text or "")]
            for name in (*_TABLE_FUNCTIONS, *tables):
                # Old versions of SQLite lack some functions, and a damaged index cannot be read.
                with suppress(sqlite3.DatabaseError, UnicodeError):
                    connection.execute(f"SELECT 1 FROM {name} LIMIT 0").fetchall()  # noqa: S608
            connection.set_authorizer(_authorize)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run a statement."""
        driver: sqlite3.Connection = connection.driver
        cursor = driver.cursor()
        driver.text_factory = self._text
        try:
            with driver_reads():
                cursor.execute(statement)
            yield Result(columns_of(cursor), cursor)
        finally:
            cursor.close()

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Let a statement wait for a locked file within its time limit."""
        wait = round(limits.seconds * _BUSY_SHARE * 1_000)
        connection.driver.execute(f"PRAGMA {_WAIT} = {wait}")

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by its code."""
        problem = str(error).rstrip(".")
        if problem.startswith("Could not decode"):
            self._text = _TEXT
            return Fault.PASSING, problem
        fault = fault_of(getattr(error, "sqlite_errorname", "SQLITE_OK"))
        if fault is Fault.REFUSED or problem.startswith("not authorized"):
            return Fault.REFUSED, f"{problem}; this database is read-only"
        if fault is Fault.STATEMENT and _NOT_UNDERSTOOD.search(problem):
            fault = Fault.NOT_UNDERSTOOD
        return fault, problem

    def describe(self, driver: sqlite3.Connection) -> DatabaseSchema:
        """Read each table and view, and then all foreign keys with one query."""
        driver.text_factory = _TEXT
        relations: dict[str, Relation] = {}
        for table, kind in driver.execute(_RELATIONS).fetchall():
            relations[table] = relation = Relation("", table)
            try:
                columns = driver.execute(_COLUMNS, (table,)).fetchall()
            except sqlite3.OperationalError as error:
                if kind == "table" and not str(error).startswith(_UNREADABLE):
                    raise  # the file is locked or damaged
                relation.omitted = BROKEN if kind == "view" else _VIRTUAL_TABLES
                continue
            for name, type_, _ in columns:
                relation.add(name, type_)
            key_columns = sorted((position, name) for name, _, position in columns if position)
            relation.key = [name for _, name in key_columns]
        for table, *link in driver.execute(_LINKS):
            if table in relations:  # a table with the name of a shadow table is missing
                relations[table].links.append(tuple(link))
        return schema_of(relations.values(), [""])


def _matches(pattern: str, text: str | None) -> bool | None:
    """Return the value of ``text REGEXP pattern``."""
    return None if text is None else re.search(pattern, text) is not None


def _authorize(
    action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None
) -> int:
    """Allow only reading; SQLite calls this function before a statement runs."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _LOADING
    elif action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        allowed = name in {*_OF_TABLES, _WAIT} or (name in _OF_INDEXES and second is None)
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def fault_of(code: str) -> Fault:
    """Return the `Fault` for a code such as SQLITE_IOERR_READ, whose primary code is IOERR."""
    faults, name = read_faults("sqlite"), code.removeprefix("SQLITE_")
    return faults.get(name) or faults.get(name.partition("_")[0], Fault.UNCLEAR)


# Shadow tables contain the data of virtual tables.
_RELATIONS = """
SELECT m.name, m.type FROM sqlite_master m
LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = m.name
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~'
    AND l.type IS NOT 'shadow' ORDER BY m.name
"""
# The value 1 of `hidden` marks columns of virtual tables that `*` does not return.
_COLUMNS = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid"
# SQLite numbers foreign keys from the last declared key to the first. A key may lack the names of
# the referenced columns.
_LINKS = """
SELECT m.name, f."from", '', f."table", coalesce(f."to", f.seq) FROM sqlite_master m
JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id DESC, f.seq
"""
_VIRTUAL_TABLES = "virtual tables that this session cannot read"
_UNREADABLE = ("vtable constructor failed", "no such module", "not authorized")
"""Errors of virtual tables that this session cannot read."""


_numbers = count(1)


class SqliteFile(FileNamespaces):
    """A file with one situation, or a new file."""

    kind = "sqlite"

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> Sqlite:
        """Open a database in memory with a situation or the result of a script."""
        # The memdb file system shares a database between connections without table locks.
        uri = f"file:/dqa-{next(_numbers)}?vfs=memdb"
        anchor = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            if isinstance(content, str):
                anchor.executescript(content)
                anchor.commit()
            else:
                _write(anchor, content, None)
        except (sqlite3.Error, DataError, ValueError) as error:
            anchor.close()
            raise refused_script("SQLite", error) from error
        name = "temporary" if isinstance(content, str) else content.name
        return Sqlite(f"{uri}&mode=ro", name, on_close=anchor.close)

    def open(self, namespace: str | None) -> Sqlite:  # noqa: ARG002
        """Open the file; raise `DataError` if it is damaged."""
        existing_file(self._path, "sqlite")
        database = Sqlite(_uri(self._path), str(self._path))
        database.file = self._path
        try:
            database.run(database.trivial, Limits())
        except DatabaseUnavailableError as error:
            database.close()
            raise DataError(
                f"'{self._path}' cannot be read as an SQLite database: {error}"
            ) from error
        return database

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            _write(connection, situation, tag)
            path.write_bytes(connection.serialize())


def _write(
    connection: sqlite3.Connection, situation: Situation, tag: LoadedSituation | None
) -> None:
    from dqa.databases.tables import write_situation

    def fill(table: str, rows: Table) -> None:
        marks = ", ".join("?" * len(rows.columns))
        # SQLite stores NaN as NULL.
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows.rows())  # noqa: S608

    with connection:
        write_situation(situation, tag, "sqlite", run=connection.executescript, fill=fill)


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"
