"""Rank the parts of a schema by a text: names, columns, comments, and joins.

Words are compared in the singular. A word counts the more, the fewer parts contain it and the more
prominent its place is (BM25F: Robertson and Zaragoza, 2009, section 3.7). An abbreviation or
another form of the same stem counts half. Then worth spreads along joins: a part passes some to
the parts that refer to it (the less, the more of them there are), most to the parts that it refers
to, as a join needs them, and some to the parts that refer to the same part, unless they are many.

`bm25s` does not weigh the fields of a document, and it indexes all words of all tables, where only
those of one text are looked up here.
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
"""One word in spite of its hyphen: ``E-Mail``."""
_SHORTEST_PLURAL = 4
SATURATION, LENGTH = 1.2, 0.75
"""BM25's k1 and b, with their usual values."""
_NEAR = 0.5
"""The weight of a word that is only near to one of the text."""
_SHORTEST_STEM, _SHORTEST_SHORT = 5, 3
_WEIGHTS = (1.0, 1.0, 0.2, 0.1)
"""The weights of a word in a part's name and comment, and in its columns' names and comments."""
_DOWN, _UP = 4.0, 0.8
"""How much of a part's worth goes to all that refers to it, and to each that it refers to."""
_HUB = 50
"""Parts have nothing in common because they refer to a part with more references than this."""


class Index:
    """Documents by their words.

    Parameters
    ----------
    weights
        The weight of each field of a document.
    documents
        For each document the texts of each field.
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
            # Most documents may lack a text here, such as a comment: they do not count.
            lengths = [total for found in counts if (total := found[field].total())]
            mean = sum(lengths) / len(lengths) if lengths else 1.0
            for number, found in enumerate(counts):
                length = 1.0 - LENGTH + LENGTH * found[field].total() / mean
                for word, count in found[field].items():
                    worth = self._worth.setdefault(word, {})
                    worth[number] = worth.get(number, 0.0) + count * weight / length

    def score(self, about: str) -> list[float]:
        """Return for each document how well a text matches it, 0 for not at all."""
        scores = [0.0] * self._size
        for word in dict.fromkeys(words_in(about)):
            # Forms of one word are one word: it is as rare as all of them together.
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
        The positions of the parts that each one refers to: by keys, or as its ends.
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
        """Return for each part how well a text matches it, 0 for not at all.

        Parameters
        ----------
        about
            The text.
        known
            Positions of parts that matter in any case: each counts as much as the best.
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
        # Words that only the notes of an order contain also find the lines of the order.
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
    """Return the known words that may mean a word, itself included, with their weights."""
    return {**{other: _NEAR for other in sorted(known) if _is_near(word, other)}, word: 1.0}


def _is_near(word: str, other: str) -> bool:
    """Whether a word shortens the other or has its stem: ``qty``, ``cust``, ``delivered``."""
    if word[0] != other[0] or word == other or not (word.isalpha() and other.isalpha()):
        return False
    short, long = sorted((word, other), key=len)
    common = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), -1)
    if common < 0:
        return len(short) >= _SHORTEST_SHORT  # the one begins the other
    if common >= max(_SHORTEST_STEM, len(short) - 2):
        return True
    return other is short and _shortens(short, long)


def _shortens(short: str, long: str) -> bool:
    """Whether a word is another one without most of its vowels: ``whse``, ``prd``."""
    if not _SHORTEST_SHORT <= len(short) < len(long) - 1 or set(short[1:-1]) & set("aeiou"):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=1 << 16)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name (``order_lines``, ``OrderLines``), in the singular.

    The singular is a rough one, of English: it only has to be the same on both sides.
    """
    return tuple(singular(word) for word in split_words(text))


def split_words(text: str) -> list[str]:
    """Return the words of a text or of a name as they are spelled there."""
    return _WORD.findall(_ONE_LETTER.sub(lambda found: f"{found[1]}{found[2]}".lower(), text))


def singular(word: str) -> str:
    """Return the common form of all forms of a word."""
    word = word.casefold()
    if len(word) >= _SHORTEST_PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
