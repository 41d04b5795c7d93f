"""A catalogue that is kept: built once in the user's cache, and opened from there.

A folder of the cache holds a SQLite file and the index of the search. It is built beside its place
and renamed when it is whole; whoever wants the same one meanwhile waits for it. A catalogue can be
kept in any database by its URL, too, and then the cache has the index alone.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Final

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, select
from sqlalchemy.engine.interfaces import DBAPIConnection

from dqa.core.errors import DataError
from dqa.core.files import make_private_folder, open_private
from dqa.worlds.training import cache_folder
from dqa_simulators.shop.records import Goal, Product, price_tag
from dqa_simulators.shop.search import Index, IndexBuilder
from dqa_simulators.shop.sources import Source
from dqa_simulators.shop.storage.servers import build_on_server, connect, told_errors
from dqa_simulators.shop.storage.tables import (
    CATALOGUE,
    METADATA,
    read_documents,
    read_goal,
    read_product,
    read_summaries,
    texts_of,
    write_catalogue,
)

FORMAT: Final = 1
"""The version of tables and index: another one is built anew."""

_FILE: Final = "catalogue.sqlite"
_INDEX: Final = "index"
_KNOWN_PRODUCTS: Final = 4096
_building: Final = Lock()


class Catalogue:
    """What a shop sells and its customers want. Safe to use from several threads.

    Parameters
    ----------
    engine
        The database that holds it, whole.
    index
        What searches it.

    Attributes
    ----------
    products, goals
        How many there are.
    """

    def __init__(self, engine: Engine, index: Index) -> None:
        self._engine = engine
        self._index = index
        with self._reading() as connection:
            row = connection.execute(select(CATALOGUE.c.products, CATALOGUE.c.goals)).one()
        self.products, self.goals = int(row[0]), int(row[1])
        self._product = lru_cache(_KNOWN_PRODUCTS)(self._read_product)

    def product(self, asin: str) -> Product:
        """Return a product by its id; `DataError` where there is none."""
        return self._product(asin)

    def goal(self, number: int) -> Goal:
        """Return a goal by its number, from 0; `DataError` where there is none."""
        with self._reading() as connection:
            found = read_goal(connection, number)
        if found is None:
            raise DataError(f"The catalogue {self._engine.url!r} has no goal {number}.")
        return found

    def search(self, text: str) -> tuple[str, ...]:
        """Return the ids of at most 50 products that a text finds, the best first."""
        return self._index.search(text)

    def summarise(self, asins: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
        """Return id, title and price of products, as a page of results shows them."""
        with self._reading() as connection:
            found = read_summaries(connection, asins)
        return tuple(
            (asin, str(row["title"]), price_tag(row["low"], row["high"]))
            for asin in asins
            if (row := found.get(asin)) is not None
        )

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def _read_product(self, asin: str) -> Product:
        with self._reading() as connection:
            found = read_product(connection, asin)
        if found is None:
            raise DataError(f"The catalogue {self._engine.url!r} has no product {asin}.")
        return found

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with told_errors(self._engine), self._engine.connect() as connection:
            yield connection


def open_catalogue(source: Source, location: str = "") -> Catalogue:
    """Open a catalogue; build it first where it is not kept yet.

    Parameters
    ----------
    source
        What it is made of.
    location
        The URL of the database that holds it; by default a file of the cache.

    Raises
    ------
    UsageError, DataError, MissingKeyError, DatabaseUnavailableError
        The source cannot be read, the database cannot be used, or a package is missing.
    OSError
        The cache cannot be written.
    """
    with _building:  # two threads that want the same get one
        return _opened(source, source.key, location, cache_folder() / "shop")


def forget_opened() -> None:
    """Open catalogues anew from now on, as another process would."""
    _opened.cache_clear()


@lru_cache(maxsize=4)
def _opened(source: Source, key: str, location: str, cache: Path) -> Catalogue:
    key = blake2b(f"{FORMAT} {key}".encode(), digest_size=10).hexdigest()
    if location:
        engine = connect(location)
        build_on_server(engine, key, source.items)
        folder = _kept(cache / f"index-{key}", lambda part: _build_index(engine, part))
        return Catalogue(engine, Index(folder / _INDEX))
    folder = _kept(
        cache / f"{source.name}-{key}", lambda part: _build_file(part, key, source.items())
    )
    return Catalogue(_open_file(folder / _FILE), Index(folder / _INDEX))


def _build_file(folder: Path, key: str, items: Iterable[tuple[Product, Sequence[Goal]]]) -> None:
    """Write a catalogue and its index into a folder that nobody else uses."""
    file = folder / _FILE
    os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    engine = create_engine(URL.create("sqlite", database=str(file)), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _prepare(connection: DBAPIConnection, _record: object) -> None:
        # What a crash leaves of it is thrown away, so nothing has to be safe on disk.
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = OFF")
        cursor.execute("PRAGMA synchronous = OFF")

    index = IndexBuilder()
    with told_errors(engine), engine.begin() as connection:
        METADATA.create_all(connection)
        write_catalogue(connection, key, _read_into(index, items))
    _write_index(index, folder)


def _read_into(
    index: IndexBuilder, items: Iterable[tuple[Product, Sequence[Goal]]]
) -> Iterator[tuple[Product, Sequence[Goal]]]:
    """Yield what a catalogue is made of, and let an index read it on the way."""
    for product, goals in items:
        index.add(product.asin, texts_of(product))
        yield product, goals


def _build_index(engine: Engine, folder: Path) -> None:
    """Make the index of a catalogue that somebody else has written."""
    index = IndexBuilder()
    with told_errors(engine), engine.connect() as connection:
        for asin, texts in read_documents(connection):
            index.add(asin, texts)
    _write_index(index, folder)


def _write_index(index: IndexBuilder, folder: Path) -> None:
    make_private_folder(folder / _INDEX)
    index.write(folder / _INDEX)


def _open_file(file: Path) -> Engine:
    """Open a SQLite file that nobody writes any more; a connection serves one reading."""
    address = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    return create_engine(
        URL.create("sqlite", database=str(file)),
        creator=lambda: sqlite3.connect(address, uri=True),
        poolclass=NullPool,
    )


def _kept(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return a folder of the cache; build it where it is missing.

    Parameters
    ----------
    folder
        Where it is to be.
    build
        Fills a new folder, which then takes its place as a whole.
    """
    if folder.is_dir():
        return folder
    make_private_folder(folder.parent)
    with _held(folder.with_name(f"{folder.name}.lock")) as is_held:
        if folder.is_dir():
            return folder
        if is_held:
            for left in folder.parent.glob(f".{folder.name}.*.part"):  # by who was killed
                shutil.rmtree(left, ignore_errors=True)
        part = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}.part")
        make_private_folder(part)
        try:
            build(part)
            with suppress(FileExistsError):  # without locks somebody else may have built the same
                _rename(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder


def _rename(part: Path, folder: Path) -> None:
    try:
        part.rename(folder)
    except OSError as error:
        if folder.is_dir():
            raise FileExistsError(str(folder)) from error
        raise


@contextmanager
def _held(file: Path) -> Iterator[bool]:
    """Wait until no other process holds a file, and hold it; false where there are no locks."""
    descriptor = open_private(file, os.O_CREAT | os.O_RDWR)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        return False
    return True
