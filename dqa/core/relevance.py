"""Rank the parts of a schema by their relevance to a text.

Words of names, columns and comments are compared in the singular. The weight of a word depends on
its rarity and on its field (BM25F: Robertson and Zaragoza, 2009, section 3.7). An abbreviation or
another form of the same stem has half the weight. Then scores spread along joins: from a part to
the parts that refer to it, to the parts that it refers to, and to the parts that refer to the same
part, unless these are many.

`bm25s` is not used, because it has no weights for fields.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import log

from dqa.core.schema import EdgeInfo, Part, PartKind, TableInfo

_LATIN = [chr(code) for code in range(0x250)]
_CAPITAL = "".join(filter(str.isupper, _LATIN))
_SMALL = "".join(letter for letter in _LATIN if letter.isalpha() and not letter.isupper())
_WORD = re.compile(
    rf"[{_CAPITAL}]+(?![{_SMALL}])|[{_CAPITAL}]?[{_SMALL}]+|[^\W\d_{_CAPITAL}{_SMALL}]+|\d+"
)
_ONE_LETTER = re.compile(r"(?<![^\W_])([A-Za-z])-([A-Za-z]{2,})")
"""A word with a hyphen after its first letter: ``E-Mail``."""
_SHORTEST_PLURAL = 4
SATURATION, LENGTH = 1.2, 0.75
"""The parameters k1 and b of BM25, with their usual values."""
_NEAR = 0.5
"""The weight of a word that is similar to a word of the text."""
_SHORTEST_STEM, _SHORTEST_SHORT = 5, 3
_WEIGHTS = (1.0, 1.0, 0.2, 0.1)
"""The weights of the name and comment of a part, and of the names and comments of columns."""
_DOWN, _UP = 4.0, 0.8
"""The weights of the scores of the parts that a part refers to, and of those that refer to it."""
_HUB = 50
"""Two parts that refer to the same part are unrelated if it has more references than this."""


class Index:
    """An index of documents by their words.

    Parameters
    ----------
    weights
        The weight of each field of a document.
    documents
        The texts of each field, for each document.
    """

    def __init__(
        self, weights: Sequence[float], documents: Iterable[Sequence[Iterable[str]]]
    ) -> None:
        counts = [
            [Counter(word for text in texts for word in words_in(text)) for texts in fields]
            for fields in documents
        ]
        self._size = len(counts)
        self._worth: dict[str, dict[int, float]] = {}
        for field, weight in enumerate(weights):
            # Documents without a text in this field, such as a comment, are not counted.
            lengths = [total for found in counts if (total := found[field].total())]
            mean = sum(lengths) / len(lengths) if lengths else 1.0
            for number, found in enumerate(counts):
                length = 1.0 - LENGTH + LENGTH * found[field].total() / mean
                for word, count in found[field].items():
                    worth = self._worth.setdefault(word, {})
                    worth[number] = worth.get(number, 0.0) + count * weight / length

    def score(self, about: str) -> list[float]:
        """Return the score of each document for a text; 0 without a match."""
        scores = [0.0] * self._size
        for word in dict.fromkeys(words_in(about)):
            # All forms of a word together determine its rarity.
            found: dict[int, float] = {}
            for other, weight in near_words(word, self._worth).items():
                for number, value in self._worth.get(other, {}).items():
                    found[number] = found.get(number, 0.0) + weight * value
            rarity = log(1.0 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            for number, value in found.items():
                scores[number] += rarity * value / (SATURATION + value)
        return scores


class Relevance:
    """Scores the parts of a schema by texts.

    Parameters
    ----------
    parts
        All parts.

    Attributes
    ----------
    references
        For each part, the positions of the parts that it refers to by keys, or that it connects.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        named = (
            ([f.name for f in part.fields], [f.comment for f in part.fields]) for part in parts
        )
        pairs = zip(parts, named, strict=True)
        documents = (((part.name,), (part.comment,), *texts) for part, texts in pairs)
        self._index = Index(_WEIGHTS, documents)
        self.references = _references(parts)

    def of(self, about: str, known: Iterable[int] = ()) -> list[float]:
        """Return the score of each part for a text; 0 without a match.

        Parameters
        ----------
        about
            The text.
        known
            The positions of parts with the highest score, independent of the text.
        """
        worth = self._index.score(about)
        best = max(worth, default=0.0) or 1.0
        for position in known:
            worth[position] = best
        users: defaultdict[int, list[int]] = defaultdict(list)
        for position, others in enumerate(self.references):
            for other in others:
                users[other].append(position)
        share = {one: _DOWN / (1.0 + log(1.0 + len(found))) for one, found in users.items()}
        # Parts that refer to the same part share scores: order notes and order lines.
        few = {one: found for one, found in users.items() if len(found) <= _HUB}
        shared = {one: max(worth[other] for other in found) for one, found in few.items()}
        total = [
            own + sum(share[other] * worth[other] for other in self.references[position])
            for position, own in enumerate(worth)
        ]
        return [
            own
            + _UP * max((total[other] for other in users[position]), default=0.0)
            + sum(share[one] * shared[one] for one in self.references[position] if one in shared)
            for position, own in enumerate(total)
        ]


def _references(parts: Sequence[Part]) -> list[list[int]]:
    positions = {(part.kind, part.name): position for position, part in enumerate(parts)}
    found: list[list[int]] = []
    for position, part in enumerate(parts):
        names: list[tuple[PartKind, str]] = []
        if isinstance(part, TableInfo):
            names = [("table", other) for _, other, _ in part.references]
        elif isinstance(part, EdgeInfo):
            names = [("label", part.source), ("label", part.target)]
        others = dict.fromkeys(positions[name] for name in names if name in positions)
        found.append([other for other in others if other != position])
    return found


def near_words(word: str, known: Iterable[str]) -> dict[str, float]:
    """Return a word and the similar known words, with their weights."""
    return {**{other: _NEAR for other in sorted(known) if _is_near(word, other)}, word: 1.0}


def _is_near(word: str, other: str) -> bool:
    """Return whether a word abbreviates another one or shares its stem: ``qty``, ``cust``."""
    if word[0] != other[0] or word == other or not (word.isalpha() and other.isalpha()):
        return False
    short, long = sorted((word, other), key=len)
    common = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), -1)
    if common < 0:
        return len(short) >= _SHORTEST_SHORT  # one word is the beginning of the other
    if common >= max(_SHORTEST_STEM, len(short) - 2):
        return True
    return other is short and _shortens(short, long)


def _shortens(short: str, long: str) -> bool:
    """Return whether a word is another one without most of its vowels: ``whse``, ``prd``."""
    if not _SHORTEST_SHORT <= len(short) < len(long) - 1 or set(short[1:-1]) & set("aeiou"):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=1 << 16)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name (``order_lines``, ``OrderLines``), in the singular.

    The singular follows simple English rules, which are applied to both compared words.
    """
    return tuple(singular(word) for word in split_words(text))


def split_words(text: str) -> list[str]:
    """Return the words of a text or of a name."""
    return _WORD.findall(_ONE_LETTER.sub(lambda found: f"{found[1]}{found[2]}".lower(), text))


def singular(word: str) -> str:
    """Return a word in the singular and in lower case."""
    word = word.casefold()
    if len(word) >= _SHORTEST_PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
