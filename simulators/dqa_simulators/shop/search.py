"""Search as WebShop's: BM25 with Lucene's weights and analysis, over every product's text.

The index is made once with bm25s and kept as arrays, which are mapped into memory where somebody
searches. Its documents stand in the order of product ids, so equal scores are in that order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dqa.core.distribution import install_command
from dqa.core.errors import DataError, MissingKeyError
from dqa.core.files import UnsuitableFileError, parse_json, read_bytes, write_private
from dqa_simulators.shop.words import STOP_WORDS, words_of

MOST_RESULTS: Final = 50
"""How many products a search gives."""
K1, B = 0.9, 0.4
"""Lucene's parameters as WebShop's searcher sets them."""

_ASINS: Final = "asins.npy"
_VOCABULARY: Final = "vocabulary.json"
_REMEMBERED: Final = 50_000
"""Texts whose words are remembered while an index is made: many products share a bullet."""


class Index:
    """What searches a catalogue. Safe to use from several threads.

    Parameters
    ----------
    folder
        Where an `IndexBuilder` wrote it.

    Raises
    ------
    MissingKeyError
        bm25s or PyStemmer is not installed.
    DataError
        The folder holds no index, or a damaged one.
    """

    def __init__(self, folder: Path) -> None:
        bm25s = _load_bm25s()
        try:
            self._ids: dict[str, int] = parse_json(read_bytes(folder / _VOCABULARY))
            self._asins: NDArray[np.str_] = np.load(folder / _ASINS, mmap_mode="r")
            self._scorer: Any = bm25s.BM25.load(folder, mmap=True, load_vocab=False)
        except UnsuitableFileError:
            raise
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise DataError(
                f"{folder}: it is no index of a shop's search, or a damaged one ({error}): remove "
                f"the folder {folder.parent}, and it is made again."
            ) from error

    def search(self, text: str, most: int = MOST_RESULTS) -> tuple[str, ...]:
        """Return the ids of the products that a text finds, the best first.

        Equally good ones are in the order of their ids; products with no word of it are none.
        """
        numbers = self.numbers_of(text)
        if not numbers:
            return ()
        scores = self.scores_of(numbers)
        found = np.flatnonzero(scores > 0.0)
        if len(found) > most:
            # Whatever is as good as the last one stays, so that its id decides, not its place.
            last = np.partition(scores[found], -most)[-most]
            found = found[scores[found] >= last]
        best = found[np.argsort(-scores[found], kind="stable")][:most]
        return tuple(str(asin) for asin in self._asins[best])

    def numbers_of(self, text: str) -> list[int]:
        """Return the index's numbers of a text's words, without those that no product has."""
        return [self._ids[term] for term in _terms(text) if term in self._ids]

    def scores_of(self, numbers: list[int]) -> NDArray[np.float32]:
        """Return what bm25s gives each product, in the order of ids, for some words."""
        scores: NDArray[np.float32] = self._scorer.get_scores_from_ids(numbers)
        return scores


class IndexBuilder:
    """Makes an index of products' texts, in whatever order they come.

    Raises
    ------
    MissingKeyError
        bm25s or PyStemmer is not installed.
    """

    def __init__(self) -> None:
        self._bm25s = _load_bm25s()
        self._terms = _Terms()
        self._numbers: dict[str, list[int]] = {}
        self._documents: dict[str, list[int]] = {}

    def add(self, asin: str, texts: Iterable[str]) -> None:
        """Add a product with all of its texts."""
        found: list[int] = []
        known = self._numbers
        for text in texts:
            numbers = known.get(text)
            if numbers is None:
                numbers = self._read(text)
                if len(known) < _REMEMBERED:
                    known[text] = numbers
            found += numbers
        self._documents[asin] = found

    def _read(self, text: str) -> list[int]:
        numbers = [self._terms[word] for word in words_of(text)]
        return [number for number in numbers if number >= 0]

    def write(self, folder: Path) -> None:
        """Write the index into a folder that is there, and empty."""
        asins = sorted(self._documents)
        corpus = [self._documents[asin] for asin in asins]
        ids = self._terms.ids or {"": 0}
        scorer = self._bm25s.BM25(k1=K1, b=B, method="lucene")
        tokenized = self._bm25s.tokenization.Tokenized(ids=corpus, vocab=ids)
        scorer.index(tokenized, create_empty_token=False, show_progress=False)
        scorer.save(folder, show_progress=False)
        np.save(folder / _ASINS, np.array(asins, dtype=np.str_))
        write_private(folder / _VOCABULARY, json.dumps(ids, ensure_ascii=False))


class _Terms(dict[str, int]):
    """The number of every word's stem; -1 for stop words. What is known is looked up once a word.

    Attributes
    ----------
    ids
        The numbers by stem.
    """

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(STOP_WORDS, -1))
        self.ids: dict[str, int] = {}
        self._stem = _stemmer().stemWord

    def __missing__(self, word: str) -> int:
        number = self[word] = self.ids.setdefault(self._stem(word), len(self.ids))
        return number


def _terms(text: str) -> Sequence[str]:
    stem = _stemmer().stemWord
    return [stem(word) for word in words_of(text) if word not in STOP_WORDS]


def _stemmer() -> Any:  # noqa: ANN401  (the package has no types)
    """Return a stemmer; each holds a buffer of its own, so no two threads share one."""
    return _load("Stemmer").Stemmer("porter")


def _load_bm25s() -> Any:  # noqa: ANN401  (as above)
    _load("Stemmer")
    return _load("bm25s")


def _load(package: str) -> Any:  # noqa: ANN401  (as above)
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise MissingKeyError(
            "The shop's search needs bm25s and PyStemmer, of which one is not installed "
            f"({error.name}): {install_command('shop')}."
        ) from error
