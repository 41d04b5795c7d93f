"""Opening a memory by its location: a file, or the URL of a database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from dqa.core.distribution import install_command
from dqa.core.errors import MissingKeyError, UsageError
from dqa.core.files import require_new_file, require_room
from dqa.databases.servers import DRIVERS, has_scheme, parse_url
from dqa_ldm2.memory.base import Memory

_HINT: Final = "Name a memory of 'dqa memory build'."
_STAYS: Final = (
    "What was added is kept there: once it answers, the same command goes on with what is missing."
)


def open_memory(location: str | Path, *, create: bool = False) -> Memory:
    """Open a memory.

    Parameters
    ----------
    location
        A SQLite file; or the URL of a database: any that SQLAlchemy has a dialect and an installed
        driver for, or Neo4j (``bolt://user:password@host:7687``, with ``?namespace=NAME`` for one
        of several memories in it).
    create
        Whether it is made where there is none. In a file there must be a database without other
        tables, or none; on a server a database or a schema without other tables.

    Returns
    -------
    Memory
        To be closed, or used by ``with``. One that this user may only read finds what is there, and
        adds nothing.

    Raises
    ------
    UsageError
        There is no memory, or one of another version; it is a folder; it cannot be written there.
    DataError
        The file is no database, or it is damaged.
    MissingKeyError
        The database's driver is not installed.
    DatabaseUnavailableError
        The server cannot be reached.
    """
    given = os.fspath(location)
    if has_scheme(given, ("bolt", "neo4j")):
        return _open_graph(given, create=create)
    if "://" not in given:
        return _open_file(Path(given), create=create)
    url = parse_url(given)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise UsageError("A memory that keeps nothing is none: name a file, e.g. memory.db.")
        return _open_file(Path(url.database), create=create)
    if "+" not in url.drivername:
        url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    from dqa.databases.store_locations import StoreLocation
    from dqa_ldm2.memory.relational import RelationalMemory

    server = url.render_as_string(hide_password=False)
    return RelationalMemory(StoreLocation(server, None, "memory", _HINT, _STAYS), making=create)


def require_place(location: str | Path) -> None:
    """See that a memory can be kept at a place, and make nothing where there is no file yet.

    Parameters
    ----------
    location
        As `open_memory` takes it.

    Raises
    ------
    UsageError, DataError, MissingKeyError, DatabaseUnavailableError
        As `open_memory` does.
    """
    file = Path(os.fspath(location))
    if "://" in str(location) or file.exists():
        open_memory(location, create=True).close()
    else:
        require_new_file(file)


def _open_file(file: Path, *, create: bool) -> Memory:
    from dqa.databases.store_locations import StoreLocation
    from dqa_ldm2.memory.relational import RelationalMemory

    if file.is_dir():
        raise UsageError(f"{file} is a folder: name a file in it, e.g. {file / 'memory.db'}.")
    may_write = True
    if not file.exists():
        if not create:
            raise UsageError(
                f"There is no memory {file}: 'dqa memory build --world WORLD --games N --memory "
                "FILE' makes one, or name another (--set ldm2.memory=FILE)."
            )
        require_room(file)
    else:
        may_write = os.access(file, os.W_OK) and os.access(file.absolute().parent, os.W_OK)
    location = StoreLocation(f"sqlite:///{file.absolute()}", file, "memory", _HINT, _STAYS)
    return RelationalMemory(location, making=create, may_write=may_write or create)


def _open_graph(location: str, *, create: bool) -> Memory:
    try:
        from dqa_ldm2.memory.graph import GraphMemory
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "neo4j":
            raise
        raise MissingKeyError(
            f"A memory in Neo4j needs a driver that is not installed (neo4j): "
            f"{install_command('neo4j')}."
        ) from error
    return GraphMemory(location, making=create)
