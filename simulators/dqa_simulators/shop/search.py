"""Search products as in WebShop: BM25 with Lucene's weights and analysis over their texts.

bm25s builds and stores the index. The documents are in the order of product ids, so products with
equal scores are also in this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dqa.core.distribution import install_command
from dqa.core.errors import DataError, MissingKeyError
from dqa_simulators.shop.words import STOP_WORDS, words_of

MOST_RESULTS: Final = 50
"""The maximum number of results of a search."""
K1, B = 0.9, 0.4
"""The BM25 parameters in WebShop."""
_ASINS: Final = "asins.npy"


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
        """Return the ids of at most 50 products with a word of the text, best first.

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
    bm25s, terms = _load("bm25s"), _Terms()
    documents: dict[str, list[int]] = {}
    for asin, text in products:
        numbers = [terms[word] for word in words_of(text)]
        documents[asin] = [number for number in numbers if number >= 0]
    asins = sorted(documents)
    corpus = bm25s.tokenization.Tokenized(
        ids=[documents[asin] for asin in asins], vocab=terms.ids or {"": 0}
    )
    scorer = bm25s.BM25(k1=K1, b=B, method="lucene")
    scorer.index(corpus, create_empty_token=False, show_progress=False)
    scorer.save(folder, show_progress=False)
    np.save(folder / _ASINS, np.array(asins, dtype=np.str_))


class _Terms(dict[str, int]):
    """Map each word to the number of its stem; stop words to -1.

    Attributes
    ----------
    ids
        The number of each stem.
    """

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(STOP_WORDS, -1))
        self.ids: dict[str, int] = {}
        self._stem = _stemmer().stemWord

    def __missing__(self, word: str) -> int:
        number = self[word] = self.ids.setdefault(self._stem(word), len(self.ids))
        return number


def _stemmer() -> Any:  # noqa: ANN401  (the package has no types)
    """Return a new stemmer. A stemmer has a buffer, so threads must not share one."""
    return _load("Stemmer").Stemmer("porter")


def _load(package: str) -> Any:  # noqa: ANN401  (as above)
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingKeyError(
            f"The shop's search needs '{error.name}', which is not installed. Install it: "
            f"{install_command('shop')}."
        ) from error
