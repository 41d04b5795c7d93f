"""Find the documents that are most similar to a situation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from functools import cached_property
from typing import TypeAlias

from dqa_ldm2.likeness import words_of

Texts: TypeAlias = tuple[str, str, str]
"""A goal, a history and an observation."""
Document: TypeAlias = tuple[int, str, Hashable, Texts]
"""The id, the source, a key that equal documents share, and the texts."""


class WordIndex:
    """An index of documents, in the order of their ids.

    The similarity of two texts is the share of words that they have in common (Jaccard). Rare words
    have larger weights. A document has three texts. The similarity of two documents is the sum of
    the similarities of their texts.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @cached_property
    def _parts(self) -> list[_TextIndex]:
        texts = zip(*(document[3] for document in self._documents), strict=True)
        return [_TextIndex(part) for part in texts]

    @cached_property
    def _whole(self) -> _TextIndex:
        return _TextIndex(["\n".join(document[3]) for document in self._documents])

    def best(
        self, about: Texts | str, most: int, excluded: Collection[str]
    ) -> list[tuple[int, float]]:
        """Return the ids of the documents most similar to some texts, with their similarity.

        Parameters
        ----------
        about
            The texts. For a single text, the similarity is the share of the text's words that a
            document contains.
        most
            The maximum number of documents. Only the first of equal documents is returned.
        excluded
            Sources whose documents are left out.
        """
        if isinstance(about, str):
            scores = self._whole.shares(about)
        else:
            of_parts = [part.likeness(text) for part, text in zip(self._parts, about, strict=False)]
            scores = [sum(of_document) for of_document in zip(*of_parts, strict=True)]
        found: dict[Hashable, tuple[int, float]] = {}
        for index in sorted(range(len(scores)), key=lambda index: -scores[index]):
            number, source, key, _ = self._documents[index]
            if len(found) < most and source not in excluded:
                found.setdefault(key, (number, scores[index]))
        return list(found.values())


class _TextIndex:
    """The texts of one kind, such as the goals of all documents, with the weight of each word."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [words_of(text) for text in texts]
        counts = Counter(word for words in self._words for word in words)
        self._weights = {word: math.log(1 + len(texts) / times) for word, times in counts.items()}
        self._unknown = math.log(1 + 2 * len(texts))
        self._totals = [self._weight(words) for words in self._words]

    def likeness(self, text: str) -> list[float]:
        """Return how similar the text of each document is to `text`, from 0 to 1."""
        sought = words_of(text)
        own = self._weight(sought)
        common = [self._weight(sought & words) for words in self._words]
        return [
            both / (own + total - both) if own or total else 1.0
            for both, total in zip(common, self._totals, strict=True)
        ]

    def shares(self, text: str) -> list[float]:
        """Return the share of the words of `text` that each document contains."""
        sought = words_of(text)
        own = self._weight(sought) or 1.0
        return [self._weight(sought & words) / own for words in self._words]

    def _weight(self, words: Collection[str]) -> float:
        return math.fsum(self._weights.get(word, self._unknown) for word in words)
