"""Choose the parts of a long schema that a model reads.

Parts (tables, node labels, relationship types) are ranked: first those that a scenario names, then
those whose names the question contains, then by `dqa.core.relevance`. The first are described
whole, the next only by keys, joins and comments. The others are only named, while there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from dqa.core.display import MOST_TOKENS
from dqa.core.relevance import Index, Relevance, words_in
from dqa.core.schema import DatabaseSchema, Field, NodeInfo, Part, TableInfo, replace_fields
from dqa.core.text import estimate_tokens, visible

_NOTE = 110
"""Tokens of the sentence around the names of the parts that are left out."""
_NAMES, _WHOLE = 0.1, 0.4
"""The share of the room for names, and the share of the rest for whole descriptions."""
_FIELD_WEIGHTS = (1.0, 1.0, 0.4)
"""The weights of a column's name, of its comment, and of its table's name and comment."""


@dataclass(frozen=True, slots=True)
class FittedSchema:
    """The part of a schema that a model reads.

    Attributes
    ----------
    schema
        The parts that are described.
    left_out
        Names of the other parts, the most relevant first.
    named
        How many of these the text names.
    order
        The positions of the parts of `schema`, the most relevant first; () for their own order.
    """

    schema: DatabaseSchema
    left_out: tuple[str, ...] = ()
    named: int = 0
    order: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """How many tables, labels and relationship types there are."""
        return len(self.schema.parts) + len(self.left_out)

    @property
    def shortened(self) -> int:
        """How many are described by their keys, joins and comments alone."""
        return sum(1 for part in self.schema.parts if part.omitted)

    @property
    def is_whole(self) -> bool:
        """Whether the whole schema is described."""
        return not self.left_out and not self.shortened

    def to_text(self) -> str:
        """Return the text for a model: the parts, one a line, then the names of those left out."""
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
            f"({len(self.left_out):,} of all {self.total:,} {what} are not described, for want of "
            f"room: {names}; a statement such as {look} shows what one of them has)"
        )
        return f"{text}\n{note}" if text else note


def fit_schema(
    schema: DatabaseSchema, about: str = "", most: int = MOST_TOKENS, first: Collection[str] = ()
) -> FittedSchema:
    """Return as much of a schema as a model reads.

    Parameters
    ----------
    schema
        The whole schema.
    about
        The question, its rules and statements: relevant parts come first.
    most
        Tokens of the text, as `estimate_tokens` counts them.
    first
        Names of parts that come before all others, such as a scenario's.
    """
    if sum(_costs(schema.to_text().split("\n"))) <= most:
        return FittedSchema(schema)
    return _fill(schema, _rank(schema, about, first)[0], most, ())


def fit_again(fitted: FittedSchema, schema: DatabaseSchema, most: int) -> FittedSchema:
    """Return as much as fits of a fitted schema that has become longer, as by samples.

    Parameters
    ----------
    fitted
        The result of `fit_schema`.
    schema
        Its parts, in the same order.
    most
        Tokens of the text.
    """
    longer = replace(fitted, schema=schema)
    if estimate_tokens(longer.to_text()) <= most:
        return longer
    return _fill(schema, fitted.order or range(len(schema.parts)), most, fitted.left_out)


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most relevant first, and how many of them the text names."""
    positions, named = _rank(schema, about)
    return tuple(schema.parts[position] for position in positions), named


def rank_fields(schema: DatabaseSchema, about: str, most: int) -> tuple[tuple[Part, Field], ...]:
    """Return the columns that match a text, each with its table, the most relevant first.

    Parameters
    ----------
    schema
        The schema to search.
    about
        Words about the content of a column. Names and comments count, those of its table less.
    most
        Most columns.
    """
    fields, index = _field_index(schema)
    scores = index.score(about)
    order = sorted(range(len(scores)), key=lambda position: -scores[position])[:most]
    return tuple(fields[position] for position in order if scores[position] > 0.0)


@lru_cache(maxsize=8)
def _relevance(schema: DatabaseSchema) -> Relevance:
    return Relevance(schema.parts)


@lru_cache(maxsize=8)
def _field_index(schema: DatabaseSchema) -> tuple[list[tuple[Part, Field]], Index]:
    fields = [(part, field) for part in schema.parts for field in part.fields]
    texts = (((field.name,), (field.comment,), (part.name, part.comment)) for part, field in fields)
    return fields, Index(_FIELD_WEIGHTS, texts)


@lru_cache(maxsize=8)
def _brief(schema: DatabaseSchema) -> tuple[list[Part], list[int], list[int]]:
    """Return the shortened parts, the costs of the parts, and those of the shortened ones."""
    brief = [_shorten(part) for part in schema.parts]
    return brief, _costs(schema.lines()), _costs(map(schema.describe, brief))


def _rank(schema: DatabaseSchema, about: str, first: Collection[str] = ()) -> tuple[list[int], int]:
    """Return the positions of the parts, the most relevant first, and how many are named."""
    parts, relevance = schema.parts, _relevance(schema)
    words, wanted = set(words_in(about)), {name.casefold() for name in first}
    named = [bool(own := words_in(part.name)) and words.issuperset(own) for part in parts]
    tiers = [
        0 if part.name.casefold() in wanted else 1 if is_named else 2
        for part, is_named in zip(parts, named, strict=True)
    ]
    known = [position for position, tier in enumerate(tiers) if tier < 2]
    worth = relevance.of(about, known)
    order = sorted(range(len(parts)), key=lambda position: (tiers[position], -worth[position]))
    # A join needs the parts that a part refers to, so they follow it.
    pairs = ((position, *relevance.references[position]) for position in order)
    return list(dict.fromkeys(position for pair in pairs for position in pair)), sum(named)


def _fill(
    schema: DatabaseSchema, ranked: Sequence[int], most: int, left_out: Sequence[str]
) -> FittedSchema:
    """Return as many parts as fit, in the order of their ranks."""
    parts, (brief, costs, brief_costs) = schema.parts, _brief(schema)
    all_names = map(schema.spell, [*(part.name for part in parts), *left_out])
    for_names = min(sum(map(_cost_of_name, all_names)), int(most * _NAMES))
    room = most - for_names - _NOTE
    for_brief = room - int(room * _WHOLE)
    shown: dict[int, Part] = {}
    for position in ranked:
        if room - costs[position] >= for_brief:
            room -= costs[position]
            shown[position] = parts[position]
        elif room - brief_costs[position] >= 0:
            room -= brief_costs[position]
            shown[position] = brief[position]
    names = [parts[position].name for position in ranked if position not in shown]
    names = list(dict.fromkeys([*names, *left_out]))
    costs_of_names = accumulate(_cost_of_name(schema.spell(name)) for name in names)
    room += 0 if names else for_names
    for position in ranked:  # the remaining room goes to the most relevant of the brief ones
        more = costs[position] - brief_costs[position]
        if shown.get(position) is brief[position] and more <= room:
            room -= more
            shown[position] = parts[position]
    numbers = {position: number for number, position in enumerate(sorted(shown))}
    return FittedSchema(
        schema.replace_parts([shown[position] for position in numbers]),
        tuple(names),
        sum(1 for cost in costs_of_names if cost <= max(room, 0) + for_names),
        tuple(numbers[position] for position in ranked if position in numbers),
    )


def _shorten(part: Part) -> Part:
    """Return a part without its columns; the key of a node label stays."""
    key = part.key if isinstance(part, NodeInfo) else None
    fields = [] if isinstance(part, TableInfo) else [f for f in part.fields if f.name == key]
    return replace_fields(part, fields, omitted=len(part.fields) - len(fields) + part.omitted)


def _costs(lines: Iterable[str]) -> list[int]:
    return [estimate_tokens(f"{line}\n") for line in lines]


def _cost_of_name(name: str) -> int:
    return estimate_tokens(f"{visible(name)}, ")
