"""MySQL and MariaDB servers: connecting to them, and telling them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pymysql
from pymysql.connections import Connection
from sqlalchemy import URL

from dqa.core.database import Limits
from dqa.databases.rows import MOST_COUNTED

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
