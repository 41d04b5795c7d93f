"""MySQL and MariaDB servers outside of queries: connecting, telling them apart, and places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.base import Loaded
from dqa.databases.relational import one_line
from dqa.databases.relational_writer import TAG_TABLE
from dqa.databases.servers import parsed, require_driver, shown

if TYPE_CHECKING:
    from pymysql.connections import Connection

__all__ = [
    "BEGUN",
    "CONNECT_SECONDS",
    "FULL",
    "MARIADB",
    "MYSQL",
    "NO_URL",
    "Flavour",
    "asked",
    "code_of",
    "connected",
    "drop",
    "failures",
    "flavour_of",
    "held_by",
    "locked",
    "security",
    "server_url",
    "tables_of",
    "writes",
]


CONNECT_SECONDS = 10
_LOCK_SECONDS = 120
_SESSION_MEMORY = 1 << 30
"""Bytes that a session may hold, where the server can limit it (MariaDB)."""
FULL = frozenset({3, 1021, 1026, 1030, 1114})
_NO_RIGHTS = frozenset({1044, 1142, 1227, 1370, 1410, 1290, 1836})


@dataclass(frozen=True, slots=True)
class Flavour:
    """What differs between the two servers."""

    dialect: str
    title: str
    least: tuple[int, ...]
    collation: str
    mode: str
    session: str

    def limits(self, limits: Limits) -> str:
        """Return the assignments of session variables that limit a statement."""
        rows = f"sql_select_limit = {limits.rows + 1}"
        if self.dialect == "mariadb":
            return f"max_statement_time = {max(limits.seconds, 0.001):.3f}, {rows}"
        return f"max_execution_time = {max(round(limits.seconds * 1_000), 1)}, {rows}"


# Both compare texts by their characters' codes and count trailing spaces.
MYSQL = Flavour(
    dialect="mysql",
    title="MySQL",
    least=(8, 0, 23),
    collation="utf8mb4_0900_bin",
    mode="ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    session="",
)
MARIADB = Flavour(
    dialect="mariadb",
    title="MariaDB",
    least=(10, 3),
    collation="utf8mb4_nopad_bin",
    mode="STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
    session=f", max_session_mem_used = {_SESSION_MEMORY}",
)


def code_of(error: Exception) -> int:
    """Return the server's number of an error, or 0."""
    code = error.args[0] if error.args else 0
    return code if isinstance(code, int) else 0


NO_URL = "MySQL holds nothing in memory; give the URL of a server: mysql://user:password@host/."
_READING = frozenset({"SELECT", "USAGE", "SHOW VIEW", "SHOW DATABASES", "PROCESS", "PROXY"})


def writes(grant: str) -> bool:
    """Whether a line of SHOW GRANTS lets a user do more than read."""
    rights = re.match(r"GRANT (.+?) ON ", grant)
    return (
        rights is not None
        and not {right.partition("(")[0].strip() for right in rights[1].split(",")} <= _READING
    )


BEGUN, _FOREIGN = "a load that was never finished", "tables that are not of this project"


def held_by(connection: Connection[Any], place: str) -> Loaded | str | None:
    """Return what a place holds: a situation, something else in words, or None: nothing at all."""
    exists = asked(
        connection, "SELECT 1 FROM information_schema.schemata WHERE schema_name = %s", place
    )
    if not exists:
        return None
    tables = tables_of(connection, place)
    if TAG_TABLE not in tables:
        return _FOREIGN if tables else BEGUN
    quoted = "`" + place.replace("`", "``") + "`"
    tags = asked(
        connection,
        f"SELECT scenario, name, content_hash, row_count FROM {quoted}.`{TAG_TABLE}`",  # noqa: S608
    )
    return Loaded(place, *tags[0]) if tags else BEGUN


def tables_of(connection: Connection[Any], place: str) -> frozenset[str]:
    """Return the names of all tables and views of a place."""
    rows = asked(
        connection,
        "SELECT table_name FROM information_schema.tables WHERE table_schema = %s",
        place,
    )
    return frozenset(str(name) for (name,) in rows)


def drop(connection: Connection[Any], place: str) -> None:
    """Drop a place with all that is in it."""
    quoted = "`" + place.replace("`", "``") + "`"
    with connection.cursor() as cursor:
        if TAG_TABLE in tables_of(connection, place):
            # First of all: a drop that is interrupted leaves a load that was never finished.
            cursor.execute(f"DELETE FROM {quoted}.`{TAG_TABLE}`")  # noqa: S608
        cursor.execute(f"DROP DATABASE {quoted}")


def asked(connection: Connection[Any], statement: str, *values: object) -> list[Any]:
    """Return all rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall())


@contextmanager
def locked(connection: Connection[Any], place: str) -> Iterator[None]:
    """Keep others of this project from the place; the lock goes with the connection."""
    taken_it = asked(connection, "SELECT GET_LOCK(%s, %s)", place[:64], _LOCK_SECONDS)[0][0]
    if taken_it != 1:
        raise DatabaseUnavailableError(
            f"'{place}' has been locked by another load for {_LOCK_SECONDS} seconds; try again."
        )
    yield


def security(url: URL) -> dict[str, bool]:
    """Return what to say of encryption where the URL says nothing.

    Elsewhere the driver encrypts where the server can; what does not leave the machine needs none,
    and preparing for it takes longer than loading a situation.
    """
    asked = any(name.startswith("ssl") for name in url.query)
    is_near = url.host in {None, "localhost", "127.0.0.1", "::1"}
    return {"ssl_disabled": True} if is_near and not asked else {}


def server_url(location: str) -> URL:
    """Return a location as the URL that PyMySQL serves; `UsageError` where it is none."""
    require_driver("pymysql", "mysql")
    return parsed(location).set(drivername="mysql+pymysql")


def connected(url: URL) -> Connection[Any]:
    """Connect outside of any pool, for what is no query."""
    import pymysql

    arguments, options = url.get_dialect()().create_connect_args(url)
    wanted = {**security(url), **options, "autocommit": True, "charset": "utf8mb4"}
    wanted["connect_timeout"] = CONNECT_SECONDS
    try:
        return pymysql.connect(*arguments, **wanted)
    except pymysql.err.MySQLError as error:
        code, problem = code_of(error), one_line(error)
        if code in {1045, 1698, 1044, 1049, 1130}:
            raise UsageError(
                f"{shown(url)} does not let you in: {problem}. {_MENDING[code]}"
            ) from None
        raise DatabaseUnavailableError(
            f"{shown(url)} cannot be reached: {problem}. Is the server running there?"
        ) from None
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{shown(url)} cannot be used: {one_line(error)}.") from None


_MENDING = {
    1044: "Ask for rights on that database.",
    1045: "Check user and password.",
    1049: "Name a database that exists, or none to load into the server.",
    1130: "Ask for rights to connect from here.",
    1698: "Check user and password.",
}


def flavour_of(connection: Connection[Any], url: URL) -> Flavour:
    """Tell the two servers apart; `UsageError` where this one is too old."""
    text = str(asked(connection, "SELECT VERSION()")[0][0])
    flavour = MARIADB if "mariadb" in text.lower() else MYSQL
    version = tuple(int(part) for part in re.findall(r"\d+", text)[:3])
    if version < flavour.least:
        least = ".".join(map(str, flavour.least))
        raise UsageError(f"{shown(url)} is {flavour.title} {text}; at least {least} is needed.")
    return flavour


@contextmanager
def failures(url: URL, place: str | None) -> Iterator[None]:
    """Say what the server's errors mean to who loads."""
    from pymysql.err import MySQLError

    where = f"'{place}' on {shown(url)}" if place else shown(url)
    try:
        yield
    except MySQLError as error:
        code, problem = code_of(error), one_line(error)
        if code in _NO_RIGHTS:
            raise UsageError(
                f"{where} cannot be written: {problem}. Ask for the right to make, fill and drop "
                "databases whose names begin with dqa_."
            ) from error
        full = " The server has no room left." if code in FULL else ""
        raise DatabaseUnavailableError(f"{where} failed: {problem}.{full}") from error
