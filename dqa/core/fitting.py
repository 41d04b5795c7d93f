"""Choose which parts of a long schema a model reads.

Parts are tables, node labels and relationship types. The parts that a scenario names rank first.
Next are the parts whose names the question contains, and then all other parts by relevance. The
first parts are described in full, and the next parts by keys, joins and comments only. The
remaining parts are listed by name while there is room.

To find relevant parts, the words of the question are compared with the words of names and comments.
All words are compared in the singular. The weight of a word depends on its rarity and on its field
(BM25F: Robertson and Zaragoza, 2009, section 3.7). Two words match with half the weight if one
abbreviates the other or if they share a stem. A part also receives a share of the scores of related
parts: parts that it refers to, parts that refer to it, and parts that refer to the same part. Parts
that refer to the same part are related only if at most `_HUB` parts refer to that part. The package
`bm25s` is not used, because it has no weights for fields.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import log

from dqa.core.display import MOST_TOKENS
from dqa.core.schema import (
    DatabaseSchema,
    EdgeInfo,
    Field,
    NodeInfo,
    Part,
    PartKind,
    TableInfo,
    replace_fields,
)
from dqa.core.text import estimate_tokens, visible

_NOTE = 110
"""The tokens reserved for the sentence about omitted parts, without the names in it."""
_NAMES, _WHOLE = 0.1, 0.4
"""The share of the tokens for the names of omitted parts, and the share of the remaining tokens for
full descriptions."""
_FIELD_WEIGHTS = (1.0, 1.0, 0.4)
"""The weights of a column's name, of its comment, and of its table's name and comment."""


@dataclass(frozen=True, slots=True)
class FittedSchema:
    """A schema that is shortened for a model.

    Attributes
    ----------
    schema
        The parts that are described.
    left_out
        The names of the omitted parts, the most relevant first.
    named
        How many of the omitted parts the text of the schema names.
    """

    schema: DatabaseSchema
    left_out: tuple[str, ...] = ()
    named: int = 0

    @property
    def total(self) -> int:
        """The number of all tables, labels and relationship types, including the omitted ones."""
        return len(self.schema.parts) + len(self.left_out)

    @property
    def shortened(self) -> int:
        """The number of parts that are shortened to their keys, joins and comments."""
        return sum(1 for part in self.schema.parts if part.omitted)

    @property
    def is_whole(self) -> bool:
        """Whether the whole schema is described."""
        return not self.left_out and not self.shortened

    def to_text(self) -> str:
        """Return the text for a model: one part per line, then the names of omitted parts."""
        text = self.schema.to_text()
        if not self.left_out:
            return text
        what, look = "tables", "SELECT * FROM NAME LIMIT 1"
        if self.schema.nodes or self.schema.edges:
            what = "labels and relationship types"
            look = "MATCH (n:NAME) RETURN n LIMIT 1 or MATCH ()-[r:NAME]->() RETURN r LIMIT 1"
        unnamed = len(self.left_out) - self.named
        names = ", ".join(map(self.schema.spell, self.left_out[: self.named]))
        names += f" and {unnamed:,} more" if unnamed else ""
        note = visible(
            f"({len(self.left_out):,} of the {self.total:,} {what} are not described for lack of "
            f"room: {names}. To see the content of one, run a statement such as {look}.)"
        )
        return f"{text}\n{note}" if text else note


def fit_schema(
    schema: DatabaseSchema,
    about: str = "",
    most: int = MOST_TOKENS,
    first: Collection[str] = (),
    before: FittedSchema | None = None,
) -> FittedSchema:
    """Return the most relevant parts of a schema that fit into a token limit.

    Parameters
    ----------
    schema
        The whole schema.
    about
        A text, such as a question with its rules. The most relevant parts match this text best.
    most
        The maximum tokens of the text, as estimated by `estimate_tokens`.
    first
        The names of parts to rank before all others, e.g. the parts that a scenario names.
    before
        The result of an earlier call for the same schema without samples. Parts that the earlier
        result omitted remain omitted.
    """
    whole = FittedSchema(schema) if before is None else replace(before, schema=schema)
    if estimate_tokens(whole.to_text()) <= most:
        return whole
    return _fill(schema, _rank(schema, about, first)[0], most, whole.left_out)


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most relevant first, and the number of parts that `about` names."""
    positions, named = _rank(schema, about)
    return tuple(schema.parts[position] for position in positions), named


def rank_fields(schema: DatabaseSchema, about: str, most: int) -> tuple[tuple[Part, Field], ...]:
    """Return the columns that match a text, each with its table; the most relevant first.

    Parameters
    ----------
    schema
        The schema to search.
    about
        Words about the content of a column. They are compared with the names and comments of
        columns and, with less weight, of tables.
    most
        The maximum number of columns to return.
    """
    fields, index = _field_index(schema)
    scores = index.score(about)
    order = sorted(range(len(scores)), key=lambda position: -scores[position])[:most]
    return tuple(fields[position] for position in order if scores[position] > 0.0)


@lru_cache(maxsize=8)
def _part_index(schema: DatabaseSchema) -> tuple[Index, list[list[int]]]:
    """Return an index of the parts of the schema.

    For each part, also return the positions of the parts that it refers to.
    """
    documents = (
        (
            (part.name,),
            (part.comment,),
            [field.name for field in part.fields],
            [field.comment for field in part.fields],
        )
        for part in schema.parts
    )
    return Index(_WEIGHTS, documents), _references(schema.parts)


@lru_cache(maxsize=8)
def _field_index(schema: DatabaseSchema) -> tuple[list[tuple[Part, Field]], Index]:
    fields = [(part, field) for part in schema.parts for field in part.fields]
    texts = (((field.name,), (field.comment,), (part.name, part.comment)) for part, field in fields)
    return fields, Index(_FIELD_WEIGHTS, texts)


@lru_cache(maxsize=8)
def _brief(schema: DatabaseSchema) -> tuple[list[Part], list[int], list[int]]:
    """Return the short form of each part, and the numbers of tokens of the full and short forms."""
    brief = [_shorten(part) for part in schema.parts]
    return brief, _costs(schema.lines()), _costs(map(schema.describe, brief))


def _rank(schema: DatabaseSchema, about: str, first: Collection[str] = ()) -> tuple[list[int], int]:
    """Return the positions of all parts, the most relevant first, and how many `about` names."""
    parts, (_, references) = schema.parts, _part_index(schema)
    words, wanted = set(words_in(about)), {name.casefold() for name in first}
    named = [bool(own := words_in(part.name)) and words.issuperset(own) for part in parts]
    tiers = [
        0 if part.name.casefold() in wanted else 1 if is_named else 2
        for part, is_named in zip(parts, named, strict=True)
    ]
    worth = score_parts(schema, about, [n for n, tier in enumerate(tiers) if tier < 2])
    order = sorted(range(len(parts)), key=lambda position: (tiers[position], -worth[position]))
    first_tiers = [position for position in order if tiers[position] < 2]
    # A join needs the referenced parts, so each part is followed by the parts that it refers to.
    pairs = (other for position in order for other in (position, *references[position]))
    return list(dict.fromkeys([*first_tiers, *pairs])), sum(named)


def _fill(
    schema: DatabaseSchema, ranked: Sequence[int], most: int, left_out: Sequence[str]
) -> FittedSchema:
    """Return the highest-ranked parts that fit."""
    parts, (brief, costs, brief_costs) = schema.parts, _brief(schema)
    for_names = int(most * _NAMES)
    room = most - for_names - _NOTE
    for_brief = room - int(room * _WHOLE)
    shown: dict[int, Part] = {}
    for position in ranked:
        if room - costs[position] >= for_brief:
            room -= costs[position]
            shown[position] = parts[position]
        elif room >= brief_costs[position]:
            room -= brief_costs[position]
            shown[position] = brief[position]
    for position in ranked:  # The remaining tokens expand the most relevant shortened parts.
        more = costs[position] - brief_costs[position]
        if shown.get(position) is brief[position] and more <= room:
            room -= more
            shown[position] = parts[position]
    names = [parts[position].name for position in ranked if position not in shown]
    names = list(dict.fromkeys([*names, *left_out]))
    costs_of_names = accumulate(
        estimate_tokens(f"{visible(schema.spell(name))}, ") for name in names
    )
    return FittedSchema(
        schema.replace_parts([shown[position] for position in sorted(shown)]),
        tuple(names),
        sum(1 for cost in costs_of_names if cost <= room + for_names),
    )


def _shorten(part: Part) -> Part:
    """Return a part without its columns. If the part is a node label, its key property is kept."""
    key = part.key if isinstance(part, NodeInfo) else None
    fields = [] if isinstance(part, TableInfo) else [f for f in part.fields if f.name == key]
    return replace_fields(part, fields, omitted=len(part.fields) - len(fields) + part.omitted)


def _costs(lines: Iterable[str]) -> list[int]:
    return [estimate_tokens(f"{line}\n") for line in lines]


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
"""The weight of a word that is only similar to a word of the text."""
_SHORTEST_STEM, _SHORTEST_SHORT = 5, 3
_WEIGHTS = (1.0, 1.0, 0.2, 0.1)
"""The weights of the name and comment of a part, and of the names and comments of columns."""
_DOWN, _UP = 4.0, 0.8
"""The weight of the scores of parts that a part refers to, and of parts that refer to it."""
_HUB = 50
"""If more parts than this refer to the same part, these parts do not count as related."""


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
            # The mean ignores documents in which the field is empty, such as an absent comment.
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
            # The rarity of a word also depends on all similar words.
            found: dict[int, float] = {}
            for other, weight in near_words(word, self._worth).items():
                for number, value in self._worth.get(other, {}).items():
                    found[number] = found.get(number, 0.0) + weight * value
            rarity = log(1.0 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            for number, value in found.items():
                scores[number] += rarity * value / (SATURATION + value)
        return scores


def score_parts(schema: DatabaseSchema, about: str, known: Iterable[int] = ()) -> list[float]:
    """Return the score of each part of a schema for a text; 0 without a match.

    Parameters
    ----------
    schema
        The schema.
    about
        The text.
    known
        The positions of parts that are known to be relevant. They get the highest score, whatever
        the text contains.
    """
    index, references = _part_index(schema)
    worth = index.score(about)
    best = max(worth, default=0.0) or 1.0
    for position in known:
        worth[position] = best
    users: defaultdict[int, list[int]] = defaultdict(list)
    for position, others in enumerate(references):
        for other in others:
            users[other].append(position)
    share = {one: _DOWN / (1.0 + log(1.0 + len(found))) for one, found in users.items()}
    # Parts that refer to the same part share scores: order notes and order lines.
    shared = {
        one: max(worth[other] for other in found)
        for one, found in users.items()
        if len(found) <= _HUB
    }
    total = [
        own + sum(share[other] * worth[other] for other in references[position])
        for position, own in enumerate(worth)
    ]
    return [
        own
        + _UP * max((total[other] for other in users[position]), default=0.0)
        + sum(share[one] * shared[one] for one in references[position] if one in shared)
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
    """Return the weights of a word and of the known words that are similar to it."""
    return {**{other: _NEAR for other in sorted(known) if _is_near(word, other)}, word: 1.0}


def _is_near(word: str, other: str) -> bool:
    """Return whether a word abbreviates another word or shares its stem: ``qty``, ``cust``."""
    if word[0] != other[0] or word == other or not (word.isalpha() and other.isalpha()):
        return False
    short, long = sorted((word, other), key=len)
    common = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    if common == len(short):
        return len(short) >= _SHORTEST_SHORT
    if common >= max(_SHORTEST_STEM, len(short) - 2):
        return True
    # A known word may be this word without most of its vowels: ``whse``, ``prd``.
    letters = iter(long)
    is_shorter = other is short and _SHORTEST_SHORT <= len(short) < len(long) - 1
    has_vowels = set(short[1:-1]) & set("aeiou")
    return is_shorter and not has_vowels and all(letter in letters for letter in short)


@lru_cache(maxsize=1 << 16)
def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name (``order_lines``, ``OrderLines``), in the singular.

    Simple English rules determine the singular.
    """
    joined = _ONE_LETTER.sub(lambda found: f"{found[1]}{found[2]}".lower(), text)
    return tuple(map(_singular, _WORD.findall(joined)))


def _singular(word: str) -> str:
    """Return a word in the singular and in lower case."""
    word = word.casefold()
    if len(word) >= _SHORTEST_PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
