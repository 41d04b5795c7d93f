"""What backends of servers share: URLs without secrets, and drivers that may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dqa.core.errors import DatabaseUnavailableError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import URL

POOL: Mapping[str, int] = {"pool_size": 8, "max_overflow": 24, "pool_timeout": 60}
"""Connections kept and allowed: servers have a hundred for everybody."""

DRIVERS: Mapping[str, str] = {
    "mariadb": "mysql+pymysql",
    "mysql": "mysql+pymysql",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
}
"""The drivers that our extras install, for URLs of kept databases that name none."""


def has_scheme(location: str, *names: str) -> bool:
    """Whether a location is a URL of one of these databases, with or without a driver's name."""
    scheme, mark, _ = location.partition("://")
    return bool(mark) and scheme.lower().partition("+")[0] in names


def parse_url(location: str) -> URL:
    """Return a location as a URL; `UsageError` where it is none."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        url = None
    if url is None or "@" in (url.host or ""):  # the rest of a password, cut at its first @
        # The text itself may hold a password where nobody can find it.
        raise UsageError(
            "The database URL cannot be read; write scheme://user:password@host:port/database, "
            "with %40 for an @ within the password."
        )
    return url


def split_namespace(url: URL) -> tuple[URL, str | None]:
    """Return the URL for SQLAlchemy, and the schema that ``?schema=`` names in it."""
    namespace = url.query.get("schema")
    if namespace is not None and not isinstance(namespace, str):
        raise UsageError(f"{display_name(url)} names several schemas; name one.")
    return url.difference_update_query(["schema"]), namespace or None


def schema_names(text: str) -> tuple[str, ...]:
    """Return the schemas that ``?schema=a,b`` names."""
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def display_name(url: URL, namespace: str | None = None) -> str:
    """Return what to call a database: user, host and name, and nothing secret."""
    user = f"{url.username}@" if url.username else ""
    port = f":{url.port}" if url.port else ""
    schema = f"?schema={namespace}" if namespace else ""
    return f"{url.get_backend_name()}://{user}{url.host or ''}{port}/{url.database or ''}{schema}"


def failed_load(
    where: str, problem: str, *, missing_right: str | None, is_full: bool
) -> UsageError | DatabaseUnavailableError:
    """Return the error of a server that failed outside of a query."""
    if missing_right is not None:
        return UsageError(
            f"{where} cannot be written: {problem}. Ask for the right to {missing_right}."
        )
    full = " The server has no room left." if is_full else ""
    return DatabaseUnavailableError(f"{where} failed: {problem}.{full}")
