"""Running a script of one's own on a test server, with all rights of its user."""

from __future__ import annotations

from pkgutil import resolve_name
from urllib.parse import unquote, urlsplit

from dqa.core.errors import DataError
from dqa.databases.backends import BUILT_IN
from dqa.databases.servers import parse_url
from dqa.guard.check import split


def run_script(name: str, url: str, script: str) -> None:
    """Run a script on a server as the user in its URL.

    Raises
    ------
    DataError
        The server refuses a statement.
    """
    if name != "neo4j":
        resolve_name(BUILT_IN[name].namespaces).run_script(parse_url(url), script)
        return
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.hostname}:{parts.port or 7687}"
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    try:
        with GraphDatabase.driver(where, auth=login) as driver:
            for statement in split(script, name):
                driver.execute_query(statement.text)
    except (DriverError, Neo4jError) as error:
        raise DataError(f"The {name} server refuses the script: {error}") from error
