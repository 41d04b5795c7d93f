"""MySQL and MariaDB servers: connecting to them, and telling them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pymysql
from pymysql.connections import Connection
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, UsageError
from dqa.databases.failures import one_line
from dqa.databases.rows import MOST_COUNTED
from dqa.databases.servers import display_name

CONNECT_SECONDS = 10.0
_SESSION_MEMORY = 1 << 30
"""Bytes of a session, which MariaDB can limit."""
FULL = frozenset({3, 1021, 1026, 1030, 1114})


@dataclass(frozen=True, slots=True)
class Flavour:
    """The differences between the two servers."""

    dialect: str
    title: str
    least: tuple[int, ...]
    collation: str
    mode: str
    session: str

    def limit(self, limits: Limits) -> str:
        """Return the assignments of session variables that limit a statement."""
        # Two more than are shown or counted show that there are more.
        rows = f"sql_select_limit = {max(limits.rows, MOST_COUNTED) + 2}"
        if self.dialect == "mariadb":
            return f"max_statement_time = {max(limits.seconds, 0.001):.3f}, {rows}"
        return f"max_execution_time = {max(round(limits.seconds * 1_000), 1)}, {rows}"


# Both collations compare the codes of characters and count trailing spaces.
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


def fetch_all(connection: Connection[Any], statement: str, *values: object) -> list[Any]:
    """Return all rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return list(cursor.fetchall())


def encryption(url: URL) -> dict[str, bool]:
    """Return the options of encryption if the URL has none.

    The driver encrypts if the server can. A connection within the machine needs no encryption, and
    preparing it takes longer than loading a situation.
    """
    is_asked = any(name.startswith("ssl") for name in url.query)
    is_near = url.host in {None, "localhost", "127.0.0.1", "::1"}
    return {"ssl_disabled": True} if is_near and not is_asked else {}


def connect(url: URL, **options: object) -> Connection[Any]:
    """Connect, with the driver's errors, within a time limit."""
    arguments, of_url = url.get_dialect()().create_connect_args(url)
    wanted: dict[str, Any] = {
        **encryption(url),
        **of_url,
        "autocommit": True,
        "charset": "utf8mb4",
        **options,
        "connect_timeout": CONNECT_SECONDS,
        "read_timeout": CONNECT_SECONDS,
    }
    connection = pymysql.connect(*arguments, **wanted)
    # Statements have limits of their own.
    connection._read_timeout = None  # type: ignore[attr-defined]  # noqa: SLF001
    return connection


def new_connection(url: URL, client_flag: int = 0) -> Connection[Any]:
    """Connect outside of a pool."""
    try:
        return connect(url, client_flag=client_flag)
    except pymysql.err.MySQLError as error:
        code, problem = code_of(error), one_line(error)
        if code in _ADVICE:
            raise UsageError(
                f"{display_name(url)} does not let you in: {problem}. {_ADVICE[code]}"
            ) from None
        raise DatabaseUnavailableError(
            f"{display_name(url)} cannot be reached: {problem}. Is the server running there?"
        ) from None
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{display_name(url)} cannot be used: {one_line(error)}.") from None


_ADVICE = {
    1044: "Ask for rights on that database.",
    1045: "Check user and password.",
    1049: "Name a database that exists, or none to load into the server.",
    1130: "Ask for rights to connect from here.",
    1698: "Check user and password.",
}


def find_flavour(connection: Connection[Any], url: URL) -> Flavour:
    """Return which of the two servers this is; `UsageError` if it is too old."""
    text = str(fetch_all(connection, "SELECT VERSION()")[0][0])
    flavour = MARIADB if "mariadb" in text.lower() else MYSQL
    version = tuple(int(part) for part in re.findall(r"\d+", text)[:3])
    if version < flavour.least:
        least = ".".join(map(str, flavour.least))
        raise UsageError(
            f"{display_name(url)} is {flavour.title} {text}; at least {least} is needed."
        )
    return flavour
