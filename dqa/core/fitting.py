"""Choose the parts of a long schema that a model reads.

Parts (tables, node labels, relationship types) are ranked: first those that a scenario names, then
those whose names the question contains, then by `dqa.core.relevance`. The first are described
whole, the next only by keys, joins and comments. The others are only named, while there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

from dqa.core.display import MOST_TOKENS
from dqa.core.relevance import DEFAULT_WEIGHTS, Index, Relevance, Weights, words_in
from dqa.core.schema import DatabaseSchema, Field, NodeInfo, Part, TableInfo, replace_fields
from dqa.core.text import estimate_tokens, visible

_NOTE = 110
"""Tokens of the sentence around the names of what is left out."""
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
        What is described.
    left_out
        Names of the other parts, the most relevant first.
    named
        How many of these the text names.
    order
        The places of the parts of `schema`, the most relevant first; () for their own order.
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
        text = _measure(_Identity(self.schema)).text
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
    schema: DatabaseSchema,
    about: str = "",
    most: int = MOST_TOKENS,
    *,
    first: Collection[str] = (),
    weights: Weights = DEFAULT_WEIGHTS,
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
    weights
        What a word counts by its place.
    """
    measured = _measure(_Identity(schema))
    if sum(measured.costs) <= most:
        return FittedSchema(schema)
    return _fill(measured, measured.rank(about, first, weights)[0], most, ())


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
    order = fitted.order or range(len(schema.parts))
    return _fill(_measure(_Identity(schema)), order, most, fitted.left_out)


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most relevant first, and how many of them the text names."""
    measured = _measure(_Identity(schema))
    places, named = measured.rank(about)
    return tuple(measured.parts[place] for place in places), named


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
    measured = _measure(_Identity(schema))
    scores = measured.field_index.score(about)
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:most]
    return tuple(measured.fields[place] for place in order if scores[place] > 0.0)


class _Measured:
    """A schema with the costs and words of its parts, calculated once for all questions."""

    def __init__(self, schema: DatabaseSchema) -> None:
        self.schema = schema
        self.parts = schema.parts
        self.relevance = lru_cache(maxsize=8)(lambda weights: Relevance(self.parts, weights))

    @cached_property
    def text(self) -> str:
        return self.schema.to_text()

    @cached_property
    def costs(self) -> list[int]:
        return [estimate_tokens(f"{line}\n") for line in self.text.split("\n")]

    @cached_property
    def brief(self) -> list[Part]:
        return [_shorten(part) for part in self.parts]

    @cached_property
    def brief_costs(self) -> list[int]:
        return [estimate_tokens(f"{self.schema.describe(part)}\n") for part in self.brief]

    @cached_property
    def fields(self) -> list[tuple[Part, Field]]:
        return [(part, field) for part in self.parts for field in part.fields]

    @cached_property
    def field_index(self) -> Index:
        texts = (
            ((field.name,), (field.comment,), (part.name, part.comment))
            for part, field in self.fields
        )
        return Index(_FIELD_WEIGHTS, texts)

    def rank(
        self, about: str, first: Collection[str] = (), weights: Weights = DEFAULT_WEIGHTS
    ) -> tuple[list[int], int]:
        """Return the places of the parts, the most relevant first, and how many are named."""
        relevance: Relevance = self.relevance(weights)
        words, wanted = set(words_in(about)), {name.casefold() for name in first}
        tiers = [2] * len(self.parts)
        for place, part in enumerate(self.parts):
            own = words_in(part.name)
            if own and words.issuperset(own):
                tiers[place] = 1
        named = tiers.count(1)
        for place, part in enumerate(self.parts):
            if part.name.casefold() in wanted:
                tiers[place] = 0
        known = [place for place, tier in enumerate(tiers) if tier < 2]
        worth = relevance.of(about, known)
        places = sorted(range(len(tiers)), key=lambda place: (tiers[place], -worth[place], place))
        if weights.joins:
            # A join needs what a part refers to, so that comes right behind it.
            pairs = ((place, *relevance.referred[place]) for place in places)
            places = list(dict.fromkeys(place for pair in pairs for place in pair))
        return places, named


class _Identity:
    """A schema as a key of a cache that compares by identity: comparing values takes long."""

    def __init__(self, schema: DatabaseSchema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.schema is self.schema


@lru_cache(maxsize=8)
def _measure(key: _Identity) -> _Measured:
    return _Measured(key.schema)


def _fill(
    measured: _Measured, ranked: Sequence[int], most: int, left_out: Sequence[str]
) -> FittedSchema:
    """Return as many parts as fit, in the order of their ranks."""
    parts, brief = measured.parts, measured.brief
    costs, brief_costs = measured.costs, measured.brief_costs
    spell = measured.schema.spell
    all_names = map(spell, [*(part.name for part in parts), *left_out])
    for_names = min(sum(map(_cost_of_name, all_names)), int(most * _NAMES))
    room = most - for_names - _NOTE
    for_brief = room - int(room * _WHOLE)
    shown: dict[int, Part] = {}
    for place in ranked:
        if room - costs[place] >= for_brief:
            room -= costs[place]
            shown[place] = parts[place]
        elif room - brief_costs[place] >= 0:
            room -= brief_costs[place]
            shown[place] = brief[place]
    names = [parts[place].name for place in ranked if place not in shown]
    names = list(dict.fromkeys([*names, *left_out]))
    room += 0 if names else for_names
    for place in ranked:  # the remaining room goes to the most relevant of the brief ones
        more = costs[place] - brief_costs[place]
        if shown.get(place) is brief[place] and more <= room:
            room -= more
            shown[place] = parts[place]
    places = {place: number for number, place in enumerate(sorted(shown))}
    return FittedSchema(
        measured.schema.replace_parts([shown[place] for place in places]),
        tuple(names),
        _count_fitting(map(spell, names), max(room, 0) + for_names),
        tuple(places[place] for place in ranked if place in places),
    )


def _shorten(part: Part) -> Part:
    """Return a part without its columns; the key of a node label stays."""
    key = part.key if isinstance(part, NodeInfo) else None
    fields = [] if isinstance(part, TableInfo) else [f for f in part.fields if f.name == key]
    return replace_fields(part, fields, omitted=len(part.fields) - len(fields) + part.omitted)


def _cost_of_name(name: str) -> int:
    return estimate_tokens(f"{visible(name)}, ")


def _count_fitting(names: Iterable[str], room: int) -> int:
    """Return how many of the first names fit."""
    totals = accumulate(map(_cost_of_name, names))
    return sum(1 for total in totals if total <= room)
