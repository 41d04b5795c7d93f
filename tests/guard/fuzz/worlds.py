"""Real databases without a read-only session, which report the effects of a statement."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, Protocol

import duckdb
import ladybug

from dqa.guard.check import Refusal
from dqa.guard.cypher import judge
from dqa.guard.policy import Policy

_INSIDE = Policy(inside="only here")
_SECONDS = 0.3
"""The time limit of a statement; most take less than a millisecond."""


class World(Protocol):
    """A small database on which any statement can run."""

    def run(self, statement: str) -> str | None:
        """Run a statement and return an effect other than reading, or None."""
        ...

    def content(self) -> str:
        """Return a hash of the database and its folder."""
        ...


_TABLES = (
    "CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER, d TEXT, x REAL, y REAL, j TEXT, k TEXT)",
    "CREATE TABLE u (a INTEGER, b INTEGER, c INTEGER, d TEXT, id INTEGER)",
    "INSERT INTO t VALUES (1, 2, 3, '2024-01-01', 1.5, 2.5, '{\"a\": 1}', 'it')",
    "INSERT INTO t VALUES (2, 3, 4, '2024-02-01', 2.5, 3.5, '[1]', 'x')",
    "INSERT INTO u VALUES (1, 2, 3, 'x', 1), (2, 3, 4, 'y', 2)",
    "CREATE VIEW v AS SELECT a, b FROM t",
)


def _hash(*parts: object) -> str:
    files = sorted((str(path), path.stat().st_size) for path in Path().rglob("*"))
    return hashlib.sha256(repr((parts, files)).encode()).hexdigest()


class SqliteWorld:
    """SQLite, whose authorizer reports the actions of a statement."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        for statement in _TABLES:
            self._connection.execute(statement)
        self._did: set[tuple[int, str | None]] = set()
        self._steps = 0
        self._connection.set_authorizer(self._note)
        self._connection.set_progress_handler(self._step, 10_000)

    def _note(self, action: int, name: str | None, *_more: str | None) -> int:
        self._did.add((action, name))
        return sqlite3.SQLITE_OK

    def _step(self) -> bool:
        self._steps += 1
        return self._steps > 100

    def run(self, statement: str) -> str | None:
        self._did.clear()
        self._steps = 0
        with suppress(sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, UnicodeError):
            self._connection.execute(statement).fetchmany(50)
        reading = {
            *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION),
            *(sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_PRAGMA),
        }
        # A virtual table is declared at its first use, before the statement runs.
        declaring = {
            *(sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_CREATE_TABLE),
            *(sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE),
        }
        wrong = [
            (action, name)
            for action, name in self._did
            if action not in reading
            and not (action in declaring and (name or "").startswith(("sqlite_", "pragma_", "x")))
        ]
        return f"authorizer saw {sorted(wrong, key=str)}" if wrong else None

    def content(self) -> str:
        self._steps = -1_000
        pragmas = [
            self._connection.execute(f"PRAGMA {name}").fetchall()
            for name in ("user_version", "application_id", "query_only")
        ]
        # Reading a setting of "temp" creates that empty database.
        listed = self._connection.execute("PRAGMA database_list").fetchall()
        pragmas.append([row for row in listed if row[1] != "temp"])
        return _hash(list(self._connection.iterdump()), pragmas)


class DuckdbWorld:
    """DuckDB, which reports the kind of a statement."""

    _KINDS = frozenset({"SELECT", "EXPLAIN", "PRAGMA", "MULTI", "RELATION"})

    def __init__(self) -> None:
        self._connection = duckdb.connect(
            ":memory:", config={"threads": 1, "memory_limit": "300MB"}
        )
        for statement in _TABLES:
            self._connection.execute(statement)
        self._connection.execute("CREATE SEQUENCE s")

    def run(self, statement: str) -> str | None:
        cursor = self._connection.cursor()
        timer = Timer(_SECONDS, cursor.interrupt)
        timer.start()
        try:
            statements = cursor.extract_statements(statement)
            if len(statements) != 1:
                return f"{len(statements)} statements"
            kind = str(statements[0].type).rpartition(".")[-1]
            if kind not in self._KINDS:
                return f"a statement of kind {kind}"
            cursor.execute(statements[0]).fetchmany(50)
        except (duckdb.Error, RuntimeError, ValueError, OverflowError, UnicodeError):
            pass
        finally:
            timer.cancel()
            cursor.close()
        return None

    def content(self) -> str:
        return _hash(*(self._connection.execute(one).fetchall() for one in self._ALL))

    _ALL = (
        "FROM t ORDER BY ALL",
        "FROM u ORDER BY ALL",
        "SELECT table_name FROM information_schema.tables ORDER BY ALL",
        "SELECT sequence_name, last_value FROM duckdb_sequences() ORDER BY ALL",
    )


class LadybugWorld:
    """LadybugDB."""

    def __init__(self) -> None:
        self._database = ladybug.Database(":memory:", buffer_pool_size=64 << 20)
        self._connection = ladybug.Connection(self._database, num_threads=1)
        self._connection.set_query_timeout(int(_SECONDS * 1_000))
        for statement in (
            "CREATE NODE TABLE City(name STRING PRIMARY KEY, population INT64, area DOUBLE)",
            "CREATE REL TABLE Road(FROM City TO City, km INT64)",
            "CREATE (:City {name: 'a', population: 1}), (:City {name: 'b', population: 2})",
            "MATCH (a:City {name: 'a'}), (b:City {name: 'b'}) CREATE (a)-[:Road {km: 3}]->(b)",
        ):
            self._connection.execute(statement)

    def run(self, statement: str) -> str | None:
        try:
            results = self._connection.execute(statement)
        except RuntimeError:
            return None
        if isinstance(results, list):
            return f"{len(results)} statements"
        results.get_n(20)
        results.close()
        return None

    def content(self) -> str:
        return _hash(*(self._rows(statement) for statement in self._ALL))

    _ALL = (
        "MATCH (n:City) RETURN n.name, n.population, n.area ORDER BY n.name",
        "MATCH (a)-[r:Road]->(b) RETURN a.name, r.km, b.name ORDER BY r.km",
        "CALL show_tables() RETURN name, type ORDER BY name",
    )

    def _rows(self, statement: str) -> list[object]:
        results: Any = self._connection.execute(statement)
        return list(results.get_all())


_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.DOTALL
)
_WRITES = re.compile(
    r"(?:^|(?P<before>[\w$]+)|[)\]}0-9])\s*"
    r"(?<![\w$.:|&!$@])\b(?:CREATE|MERGE|DELETE|DETACH|SET|REMOVE|FOREACH|LOAD|COPY|DROP|INSERT)\b"
    r"(?=\s*[\w($])",
    re.IGNORECASE,
)
_EXPECTS_A_VALUE = re.compile(
    "(?i:AND|OR|XOR|NOT|AS|IN|BY|WHERE|RETURN|WITH|DISTINCT|UNWIND|WHEN|THEN|ELSE|CASE|SKIP|LIMIT|"
    "OFFSET|CONTAINS|YIELD|IS|FROM|OR|ON|JOIN|CALL|ALL|HINT|INDEX|SCAN|SEEK)"
)


class Neo4jWorld:
    """A check without a server or parser, and the scope of the statement."""

    def run(self, statement: str) -> str | None:
        if self._writes(statement):
            return "a word that writes follows a value"
        with suppress(Refusal):
            once = judge(statement, "neo4j", _INSIDE).statement
            again = judge(once, "neo4j", _INSIDE).statement
            if again.count("`only here`") != 2 * once.count("`only here`"):
                return "a second scope misses a pattern"
            plain = judge(statement, "neo4j").statement
            if judge(plain, "neo4j").statement != plain:
                return f"another text runs the second time: {plain}"
        return None

    def content(self) -> str:
        return ""

    def _writes(self, statement: str) -> bool:
        bare = _QUOTED.sub(" 0 ", statement)
        for match in _WRITES.finditer(bare):
            before = match["before"]
            if before is None or not _EXPECTS_A_VALUE.fullmatch(before):
                following = bare[match.end() :].split(maxsplit=1)[:1]
                if following and not _EXPECTS_A_VALUE.match(following[0]):
                    return True
        return False


WORLDS: dict[str, Callable[[], World]] = {
    "sqlite": SqliteWorld,
    "duckdb": DuckdbWorld,
    "ladybug": LadybugWorld,
    "neo4j": Neo4jWorld,
}
"""Databases that need no server."""
