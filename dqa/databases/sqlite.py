"""Read-only SQLite databases: a file, or a situation in memory that all threads share.

Booleans are 0 and 1: a BOOLEAN column holds and shows them, and compares with TRUE and FALSE.
Declared foreign keys describe the data and are not enforced.

Every connection is opened read-only. Writing is also switched off in the session, and an authorizer
allows nothing but reading.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, DataError
from dqa.core.schema import DatabaseSchema, quoted
from dqa.core.situation import Situation, Table
from dqa.databases.catalogue import BROKEN, Catalogue
from dqa.databases.engine_session import Connection, EngineSession, EngineSettings, Result
from dqa.databases.errors import Fault, driver_reads, read_faults, refused_script
from dqa.databases.files import FileNamespaces, existing_file
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.rows import columns_of

if TYPE_CHECKING:
    from sqlalchemy import Executable
    from sqlalchemy import Table as SqlTable


_COMMENTED = re.compile(
    r"""^\s*("(?:[^"]|"")+"|`[^`]+`|\[[^\]]+\]|\w+)\s+\w   # a name, and the type after it
    [^\n',]*?(?:\([^\n')]*\)[^\n',]*?)?,?[ \t]*         # no text, and no other column
    --[ \t]*(\S.*?)\s*$""",
    re.VERBOSE | re.MULTILINE,
)


def _comments(statement: str) -> dict[str, str]:
    """Return comments by the column in lower case: ``name TYPE, -- comment`` on its own line."""
    found: dict[str, str] = {}
    for written, comment in _COMMENTED.findall(statement):
        is_quoted = written[0] in '"`['
        name = written[1:-1].replace(written[0] * 2, written[0]) if is_quoted else written
        found.setdefault(name.casefold(), " ".join(comment.split()))
    return found


_BUSY_SECONDS = 2.0
"""How long opening waits for a process that locks the file."""
_BUSY_SHARE = 0.8
"""Share of a statement's limit in which it waits for such a process."""
_LARGEST = 16_000_000
"""Bytes of the largest text or binary that a statement may build."""

_CODES: dict[Fault, str] = {
    Fault.STATEMENT: "OK ERROR ABORT TOOBIG CONSTRAINT MISMATCH EMPTY NOTFOUND FORMAT MISUSE RANGE "
    "NOTICE WARNING ROW DONE",
    Fault.REFUSED: "PERM AUTH READONLY",
    Fault.PASSING: "LOCKED SCHEMA PROTOCOL",
    Fault.SERVER: "BUSY CORRUPT NOTADB NOLFS IOERR_READ IOERR_SHORT_READ IOERR_LOCK IOERR_RDLOCK "
    "IOERR_FSTAT IOERR_ACCESS IOERR_SHMOPEN IOERR_SHMMAP",
    Fault.TIME: "INTERRUPT",
    Fault.MEMORY: "NOMEM IOERR_NOMEM",
}
"""Result codes, https://www.sqlite.org/rescode.html. Others are unclear, as those of temporary
files are."""
_FAULTS = {getattr(sqlite3, f"SQLITE_{name}"): fault for name, fault in read_faults(_CODES).items()}

_NOT_UNDERSTOOD = re.compile(r"^no such function|syntax error|^unrecognized token")
_TEXT = partial(str, encoding="utf-8", errors="surrogateescape")
"""Keeps the bytes of text that is not UTF-8."""

_READING = frozenset(
    {
        *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
        sqlite3.SQLITE_RECURSIVE,
    }
)
_OF_TABLES = frozenset(
    {
        *("foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo"),
        *("table_info", "table_list", "table_xinfo"),
    }
)
"""PRAGMAs that describe what their argument names."""
_OF_INDEXES = frozenset({"data_version", "page_size"})
"""PRAGMAs with which full-text and R-tree indexes read their own tables."""
_LOADING = frozenset({"load_extension", "fts3_tokenizer"})
_TABLE_FUNCTIONS = (
    *("json_each", "json_tree"),
    *(f"pragma_{name}" for name in sorted(_OF_TABLES)),
)
"""SQLite declares them at their first use, which the authorizer takes for a change of the schema.
So every connection uses them once before it has the authorizer."""
_VIRTUAL = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage = 0"
_MODULES = re.compile(r"\bUSING\s+(?:fts[345]|rtree(?:_i32)?|geopoly)\b", re.IGNORECASE)
"""Modules of SQLite that read nothing but their tables."""


class Sqlite(EngineSettings):
    """A SQLite database.

    Parameters
    ----------
    uri
        SQLite's URI of the database.
    """

    dialect = "sqlite"
    language = "SQL (SQLite)"
    errors = (sqlite3.Error,)
    trivial = "SELECT 1 FROM sqlite_master LIMIT 1"
    unknown = re.compile(r"no such (?:column|table): (.+)$")

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._text: Callable[[bytes], str] = str  # much faster, but only for UTF-8

    def connect(self) -> sqlite3.Connection:
        """Connect without the right to write."""
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
                # An older SQLite lacks some functions; a damaged index cannot be read.
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
        """Let a statement wait for other processes, but no longer than its limit."""
        wanted = round(limits.seconds * _BUSY_SHARE * 1_000)
        if connection.limits != wanted:
            driver = connection.driver
            driver.set_authorizer(None)
            try:
                driver.execute(f"PRAGMA busy_timeout = {wanted}")
            finally:
                driver.set_authorizer(_authorize)
            connection.limits = wanted

    def version(self, driver: Any) -> str:  # noqa: ANN401, ARG002
        """Return the name and version of the engine."""
        return f"SQLite {sqlite3.sqlite_version}"

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Explain an error by its code."""
        problem = str(error).rstrip(".")
        if problem.startswith("Could not decode"):
            self._text = _TEXT
            return Fault.PASSING, problem
        fault = fault_of(getattr(error, "sqlite_errorcode", 0))
        if fault is Fault.REFUSED or problem.startswith("not authorized"):
            return Fault.REFUSED, f"{problem}; this database can only be read"
        if fault is Fault.STATEMENT and _NOT_UNDERSTOOD.search(problem):
            fault = Fault.NOT_UNDERSTOOD
        return fault, problem

    def describe(self, driver: sqlite3.Connection) -> DatabaseSchema:
        """Read the tables and views one by one, and the foreign keys of all at once."""
        driver.text_factory = _TEXT
        columns: list[tuple[str, str, str, str, str | None]] = []
        keys: list[tuple[str, int, str]] = []
        broken: dict[str, list[str]] = {"table": [], "view": []}
        for table, kind, text in driver.execute(_RELATIONS).fetchall():
            comments = _comments(text or "") if kind == "table" else {}
            try:
                for name, type_, place in driver.execute(_COLUMNS, (table,)).fetchall():
                    columns.append(("", table, name, type_, comments.get(name.casefold())))
                    keys.extend([(table, place, name)] if place else [])
            except sqlite3.OperationalError as error:
                if kind == "table" and not str(error).startswith(_UNREADABLE):
                    raise  # the file is locked or damaged
                broken[kind].append(table)
        catalogue = Catalogue(
            columns=columns,
            keys=[("", table, name) for table, _, name in sorted(keys)],
            references=driver.execute(_LINKS).fetchall(),
            omitted={
                BROKEN: broken["view"],
                "virtual tables that this session cannot read": broken["table"],
            },
        )
        return catalogue.to_schema([""])


def open_sqlite(uri: str, name: str, keeper: sqlite3.Connection | None = None) -> EngineSession:
    """Open a database.

    Parameters
    ----------
    uri
        SQLite's URI of the database.
    name
        The name in messages.
    keeper
        A connection that keeps a database in memory alive; closed with the session.
    """
    on_close = keeper.close if keeper else lambda: None
    return EngineSession(Sqlite(uri), name, namespace="main", on_close=on_close)


def _matches(pattern: str, text: str | None) -> bool | None:
    """Return the value of ``text REGEXP pattern``."""
    return None if text is None else re.search(pattern, text) is not None


def _authorize(
    action: int, first: str | None, second: str | None, _schema: str | None, _trigger: str | None
) -> int:
    """Allow what reads. SQLite asks while it compiles a statement, before anything runs."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _LOADING
    elif action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        allowed = name in _OF_TABLES or (name in _OF_INDEXES and second is None)
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def fault_of(code: int) -> Fault:
    """Return the fault of a result code; its last eight bits are the primary code."""
    return _FAULTS.get(code) or _FAULTS.get(code & 0xFF, Fault.UNCLEAR)


# Shadow tables hold the content of virtual tables.
_RELATIONS = """
SELECT m.name, m.type, m.sql FROM sqlite_master m
LEFT JOIN pragma_table_list l ON l.schema = 'main' AND l.name = m.name
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite~_%' ESCAPE '~'
    AND l.type IS NOT 'shadow' ORDER BY m.name
"""
# Hidden by 1 are columns of virtual tables that `*` does not show.
_COLUMNS = "SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid"
# The last foreign key that is declared has number 0. One may name no columns of the other table.
_LINKS = """
SELECT '', m.name, f."from", '', f."table", coalesce(f."to", f.seq) FROM sqlite_master m
JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id DESC, f.seq
"""
_UNREADABLE = ("vtable constructor failed", "no such module", "not authorized")
"""Errors of a virtual table that this session cannot read."""


_numbers = count(1)


class SqliteFile(FileNamespaces):
    """A file that holds one situation, or is to hold one."""

    kind = "sqlite"

    @classmethod
    def open_in_memory(cls, content: Situation | str) -> EngineSession:
        """Write a situation, or run a script, in memory that all threads share."""
        # The memdb file system shares a database without the locks of SQLite's shared cache.
        uri = f"file:/dqa-{next(_numbers)}?vfs=memdb"
        keeper = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            if isinstance(content, str):
                keeper.executescript(content)
                keeper.commit()
            else:
                _write(keeper, content, None)
        except (sqlite3.Error, DataError) as error:
            keeper.close()
            raise refused_script("SQLite", error) from error
        name = "temporary" if isinstance(content, str) else content.name
        return open_sqlite(f"{uri}&mode=ro", name, keeper)

    def open(self, namespace: str | None) -> EngineSession:  # noqa: ARG002
        """Open the file; `DataError` for a damaged one."""
        existing_file(self._path, "sqlite")
        database = open_sqlite(_uri(self._path), str(self._path))
        database.file = self._path
        try:
            database.read_schema()
        except DatabaseUnavailableError as error:
            database.close()
            raise DataError(
                f"'{self._path}' cannot be read as an SQLite database: {error}"
            ) from error
        return database

    def _read_tag(self) -> LoadedSituation | None:
        try:
            with closing(sqlite3.connect(_uri(self._path), uri=True)) as connection:
                row = connection.execute(f"SELECT * FROM {TAG_TABLE}").fetchone()  # noqa: S608
        except sqlite3.Error:  # another database, or none
            return None
        return LoadedSituation(self.location, *row) if row else None

    def _write(self, situation: Situation, tag: LoadedSituation, path: Path) -> None:
        with closing(sqlite3.connect(":memory:")) as connection:
            _write(connection, situation, tag)
            path.write_bytes(connection.serialize())


def _write(
    connection: sqlite3.Connection, situation: Situation, tag: LoadedSituation | None
) -> None:
    from dqa.databases.tables import define_tables, plain_rows, quote, spelled, write_tables

    def fill(table: SqlTable, rows: Table) -> None:
        marks = ", ".join("?" * len(table.columns))
        insert = f"INSERT INTO {quote('sqlite', table.name)} VALUES ({marks})"  # noqa: S608
        connection.executemany(insert, plain_rows(rows))

    def run(statement: Executable) -> None:
        connection.execute(spelled(statement, "sqlite"))

    tables = define_tables(situation.schema, declares_links=True)
    with connection:
        write_tables(situation, tag, tables, dialect="sqlite", run=run, fill=fill)


def _uri(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"
