"""Running a script of one's own on a test server, with all rights of its user."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from dqa.core.errors import DataError
from dqa.guard.check import split


def run_script(name: str, url: str, script: str) -> None:
    """Run a script on a server as the user in its URL.

    Raises
    ------
    DataError
        The server refuses a statement.
    """
    statements = [found.text for found in split(script, name)]
    run = _run_cypher if name == "neo4j" else _run_sql
    try:
        run(url, statements)
    except Exception as error:  # of whichever driver
        raise DataError(f"The {name} server refuses the script: {error}") from error


def _run_cypher(url: str, statements: Sequence[str]) -> None:
    from neo4j import GraphDatabase

    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}"
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    with GraphDatabase.driver(where, auth=login) as driver:
        for statement in statements:
            driver.execute_query(statement)


def _run_sql(url: str, statements: Sequence[str]) -> None:
    from sqlalchemy import NullPool, create_engine

    with create_engine(url, poolclass=NullPool).begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
