"""How like texts are to a text: BM25 over their words, in arrays.

Words and BM25's constants are those of `dqa.core.relevance`. That one looks few documents up by
near words; here are many, and thousands of them are scored in a millisecond.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from dqa.core.relevance import LENGTH, SATURATION, singular, split_words, words_in

_FREQUENT: Final = 4
"""A word that one in so many documents has is kept as a row over all of them."""
_ROWS: Final = 128
"""Most such rows: they bound what an index needs."""
_MANY: Final = 4_096
"""Documents below which rows gain nothing."""


class WordIndex:
    """Documents by their words.

    Parameters
    ----------
    documents
        Of each its id, ascending; its source; and its text.

    Attributes
    ----------
    size
        How many documents there are.
    """

    def __init__(self, documents: Iterable[tuple[int, str, str]]) -> None:
        ids: list[int] = []
        lengths: list[int] = []
        codes: list[int] = []
        sources: dict[str, list[int]] = {}
        written: dict[str, int] = {}
        self._codes: dict[str, int] = {}
        for place, (identifier, source, text) in enumerate(documents):
            words = split_words(text)
            for word in words:
                code = written.get(word)
                if code is None:  # once a word as it is written: a text has most of them again
                    code = self._codes.setdefault(singular(word), len(self._codes))
                    written[word] = code
                codes.append(code)
            ids.append(identifier)
            lengths.append(len(words))
            sources.setdefault(source, []).append(place)
        self.size = len(ids)
        self._ids = np.array(ids, dtype=np.int64)
        self._sources = {name: np.array(held, dtype=np.int64) for name, held in sources.items()}
        self._weigh(np.array(codes, dtype=np.int64), np.array(lengths, dtype=np.int64))

    def _weigh(self, codes: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> None:
        """Calculate what each word is worth in each document that has it."""
        size = max(self.size, 1)
        mean = lengths.mean() if codes.size else 1.0
        keys, times = np.unique(
            codes * size + np.repeat(np.arange(self.size), lengths), return_counts=True
        )
        words, self._places = np.divmod(keys, size)
        self._starts = np.searchsorted(words, np.arange(len(self._codes) + 1))
        held = np.diff(self._starts)
        rarity = np.log(1.0 + (self.size - held + 0.5) / (held + 0.5))
        value = times / (1.0 - LENGTH + LENGTH * lengths[self._places] / mean)
        worth = rarity[words] * value / (SATURATION + value)
        self._worth: npt.NDArray[np.float32] = worth.astype(np.float32)
        self._rows: dict[int, npt.NDArray[np.float32]] = {}
        if self.size < _MANY:
            return
        frequent = np.flatnonzero(held * _FREQUENT > self.size)
        for code in frequent[np.argsort(-held[frequent], kind="stable")][:_ROWS].tolist():
            row = np.zeros(self.size, dtype=np.float32)
            part = slice(self._starts[code], self._starts[code + 1])
            row[self._places[part]] = self._worth[part]
            self._rows[code] = row

    def best(
        self, about: str, most: int, excluded: Collection[str] = frozenset()
    ) -> list[tuple[int, float]]:
        """Return the ids of the documents that are most like a text, with how like they are.

        Parameters
        ----------
        about
            The text.
        most
            How many at most.
        excluded
            Sources whose documents are left out.

        Returns
        -------
        list of tuple of int and float
            The most like first, the smaller id where two are as like; those that share no word
            have 0 and come last.
        """
        scores = self._score(about)
        left = self.size
        for source in excluded:
            if (places := self._sources.get(source)) is not None:
                scores[places] = -1.0
                left -= places.size
        count = min(most, left)
        if count <= 0:
            return []
        least = np.partition(scores, self.size - count)[self.size - count]
        above = np.flatnonzero(scores > least)
        above = above[np.argsort(-scores[above], kind="stable")]
        level = np.flatnonzero(scores == least)[: count - above.size]
        chosen = np.concatenate([above, level])
        return list(zip(self._ids[chosen].tolist(), scores[chosen].tolist(), strict=True))

    def _score(self, about: str) -> npt.NDArray[np.float32]:
        scores = np.zeros(self.size, dtype=np.float32)
        for word in dict.fromkeys(words_in(about)):
            code = self._codes.get(word)
            if code is None:
                continue
            if (row := self._rows.get(code)) is not None:
                scores += row
                continue
            part = slice(self._starts[code], self._starts[code + 1])
            scores[self._places[part]] += self._worth[part]
        return scores
