"""Which parts of a schema a text is about: names, columns, comments, and what they are joined to.

Words are compared in the singular. Each word of the text is worth the more, the fewer parts have
it, and the more, the more prominently they do (BM25F: Robertson and Zaragoza, 2009, section 3.7);
a word that is only near (an abbreviation, another form of the same stem) is worth half. Then what
refers to a part gets some of its worth, the less, the more do (order lines of an order; hardly
anything of a hub that everything refers to), what a part refers to gets most of its worth, for a
join needs it, and what refers to the same part, unless that is a hub, gets some, too.

`bm25s` has no fields of different weight, and indexes all words of all tables, where here only
those of one text are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from dqa.core.parts import Part, part_fields, part_name
from dqa.core.schema import EdgeInfo, NodeInfo, TableInfo

_LATIN = [chr(code) for code in range(0x250)]
_CAPITAL = "".join(filter(str.isupper, _LATIN))
_SMALL = "".join(letter for letter in _LATIN if letter.isalpha() and not letter.isupper())
_WORD = re.compile(
    rf"[{_CAPITAL}]+(?![{_SMALL}])|[{_CAPITAL}]?[{_SMALL}]+|[^\W\d_{_CAPITAL}{_SMALL}]+|\d+"
)
_ONE_LETTER = re.compile(r"(?<![^\W_])([A-Za-z])-([A-Za-z]{2,})")
"""What is one word in spite of its hyphen: ``E-Mail``."""
_HYPHENATED = re.compile(r"(?<![^\W_])[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)+")
"""What others write as one word or as several: ``well-known``; numbers and dates are not."""
_SHORTEST_PLURAL = 4
SATURATION, LENGTH = 1.2, 0.75
"""BM25's k1 and b, with their usual values."""
_NEAR = 0.5
"""What a word is worth that is only near to the text's."""
_SHORTEST_STEM, _SHORTEST_SHORT = 5, 3
_DOWN, _UP = 4.0, 0.8
"""How much of a part's worth goes to all that refers to it, and to each that it refers to."""
_HUB = 50
"""What more parts than these refer to is a hub, which says nothing of what they have in common."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a word is worth by where it stands; 0 leaves that place out.

    Attributes
    ----------
    name, comment
        Of a table, label or relationship type.
    fields, field_comments
        Of its columns or properties.
    joins
        Whether some of a part's worth goes to what it is joined to.
    near
        What a word is worth that is only near to one of the text's.
    """

    name: float = 1.0
    comment: float = 1.0
    fields: float = 0.2
    field_comments: float = 0.1
    joins: bool = True
    near: float = _NEAR


DEFAULT_WEIGHTS = Weights()


class Index:
    """Documents by their words, each a list of places of a weight with the texts that stand there.

    Parameters
    ----------
    documents
        Each with the same places in the same order.
    """

    def __init__(self, documents: Iterable[Sequence[tuple[float, Iterable[str]]]]) -> None:
        weights: list[float] = []
        words: list[list[list[str]]] = []
        for places in documents:
            weights = [weight for weight, _ in places]
            words.append([[w for text in texts for w in _forms_in(text)] for _, texts in places])
        self._count = len(words)
        self._held: dict[str, dict[int, float]] = {}
        for place, weight in enumerate(weights):
            if not weight:
                continue
            # Where most have nothing, such as no comment, the mean of all would be near 0.
            lengths = [len(found[place]) for found in words if found[place]]
            mean = sum(lengths) / len(lengths) if lengths else 1.0
            for number, found in enumerate(words):
                length = 1.0 - LENGTH + LENGTH * len(found[place]) / mean
                for word in found[place]:
                    held = self._held.setdefault(word, {})
                    held[number] = held.get(number, 0.0) + weight / length

    def score(self, about: str, near: float = _NEAR) -> list[float]:
        """Return for each document how much a text is about it, 0 for not at all."""
        scores = [0.0] * self._count
        for word in dict.fromkeys(_forms_in(about)):
            # Forms of one word are one word: it is as rare as all of them together.
            found: dict[int, float] = {}
            for other, worth in near_words(word, self._held, near).items():
                for number, value in self._held.get(other, {}).items():
                    found[number] = found.get(number, 0.0) + worth * value
            rarity = log(1.0 + (self._count - len(found) + 0.5) / (len(found) + 0.5))
            for number, value in found.items():
                scores[number] += rarity * value / (SATURATION + value)
        return scores


class Relevance:
    """Tells how much texts are about the parts of a schema.

    Parameters
    ----------
    parts
        All there are.
    weights
        What a word is worth by where it stands.
    """

    def __init__(self, parts: Sequence[Part], weights: Weights = DEFAULT_WEIGHTS) -> None:
        self._weights = weights
        self._index = Index(_places(part, weights) for part in parts)
        self.referred = _referred(parts)
        """The places that each part refers to: by keys, or as ends of a relationship."""

    def of(self, about: str, known: Iterable[int] = ()) -> list[float]:
        """Return for each part how much a text is about it, 0 for not at all.

        Parameters
        ----------
        about
            The text.
        known
            Places of the parts that are known to matter: each is worth as much as the best.
        """
        worth = self._index.score(about, self._weights.near)
        best = max(worth, default=0.0) or 1.0
        for place in known:
            worth[place] = best
        return _spread(worth, self.referred) if self._weights.joins else worth


def near_words(word: str, known: Iterable[str], near: float = _NEAR) -> dict[str, float]:
    """Return the known words that may mean a word, itself included, with what each is worth."""
    found = {other: near for other in sorted(known) if near and _is_near(word, other)}
    return {**found, word: 1.0}


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
    """Whether a word is another one without vowels, or but for few of them: ``whse``, ``prd``."""
    if not _SHORTEST_SHORT <= len(short) < len(long) - 1 or set(short[1:-1]) & set("aeiou"):
        return False
    letters = iter(long)
    return all(letter in letters for letter in short)


def _places(part: Part, weights: Weights) -> list[tuple[float, list[str]]]:
    """Return the texts of a part by what a word in them is worth."""
    fields = part_fields(part)
    texts: list[tuple[float, list[str]]] = [
        (weights.name, [part_name(part)]),
        (weights.comment, [part.comment]),
        (weights.fields, [field.name for field in fields]),
        (weights.field_comments, [field.comment for field in fields]),
    ]
    return [(weight, found if weight else []) for weight, found in texts]


def _spread(worth: Sequence[float], ups: Sequence[Sequence[int]]) -> list[float]:
    """Return the worth of each part with what comes to it along its joins."""
    downs: dict[int, list[int]] = {}
    for place, others in enumerate(ups):
        for other in others:
            downs.setdefault(other, []).append(place)
    share = {place: _DOWN / (1.0 + log(1.0 + len(found))) for place, found in downs.items()}
    # Details of one thing tell of it in turn: what only its notes call it, finds its lines too.
    told = {
        place: max(worth[other] for other in found)
        for place, found in downs.items()
        if len(found) <= _HUB
    }
    total = [
        own + sum(share[other] * worth[other] for other in ups[place])
        for place, own in enumerate(worth)
    ]
    return [
        own
        + _UP * max((total[other] for other in downs.get(place, ())), default=0.0)
        + sum(share[other] * told[other] for other in ups[place] if other in told)
        for place, own in enumerate(total)
    ]


def _referred(parts: Sequence[Part]) -> list[list[int]]:
    tables = {part.name: place for place, part in enumerate(parts) if isinstance(part, TableInfo)}
    nodes = {part.label: place for place, part in enumerate(parts) if isinstance(part, NodeInfo)}
    found: list[list[int]] = []
    for place, part in enumerate(parts):
        others: list[int | None] = []
        if isinstance(part, TableInfo):
            others = [tables.get(other) for _, other, _ in part.references]
        elif isinstance(part, EdgeInfo):
            others = [nodes.get(part.source), nodes.get(part.target)]
        kept = (other for other in others if other is not None and other != place)
        found.append(list(dict.fromkeys(kept)))
    return found


@lru_cache(maxsize=1 << 16)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name (``order_lines``, ``OrderLines``), in the singular.

    The singular is a rough one, of English: it only has to be the same on both sides.
    """
    return tuple(singular(word) for word in split_words(text))


@lru_cache(maxsize=1 << 16)
def _forms_in(text: str) -> tuple[str, ...]:
    """Return the words of a text, and of each with a hyphen both the whole and its parts.

    A letter alone (the E of ``E-Mail``) is no part: nobody looks for it.
    """
    forms = list(words_in(text))
    for compound in _HYPHENATED.findall(text):
        parts = re.split(r"[-\u2010\u2011]", compound)
        whole = singular("".join(parts))
        known = set(words_in(compound))
        more = (word for part in parts if len(part) > 1 for word in words_in(part))
        forms += [word for word in (whole, *more) if word not in known]
    return tuple(forms)


def split_words(text: str) -> list[str]:
    """Return the words of a text or of a name as they are written there."""
    return _WORD.findall(_ONE_LETTER.sub(lambda found: f"{found[1]}{found[2]}".lower(), text))


def singular(written: str) -> str:
    """Return the one form that stands for all forms of a written word."""
    word = written.casefold()
    if len(word) >= _SHORTEST_PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
