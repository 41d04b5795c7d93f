"""Build and open the catalogue of a shop: a SQLite file and a search index in the user's cache.

A catalogue is built in a temporary folder that is renamed at the end, so it is always complete.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any, Final

from pydantic import TypeAdapter

from dqa.core.errors import DataError
from dqa.core.files import make_private_folder
from dqa.worlds.training import cache_folder
from dqa_simulators.shop.generator import GENERATED_BY, VOCABULARY, generate
from dqa_simulators.shop.official import find_files, key_of_files, read_items
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.search import Index, write_index

PRODUCTS: Final = 3000
"""The default number of generated products."""
FORMAT: Final = 2
"""The version of the tables and the index."""
_TABLES: Final = """
CREATE TABLE products (asin TEXT PRIMARY KEY, title TEXT NOT NULL, tag TEXT NOT NULL,
    product TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE goals (number INTEGER PRIMARY KEY, goal TEXT NOT NULL);
"""
_FILE: Final = "catalogue.sqlite"
_PRODUCT: Final = TypeAdapter(Product)
_GOAL: Final = TypeAdapter(Goal)
_building: Final = Lock()


@dataclass(frozen=True, slots=True)
class Source:
    """The source of the products.

    Attributes
    ----------
    products
        The number of products. None means `PRODUCTS` generated products, or all in the files.
    seed
        The seed of a generated catalogue.
    folder
        The folder with WebShop's files; empty for a generated catalogue.
    """

    products: int | None = None
    seed: int = 0
    folder: str = ""

    @property
    def key(self) -> str:
        """A text that identifies the content of the catalogue."""
        if self.folder:
            return f"{FORMAT} items {self.products} {key_of_files(find_files(Path(self.folder)))}"
        count = self.products or PRODUCTS
        vocabulary = blake2b(VOCABULARY.read_bytes(), digest_size=8).hexdigest()
        return f"{FORMAT} seed {self.seed} {count} {GENERATED_BY} {vocabulary}"

    def items(self) -> Iterator[tuple[Product, Sequence[Goal]]]:
        """Yield every product with its goals.

        Raises
        ------
        UsageError, DataError
            A file is missing or invalid.
        """
        if self.folder:
            yield from read_items(find_files(Path(self.folder)), self.products)
            return
        for product, goal in generate(self.products or PRODUCTS, self.seed):
            yield product, () if goal is None else (goal,)


class Catalogue:
    """The products of a shop and the goals of its customers. Safe to use from several threads.

    Parameters
    ----------
    folder
        The folder of the catalogue.

    Attributes
    ----------
    products, goals
        The numbers of products and goals.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE
        self.index = Index(folder)
        self.products = int(self._rows("SELECT COUNT(*) FROM products")[0][0])
        self.goals = int(self._rows("SELECT COUNT(*) FROM goals")[0][0])
        self.product = lru_cache(4096)(self._product)

    def goal(self, number: int) -> Goal:
        """Return the goal with a number, from 0. Raise `DataError` if it does not exist."""
        rows = self._rows("SELECT goal FROM goals WHERE number = ?", number)
        if not rows:
            raise DataError(f"The catalogue {self._file} has no goal {number}.")
        return _GOAL.validate_json(rows[0][0])

    def search(self, text: str) -> tuple[str, ...]:
        """Return the ids of at most 50 products that match a text, best first."""
        return self.index.search(text)

    def summarise(self, asins: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
        """Return the id, title and displayed price of each product."""
        marks = ", ".join("?" * len(asins))
        found = self._rows(f"SELECT asin, title, tag FROM products WHERE asin IN ({marks})", *asins)  # noqa: S608
        by_asin = {asin: (asin, title, tag) for asin, title, tag in found}
        return tuple(by_asin[asin] for asin in asins)

    def _product(self, asin: str) -> Product:
        rows = self._rows("SELECT product FROM products WHERE asin = ?", asin)
        if not rows:
            raise DataError(f"The catalogue {self._file} has no product {asin}.")
        return _PRODUCT.validate_json(rows[0][0])

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        address = f"{self._file.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(address, uri=True)) as connection:
                return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise DataError(
                f"The catalogue {self._file} cannot be read ({error}). Delete the folder "
                f"{self._file.parent}; the shop then builds the catalogue again."
            ) from error


def open_catalogue(source: Source) -> Catalogue:
    """Return a catalogue from the cache. Build it first if it is missing.

    Raises
    ------
    UsageError, DataError, MissingKeyError
        The source or the catalogue cannot be read, or a package is missing.
    OSError
        The cache cannot be written.
    """
    with _building:  # only one thread builds a catalogue
        return _opened(source, source.key, cache_folder() / "shop")


def forget_opened() -> None:
    """Clear the cache of open catalogues."""
    _opened.cache_clear()


@lru_cache(maxsize=4)
def _opened(source: Source, key: str, cache: Path) -> Catalogue:
    kind = "items" if source.folder else f"seed-{source.seed}-{source.products or PRODUCTS}"
    folder = cache / f"{kind}-{blake2b(key.encode(), digest_size=10).hexdigest()}"
    if not folder.is_dir():
        make_private_folder(cache)
        part = Path(mkdtemp(prefix=f".{kind}-", dir=cache))
        try:
            write_index(part, _write_items(part / _FILE, source))
            part.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise a concurrent process has built it
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return Catalogue(folder)


def _write_items(file: Path, source: Source) -> Iterator[tuple[str, str]]:
    """Write products and goals. Yield the id and the searchable text of each product."""
    goals = 0
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(_TABLES)
        for product, wanted in source.items():
            stored = _PRODUCT.dump_json(product).decode()
            row = (product.asin, product.title, product.tag, stored)
            connection.execute("INSERT INTO products VALUES (?, ?, ?, ?)", row)
            rows = [(goal.number, _GOAL.dump_json(goal).decode()) for goal in wanted]
            connection.executemany("INSERT INTO goals VALUES (?, ?)", rows)
            goals += len(rows)
            values = (option.value for option in product.options)
            yield (
                product.asin,
                "\n".join([product.title, product.description, *product.bullets, *values]),
            )
        connection.commit()
    if not goals:
        raise DataError(
            f"{source.folder or 'The generated catalogue'} has no instruction for any of its "
            "products. Set shop.products to a larger number."
        )
