"""What a catalogue is made of: a seed, or WebShop's own files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from dqa.core.errors import DataError
from dqa_simulators.shop.generator import GENERATED_BY, VOCABULARY, generate
from dqa_simulators.shop.official import find_files, read_items
from dqa_simulators.shop.records import Goal, Product

PRODUCTS: Final = 3000
"""How many products are generated unless a number is set."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where products come from.

    Attributes
    ----------
    products
        How many; None for `PRODUCTS` generated ones, or for all of the files.
    seed
        What a generated catalogue follows from.
    folder
        Where WebShop's files are; empty for a generated catalogue.
    """

    products: int | None = None
    seed: int = 0
    folder: str = ""

    @property
    def name(self) -> str:
        """What the cache calls it; only `key` tells two of them apart."""
        if self.folder:
            return "items"
        return f"seed-{self.seed}-{self.products or PRODUCTS}"

    @property
    def key(self) -> str:
        """All that decides what is in it."""
        if self.folder:
            return f"items {self.products} {find_files(Path(self.folder)).key}"
        return f"{self.name} {GENERATED_BY} {_vocabulary_hash()}"

    def items(self) -> Iterator[tuple[Product, Sequence[Goal]]]:
        """Yield every product, with the goals that were written for it.

        Raises
        ------
        UsageError, DataError
            A file is missing or broken, or no goal is in it.
        """
        found = 0
        for product, goals in self._items():
            found += len(goals)
            yield product, goals
        if not found:
            raise DataError(
                f"{self.folder or 'The generated catalogue'} has no instruction for any of its "
                "products: set shop.products to a larger number."
            )

    def _items(self) -> Iterator[tuple[Product, Sequence[Goal]]]:
        if self.folder:
            yield from read_items(find_files(Path(self.folder)), self.products)
            return
        for product, goal in generate(self.products or PRODUCTS, self.seed):
            yield product, () if goal is None else (goal,)


@cache
def _vocabulary_hash() -> str:
    return blake2b(VOCABULARY.read_bytes(), digest_size=8).hexdigest()
