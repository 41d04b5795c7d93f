"""Build and open the catalogue of a shop: a SQLite file and a search index in the user's cache.

A catalogue is built in a temporary folder, which is renamed at the end. A catalogue in the cache is
therefore always complete.

The search is WebShop's: BM25 with Lucene's weights and analysis over the texts of products. bm25s
builds and stores the index. The documents are in the order of product ids, so products with equal
scores are also in this order.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, TypeAdapter

from dqa.core.errors import DataError
from dqa.core.files import make_private_folder
from dqa.worlds.training import cache_folder
from dqa_simulators.packages import load_package
from dqa_simulators.shop.generator import GENERATED_BY, VOCABULARY, generate
from dqa_simulators.shop.official import find_files, key_of_files, read_items
from dqa_simulators.shop.records import Goal, Product
from dqa_simulators.shop.words import STOP_WORDS, words_of

PRODUCTS: Final = 3000
"""The default number of generated products."""
FORMAT: Final = 4
"""The version of the tables and the index."""
_TABLES: Final = """
CREATE TABLE products (asin TEXT PRIMARY KEY, product TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE goals (number INTEGER PRIMARY KEY, goal TEXT NOT NULL);
"""
_FILE: Final = "catalogue.sqlite"
_PRODUCT: Final = TypeAdapter(Product)
_GOAL: Final = TypeAdapter(Goal)
_building: Final = Lock()
MOST_RESULTS: Final = 50
"""The maximum number of results of a search."""
K1, B = 0.9, 0.4
"""The BM25 parameters in WebShop."""
_ASINS: Final = "asins.npy"
_load: Final = partial(load_package, purpose="The search of the shop", extra="shop")


class Source(BaseModel, extra="forbid", frozen=True):
    """The source of the products.

    Attributes
    ----------
    products
        The number of products. By default, 3,000 generated products or all products in `items`.
    seed
        The seed of a generated catalogue.
    items
        A folder with WebShop's own files. It replaces the generated catalogue.
    """

    products: int | None = Field(
        default=None,
        ge=1,
        le=2_000_000,
        description=f"the number of products; by default {PRODUCTS}; with 'items', all of them",
    )
    seed: int = Field(default=0, ge=0, description="the seed of a generated catalogue")
    items: str = Field(
        default="",
        description="a folder with WebShop's items_shuffle*.json, items_ins_v2*.json and "
        "items_human_ins.json; it replaces the generated catalogue",
    )

    @property
    def key(self) -> str:
        """A text that identifies the content of the catalogue."""
        if self.items:
            return f"{FORMAT} items {self.products} {key_of_files(find_files(Path(self.items)))}"
        count = self.products or PRODUCTS
        vocabulary = blake2b(VOCABULARY.read_bytes(), digest_size=8).hexdigest()
        return f"{FORMAT} seed {self.seed} {count} {GENERATED_BY} {vocabulary}"

    def read(self) -> Iterator[tuple[Product, Sequence[Goal]]]:
        """Yield every product with its goals.

        Raises
        ------
        UsageError, DataError
            A file is missing or invalid.
        """
        if self.items:
            return read_items(find_files(Path(self.items)), self.products)
        made = generate(self.products or PRODUCTS, self.seed)
        return ((product, () if goal is None else (goal,)) for product, goal in made)


class Index:
    """Searches a catalogue. Safe to use from several threads.

    Parameters
    ----------
    folder
        A folder that `write_index` filled.

    Raises
    ------
    MissingKeyError
        bm25s or PyStemmer is not installed.
    DataError
        The folder has no index, or the index is damaged.
    """

    def __init__(self, folder: Path) -> None:
        bm25s = _load("bm25s")
        try:
            self._asins: NDArray[np.str_] = np.load(folder / _ASINS, mmap_mode="r")
            self._scorer: Any = bm25s.BM25.load(folder, mmap=True)
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise DataError(
                f"The search index in {folder} is missing or damaged ({error}). Delete the folder "
                f"{folder.parent}; the shop then builds the index again."
            ) from error

    def search(self, text: str) -> tuple[str, ...]:
        """Return the ids of at most 50 products that contain a word of the text, best first.

        Products with equal scores are in the order of their ids.
        """
        scores = self.scores(self.terms(text))
        found = np.flatnonzero(scores > 0.0)
        best = found[np.argsort(-scores[found], kind="stable")][:MOST_RESULTS]
        return tuple(str(asin) for asin in self._asins[best])

    def terms(self, text: str) -> list[str]:
        """Return the stems of a text's words that occur in the index."""
        stem = _stemmer().stemWord
        stems = [stem(word) for word in words_of(text) if word not in STOP_WORDS]
        return [one for one in stems if one in self._scorer.vocab_dict]

    def scores(self, terms: list[str]) -> NDArray[np.float32]:
        """Return the BM25 score of each product, in the order of ids."""
        if not terms:
            return np.zeros(len(self._asins), dtype=np.float32)
        scores: NDArray[np.float32] = self._scorer.get_scores(terms)
        return scores


def write_index(folder: Path, products: Iterable[tuple[str, str]]) -> None:
    """Write an index into a folder.

    Parameters
    ----------
    folder
        An empty folder.
    products
        Pairs of a product's id and its whole text, in any order.

    Raises
    ------
    MissingKeyError
        bm25s or PyStemmer is not installed.
    """
    bm25s, stem = _load("bm25s"), lru_cache(maxsize=None)(_stemmer().stemWord)
    terms: dict[str, int] = {}  # the number of each stem
    documents = {
        asin: [
            terms.setdefault(stem(word), len(terms))
            for word in words_of(text)
            if word not in STOP_WORDS
        ]
        for asin, text in products
    }
    asins = sorted(documents)
    corpus = bm25s.tokenization.Tokenized(
        ids=[documents[asin] for asin in asins], vocab=terms or {"": 0}
    )
    scorer = bm25s.BM25(k1=K1, b=B, method="lucene")
    scorer.index(corpus, create_empty_token=False, show_progress=False)
    scorer.save(folder, show_progress=False)
    np.save(folder / _ASINS, np.array(asins, dtype=np.str_))


def _stemmer() -> Any:  # noqa: ANN401  (the package has no types)
    """Return a new stemmer. A stemmer has a buffer, so threads must not share one."""
    return _load("Stemmer").Stemmer("porter")


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


@lru_cache(maxsize=4)
def _opened(source: Source, key: str, cache: Path) -> Catalogue:
    kind = "items" if source.items else f"seed-{source.seed}-{source.products or PRODUCTS}"
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
        for product, wanted in source.read():
            row = (product.asin, _PRODUCT.dump_json(product).decode())
            connection.execute("INSERT INTO products VALUES (?, ?)", row)
            rows = [(goal.number, _GOAL.dump_json(goal).decode()) for goal in wanted]
            connection.executemany("INSERT INTO goals VALUES (?, ?)", rows)
            goals += len(rows)
            values = (value for _, value in product.options)
            yield (
                product.asin,
                "\n".join([product.title, product.description, *product.bullets, *values]),
            )
        connection.commit()
    if not goals:
        raise DataError(
            f"{source.items or 'The generated catalogue'} has no instruction for any of its "
            "products. Set shop.products to a larger number."
        )
