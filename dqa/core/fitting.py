"""Choose the parts of a long schema that a model reads.

Parts are tables, node labels and relationship types. The parts that a scenario names rank first,
then the parts whose names the question contains, then the others by `dqa.core.relevance`. The first
parts are described in full, the next parts by keys, joins and comments only. The remaining parts
are listed by name while there is room.
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
"""The tokens of the sentence that lists the omitted parts, without their names."""
_NAMES, _WHOLE = 0.1, 0.4
"""The share of all tokens for names, and the share of the remaining tokens for full
descriptions."""
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
        The names of the omitted parts, the most relevant first.
    named
        The number of omitted parts that the text names.
    order
        The positions of the parts in `schema`, the most relevant first; empty for the order in
        `schema`.
    """

    schema: DatabaseSchema
    left_out: tuple[str, ...] = ()
    named: int = 0
    order: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """The number of all tables, labels and relationship types."""
        return len(self.schema.parts) + len(self.left_out)

    @property
    def shortened(self) -> int:
        """The number of parts described by keys, joins and comments only."""
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
            f"({len(self.left_out):,} of all {self.total:,} {what} are not described, for want of "
            f"room: {names}; a statement such as {look} shows what one of them has)"
        )
        return f"{text}\n{note}" if text else note


def fit_schema(
    schema: DatabaseSchema, about: str = "", most: int = MOST_TOKENS, first: Collection[str] = ()
) -> FittedSchema:
    """Return the most relevant parts of a schema that fit into a token limit.

    Parameters
    ----------
    schema
        The whole schema.
    about
        The question, its rules and statements. They determine the relevance of each part.
    most
        The maximum tokens of the text, as estimated by `estimate_tokens`.
    first
        The names of parts to rank before all others, e.g. the parts that a scenario names.
    """
    if sum(_costs(schema.to_text().split("\n"))) <= most:
        return FittedSchema(schema)
    return _fill(schema, _rank(schema, about, first)[0], most, ())


def fit_again(fitted: FittedSchema, schema: DatabaseSchema, most: int) -> FittedSchema:
    """Fit a schema again after samples or other additions made it longer.

    Parameters
    ----------
    fitted
        The result of `fit_schema`.
    schema
        The longer schema, with its parts in the same order.
    most
        The maximum tokens of the text.
    """
    longer = replace(fitted, schema=schema)
    if estimate_tokens(longer.to_text()) <= most:
        return longer
    return _fill(schema, fitted.order or range(len(schema.parts)), most, fitted.left_out)


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most relevant first, and the number of parts the text names."""
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
        The most columns to return.
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
    """Return the shortened parts, the tokens of full parts, and the tokens of shortened parts."""
    brief = [_shorten(part) for part in schema.parts]
    return brief, _costs(schema.lines()), _costs(map(schema.describe, brief))


def _rank(schema: DatabaseSchema, about: str, first: Collection[str] = ()) -> tuple[list[int], int]:
    """Return the positions of the parts by relevance, and the number of parts the text names."""
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
    """Return the highest-ranked parts that fit."""
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
    for position in ranked:  # The remaining tokens expand the most relevant shortened parts.
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
    """Return a part without its columns, but with the key of a node label."""
    key = part.key if isinstance(part, NodeInfo) else None
    fields = [] if isinstance(part, TableInfo) else [f for f in part.fields if f.name == key]
    return replace_fields(part, fields, omitted=len(part.fields) - len(fields) + part.omitted)


def _costs(lines: Iterable[str]) -> list[int]:
    return [estimate_tokens(f"{line}\n") for line in lines]


def _cost_of_name(name: str) -> int:
    return estimate_tokens(f"{visible(name)}, ")
