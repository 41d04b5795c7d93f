"""Parse the URLs of servers, connect to them, and display them without passwords."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from dqa.core.distribution import install_command
from dqa.core.errors import DatabaseUnavailableError, DqaError, MissingKeyError, UsageError
from dqa.databases.errors import one_line

if TYPE_CHECKING:
    from sqlalchemy import URL, Engine

_MOST_PORT = 65_535
DRIVERS: Mapping[str, str] = {
    "mariadb": "mysql+pymysql",
    "mysql": "mysql+pymysql",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
}
"""The default drivers of URLs without a driver, by the scheme of the URL."""


def has_scheme(location: str, names: Collection[str]) -> bool:
    """Return whether a location is a URL with one of these schemes, with or without a driver."""
    scheme, mark, _ = location.partition("://")
    return bool(mark) and scheme.lower().partition("+")[0] in names


def parse_url(location: str) -> URL:
    """Parse a URL, and add a missing driver; raise `UsageError` if the URL is malformed."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        url = None
    # The host or the database contains an @ if the password contains an @ or a slash.
    rest = f"{url.host}{url.database}" if url is not None and url.host else ""
    if url is None or "@" in rest or (url.port or 0) > _MOST_PORT:
        # The message does not quote the URL, because any part of it may be the password.
        raise UsageError(
            "The database URL cannot be read. Write scheme://user:password@host:port/database. "
            "In the password, write %40 for an @ and %2F for a slash."
        )
    return url.set(drivername=DRIVERS.get(url.drivername, url.drivername))


def make_engine(url: URL, **options: Any) -> Engine:  # noqa: ANN401
    """Return an SQLAlchemy engine, without connecting.

    Raises
    ------
    UsageError
        SQLAlchemy has no such dialect, or the dialect rejects the URL.
    MissingKeyError
        The driver is not installed.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError

    try:
        return create_engine(url, **options)
    except NoSuchModuleError:
        raise UsageError(
            f"SQLAlchemy has no dialect '{url.drivername}': install the package that contains it, "
            "or correct the beginning of the URL, e.g. postgresql, mysql, mariadb or neo4j."
        ) from None
    except ModuleNotFoundError as error:
        is_known = url.drivername in DRIVERS.values()
        command = install_command("servers") if is_known else f"pip install {error.name}"
        raise MissingKeyError(
            f"The driver '{error.name}' of {url.drivername}:// is not installed: {command}."
        ) from None
    except (SQLAlchemyError, TypeError, ValueError) as error:
        raise UsageError(f"{display_name(url)} cannot be used: {one_line(error)}.") from None


_WRONG_URL = frozenset({"ProgrammingError", "TypeError", "ValueError", "OSError"})
"""The names of the exceptions that drivers raise for wrong parameters in a URL."""


def unreachable(where: str, error: Exception, no_access: str = "(?!)") -> DqaError:
    """Return the error for a failed connection.

    The pattern `no_access` matches messages of a server that refuses the login.
    """
    problem = one_line(error)
    if re.search(no_access, str(error)):
        return UsageError(
            f"{where} refuses the connection: {problem}. Check the user, the password and the "
            "name of the database."
        )
    if _WRONG_URL.intersection(kind.__name__ for kind in type(error).__mro__):
        return UsageError(f"{where} cannot be used: {problem}. Check the parameters in the URL.")
    problem = problem.partition(" Is the server")[0].rstrip(".")  # libpq asks it, too
    return DatabaseUnavailableError(
        f"{where} cannot be reached: {problem}. Is the server running there?"
    )


def split_namespace(url: URL) -> tuple[URL, str | None]:
    """Return the URL without ``?schema=``, and the value of that parameter."""
    namespace = url.query.get("schema")
    if namespace is not None and not isinstance(namespace, str):
        raise UsageError(
            f"{display_name(url)} contains several schemas, but only one is allowed here."
        )
    return url.difference_update_query(["schema"]), namespace or None


def schema_names(text: str) -> tuple[str, ...]:
    """Split the value of ``?schema=a,b``."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def display_name(url: URL, namespace: str | None = None) -> str:
    """Return the name of a database for messages: user, host and database, without secrets."""
    user = f"{url.username}@" if url.username else ""
    port = f":{url.port}" if url.port else ""
    schema = f"?schema={namespace}" if namespace else ""
    return f"{url.get_backend_name()}://{user}{url.host or ''}{port}/{url.database or ''}{schema}"
