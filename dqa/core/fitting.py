"""Schemas that are longer than a model reads: what of one is described, and what is only named.

Parts (tables, node labels, relationship types) go in this order while there is room: those that the
question's words name, those joined to them, then the rest, of which those go first whose columns
the words name, rare names before common ones. What is left out is named, for a name is short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo

MOST_CHARACTERS = 32_000
"""Characters of a schema that a model is shown."""
_NOTE = 260
"""Characters of what is said beside the names of what is left out."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_SHORTEST_PLURAL = 4

Part: TypeAlias = TableInfo | NodeInfo | EdgeInfo


@dataclass(frozen=True, slots=True)
class FittedSchema:
    """What a model is shown of a schema.

    Attributes
    ----------
    schema
        What is described.
    left_out
        Names of what is not, those first that the question is most likely about.
    named
        How many of these are named to the model.
    """

    schema: DatabaseSchema
    left_out: tuple[str, ...] = ()
    named: int = 0

    @property
    def total(self) -> int:
        """How many tables, labels and relationship types there are."""
        return len(_parts(self.schema)) + len(self.left_out)

    def to_text(self) -> str:
        """Return what a model reads: the parts, one a line, then the names of those left out."""
        text = self.schema.to_text()
        if not self.left_out:
            return text
        graph = bool(self.schema.nodes or self.schema.edges)
        what = "labels and relationship types" if graph else "tables"
        look = (
            "MATCH (n:NAME) RETURN n LIMIT 1 or MATCH ()-[r:NAME]->() RETURN r LIMIT 1"
            if graph
            else "SELECT * FROM NAME LIMIT 1"
        )
        unnamed = len(self.left_out) - self.named
        names = ", ".join(self.left_out[: self.named])
        more = f" and {unnamed:,} more" if unnamed else ""
        note = (
            f"({len(self.left_out):,} of all {self.total:,} {what} are not described, for want of "
            f"room: {names}{more}; a statement such as {look} shows what one of them has)"
        )
        return f"{text}\n{note}" if text else note


def fit_schema(
    schema: DatabaseSchema,
    about: str = "",
    most: int = MOST_CHARACTERS,
    left_out: Collection[str] = (),
) -> FittedSchema:
    """Return as much of a schema as a model reads.

    Parameters
    ----------
    schema
        All there is.
    about
        Words of the question, its rules and statements: what they name is described first.
    most
        Characters of the text.
    left_out
        Names that were left out before.
    """
    parts, lines = _parts(schema), schema.lines()
    if not left_out and sum(len(line) + 1 for line in lines) <= most:
        return FittedSchema(schema)
    names = sum(len(name) + 2 for name in (*map(part_name, parts), *left_out))
    for_names = min(names, most // 3)
    room = most - for_names - _NOTE
    kept: set[int] = set()
    gone: list[str] = []
    for place in _ranked(parts, about)[0]:
        if len(lines[place]) + 1 <= room:
            room -= len(lines[place]) + 1
            kept.add(place)
        else:
            gone.append(part_name(parts[place]))
    described = [part for place, part in enumerate(parts) if place in kept]
    gone = list(dict.fromkeys([*gone, *left_out]))
    return FittedSchema(
        replace(
            schema,
            tables=tuple(part for part in described if isinstance(part, TableInfo)),
            nodes=tuple(part for part in described if isinstance(part, NodeInfo)),
            edges=tuple(part for part in described if isinstance(part, EdgeInfo)),
        ),
        tuple(gone),
        _fitting(gone, max(room, 0) + for_names),
    )


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most likely one first, and how many of them the words name."""
    parts = _parts(schema)
    places, named = _ranked(parts, about)
    return tuple(parts[place] for place in places), named


def _fitting(names: Sequence[str], room: int) -> int:
    """Return how many names there is room for."""
    for count, name in enumerate(names):
        room -= len(name) + 2
        if room < 0:
            return count
    return len(names)


def _parts(schema: DatabaseSchema) -> tuple[Part, ...]:
    return (*schema.tables, *schema.nodes, *schema.edges)


def part_name(part: Part) -> str:
    """Return what a table, label or relationship type is called."""
    return part.name if isinstance(part, TableInfo) else part.label


def part_fields(part: Part) -> tuple[Field, ...]:
    """Return its columns or properties."""
    return part.columns if isinstance(part, TableInfo) else part.properties


def _ranked(parts: Sequence[Part], about: str) -> tuple[list[int], int]:
    """Return the places of the parts, the likeliest first, and how many the words name."""
    said = set(words_in(about))
    matched = [
        {name for name in _named_by(part) if name and said.issuperset(name)} for part in parts
    ]
    frequency = Counter(name for names in matched for name in names)
    scores = [sum(1.0 / frequency[name] for name in sorted(names)) for names in matched]
    called = [words_in(part_name(part)) for part in parts]
    named = {place for place, words in enumerate(called) if words and said.issuperset(words)}
    joined = _joined(parts)
    beside = {other for place in named for other in joined.get(place, ())} - named
    ranked = sorted(
        range(len(parts)),
        key=lambda place: (
            0 if place in named else 1 if place in beside else 2,
            -scores[place],
            -len(joined.get(place, ())),
            place,
        ),
    )
    return ranked, len(named)


def _named_by(part: Part) -> Iterator[tuple[str, ...]]:
    """Yield the words of all that a question may call a part by."""
    yield from ((word,) for word in words_in(part_name(part)))
    yield from (words_in(field.name) for field in part_fields(part))


def _joined(parts: Sequence[Part]) -> Mapping[int, frozenset[int]]:
    """Return the places that each place is joined to, by keys or as an end of a relationship."""
    tables = {part.name: place for place, part in enumerate(parts) if isinstance(part, TableInfo)}
    nodes = {part.label: place for place, part in enumerate(parts) if isinstance(part, NodeInfo)}
    pairs: list[tuple[int, int | None]] = []
    for place, part in enumerate(parts):
        if isinstance(part, TableInfo):
            pairs += [(place, tables.get(other)) for _, other, _ in part.references]
        elif isinstance(part, EdgeInfo):
            pairs += [(place, nodes.get(part.source)), (place, nodes.get(part.target))]
    found: dict[int, set[int]] = {}
    for one, other in pairs:
        if other is not None and one != other:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return {place: frozenset(others) for place, others in found.items()}


def words_in(text: str) -> tuple[str, ...]:
    """Return the words of a text or of a name (``order_lines``, ``OrderLines``), in the singular.

    The singular is a rough one, of English: it only has to be the same on both sides.
    """
    return tuple(_singular(word.casefold()) for word in _WORD.findall(text))


def _singular(word: str) -> str:
    if len(word) >= _SHORTEST_PLURAL and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
