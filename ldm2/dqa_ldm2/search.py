"""Find the documents whose words are most similar to a text (BM25)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from dqa.core.fitting import LENGTH, SATURATION, words_in

Document: TypeAlias = tuple[int, str, Hashable, str]
"""The id, the source, a key that equal documents share, and the text."""
_Scores: TypeAlias = npt.NDArray[np.float64]
_LEFT_OUT: Final = -2.0


class WordIndex:
    """An index of documents, with the words and constants of `dqa.core.fitting`.

    Documents are in the order of their ids.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._ids = [document[0] for document in documents]
        self._keys = [document[2] for document in documents]
        self._sources: dict[str, list[int]] = {}
        for place, document in enumerate(documents):
            self._sources.setdefault(document[1], []).append(place)
        counts = [Counter(words_in(document[3])) for document in documents]
        lengths = np.array([found.total() for found in counts], dtype=np.float64)
        mean = lengths.mean() if lengths.any() else 1.0
        places: dict[str, list[tuple[int, int]]] = {}
        for place, found in enumerate(counts):
            for word, times in found.items():
                places.setdefault(word, []).append((place, times))
        self._worth: dict[str, tuple[npt.NDArray[np.intp], _Scores]] = {}
        for word, held in places.items():
            at, times_at = (np.array(part) for part in zip(*held, strict=True))
            rarity = np.log(1.0 + (len(counts) - len(held) + 0.5) / (len(held) + 0.5))
            norm = SATURATION * (1.0 - LENGTH + LENGTH * lengths[at] / mean)
            self._worth[word] = at, rarity * times_at / (norm + times_at)

    def best(self, about: str, most: int, excluded: Collection[str]) -> list[tuple[int, float]]:
        """Return the ids of the documents most similar to a text, with their similarity.

        Parameters
        ----------
        about
            The text.
        most
            The maximum number of documents. Only the first of equal documents is returned.
        excluded
            Sources whose documents are left out.
        """
        scores = self._score(about)
        for source in excluded:
            scores[self._sources.get(source, [])] = _LEFT_OUT
        found: dict[Hashable, tuple[int, float]] = {}
        for place in np.argsort(-scores, kind="stable").tolist():
            if len(found) == most or scores[place] == _LEFT_OUT:
                break
            found.setdefault(self._keys[place], (self._ids[place], float(scores[place])))
        return list(found.values())

    def _score(self, about: str) -> _Scores:
        """Return the similarity of every document to a text."""
        scores = np.zeros(len(self._ids))
        for word in dict.fromkeys(words_in(about)):
            if word in self._worth:
                places, worth = self._worth[word]
                scores[places] += worth
        return scores
