"""Catalogues in a database of the user's own, by its URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, Engine, create_engine, delete, make_url, select
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, NoSuchModuleError

from dqa.core.distribution import install_command
from dqa.core.errors import DatabaseUnavailableError, DataError, MissingKeyError, UsageError
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.storage.tables import CATALOGUE, METADATA, write_catalogue

_DRIVERS: Final = {
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mariadb+pymysql",
}
"""The drivers that the extras bring, where a URL names none."""


def connect(url: str) -> Engine:
    """Return what connects to the database of a URL.

    Parameters
    ----------
    url
        The URL, or ``$`` and the name of the environment's variable that has it.

    Raises
    ------
    UsageError
        It is no URL of a database, or the variable is not set.
    MissingKeyError
        The driver is not installed.
    """
    if url.startswith("$"):
        name, url = url[1:], os.environ.get(url[1:], "")
        if not url:
            raise UsageError(
                f"The environment's variable {name} is not set: shop.database names it for the URL "
                "of the database that keeps the catalogue."
            )
    try:
        given = make_url(url)
        driver = _DRIVERS.get(given.drivername)
        return create_engine(given.set(drivername=driver) if driver else given, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(
            "shop.database names no database: write scheme://user:password@host/database, or "
            "leave it out for a file of the cache."
        ) from error
    except ImportError as error:
        raise MissingKeyError(
            f"The catalogue's database needs a driver that is not installed ({error.name}): "
            f"{install_command('servers')}."
        ) from error


def build_on_server(
    engine: Engine, key: str, items: Callable[[], Iterable[tuple[Product, Sequence[Goal]]]]
) -> None:
    """Write a catalogue into a database, unless it is there.

    It is written in one transaction that begins with the catalogue's own row: a second process that
    builds the same one waits for the first there, and finds it whole.

    Raises
    ------
    UsageError
        The database holds another catalogue.
    DatabaseUnavailableError
        It cannot be reached, or written to.
    """
    with told_errors(engine):
        with engine.begin() as connection:
            METADATA.create_all(connection)
        try:
            with engine.begin() as connection:
                if not _holds(connection, key):
                    _claim(connection, key)
                    write_catalogue(connection, key, items())
        except IntegrityError:
            with engine.connect() as connection:
                if not _holds(connection, key):
                    raise


def _holds(connection: Connection, key: str) -> bool:
    """Whether the database has the catalogue; `UsageError` where it has another one."""
    found = connection.execute(select(CATALOGUE.c.key)).scalar()
    if found is not None and found != key:
        raise UsageError(
            f"The database {connection.engine.url!r} holds another catalogue: set shop.database to "
            "an empty one."
        )
    return found is not None


def _claim(connection: Connection, key: str) -> None:
    """Hold the row that a second builder would write first, too."""
    values = {"one": 1, "key": key, "products": 0, "goals": 0}
    connection.execute(CATALOGUE.insert().values(values))
    connection.execute(delete(CATALOGUE).where(CATALOGUE.c.one == 1))


@contextmanager
def told_errors(engine: Engine) -> Iterator[None]:
    """Make what a database raises an error that says what a user can do about it."""
    try:
        yield
    except IntegrityError:
        raise
    except DatabaseError as error:
        said = " ".join(str(error.orig).split())
        name = engine.url.render_as_string(hide_password=True)
        if engine.dialect.name == "sqlite":
            raise DataError(
                f"The catalogue {name} cannot be used ({said}): remove it, and it is made again."
            ) from error
        raise DatabaseUnavailableError(
            f"The catalogue {name} cannot be read or written: {said}."
        ) from error
