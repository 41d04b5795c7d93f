"""Schemas that are longer than a model reads: what of one is described, and what is only named.

Parts (tables, node labels, relationship types) go in this order: those that a scenario names, those
whose names the question says, then by `dqa.core.relevance`: names, columns and comments that its
words match, and what is joined to such parts. The first are described whole; of the next only keys,
joins and comments are; what is left out is named, as far as there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from dqa.core.display import MOST_TOKENS
from dqa.core.parts import Part, part_fields, part_name, replace_parts, schema_parts
from dqa.core.relevance import DEFAULT_WEIGHTS, Index, Relevance, Weights, words_in
from dqa.core.schema import DatabaseSchema, Field, NodeInfo, TableInfo
from dqa.core.text import estimate_tokens

_NOTE = 110
"""Tokens of what is said beside the names of what is left out."""
_NAMES, _WHOLE = 0.1, 0.4
"""The share of the room that names may take, and that whole descriptions may take of the rest."""
_OWN, _OWNER = 1.0, 0.4
"""What a word is worth in a column's own name and comment, and in its table's."""


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
    order
        The places of the parts of `schema`, those first that the question is most likely about.
    written
        The text of `schema`, where it was worked out already.
    """

    schema: DatabaseSchema
    left_out: tuple[str, ...] = ()
    named: int = 0
    order: tuple[int, ...] = ()
    written: str | None = field(default=None, compare=False, repr=False)

    @property
    def total(self) -> int:
        """How many tables, labels and relationship types there are."""
        return len(schema_parts(self.schema)) + len(self.left_out)

    @property
    def shortened(self) -> int:
        """How many are described by their keys, joins and comments alone."""
        return sum(1 for part in schema_parts(self.schema) if part.omitted)

    @property
    def is_whole(self) -> bool:
        """Whether all that there is, is described."""
        return not self.left_out and not self.shortened

    def to_text(self) -> str:
        """Return what a model reads: the parts, one a line, then the names of those left out."""
        text = self.schema.to_text() if self.written is None else self.written
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
    most: int = MOST_TOKENS,
    *,
    first: Collection[str] = (),
    weights: Weights = DEFAULT_WEIGHTS,
) -> FittedSchema:
    """Return as much of a schema as a model reads.

    Parameters
    ----------
    schema
        All there is.
    about
        Words of the question, its rules and statements: what they are about is described first.
    most
        Tokens of the text, as `estimate_tokens` counts them.
    first
        Names of parts that go before all others, such as a scenario's.
    weights
        What a word is worth by where it stands.
    """
    measured = _measured(_Same(schema))
    if sum(measured.costs) <= most:
        return FittedSchema(schema, written=measured.text)
    return _filled(measured, measured.ranked(about, first, weights)[0], most, ())


def fit_again(fitted: FittedSchema, schema: DatabaseSchema, most: int) -> FittedSchema:
    """Return what fits of a fitted schema that has become longer, as by samples of its columns.

    Parameters
    ----------
    fitted
        As `fit_schema` returned it.
    schema
        Its parts, in the same order.
    most
        Tokens of the text.
    """
    longer = replace(fitted, schema=schema, written=None)
    if estimate_tokens(longer.to_text()) <= most:
        return longer
    order = fitted.order or range(len(schema_parts(schema)))
    return _filled(_Measured(schema), order, most, fitted.left_out)


class _Measured:
    """A schema with what its parts cost and are about, worked out once for all questions."""

    def __init__(self, schema: DatabaseSchema) -> None:
        self.schema = schema
        self.parts = schema_parts(schema)
        self._relevance: dict[Weights, Relevance] = {}

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of the text, one a part."""
        return self.schema.lines()

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines)

    @cached_property
    def costs(self) -> tuple[int, ...]:
        """What each part costs."""
        return tuple(map(_cost, self.lines))

    @cached_property
    def brief(self) -> tuple[Part, ...]:
        """Each part without its columns."""
        return tuple(map(_shortened, self.parts))

    @cached_property
    def brief_costs(self) -> tuple[int, ...]:
        """What each costs so."""
        return tuple(map(_cost, replace_parts(self.schema, self.brief).lines()))

    @cached_property
    def fields(self) -> tuple[tuple[Part, Field], ...]:
        """All columns and properties, each with what it belongs to."""
        return tuple((part, field) for part in self.parts for field in part_fields(part))

    @cached_property
    def field_index(self) -> Index:
        """The words of each of these."""
        return Index(
            [
                (_OWN, (field.name,)),
                (_OWN, (field.comment,)),
                (_OWNER, (part_name(part), part.comment)),
            ]
            for part, field in self.fields
        )

    def ranked(
        self, about: str, first: Collection[str] = (), weights: Weights = DEFAULT_WEIGHTS
    ) -> tuple[list[int], int]:
        """Return the places of the parts, the likeliest first, and how many the words name."""
        if weights not in self._relevance:
            self._relevance[weights] = Relevance(self.parts, weights)
        relevance, names = self._relevance[weights], [part_name(part) for part in self.parts]
        said, wanted = set(words_in(about)), {name.casefold() for name in first}
        called = [words_in(name) for name in names]
        named = {place for place, words in enumerate(called) if words and said.issuperset(words)}
        given = {place for place, name in enumerate(names) if name.casefold() in wanted}
        worth = relevance.of(about, sorted(named | given))

        def likeliest(place: int) -> tuple[int, float, int]:
            tier = 0 if place in given else 1 if place in named else 2
            return tier, -worth[place], place

        ranked = sorted(range(len(names)), key=likeliest)
        if weights.joins:
            # Without what it refers to nothing can be joined, so that stands right behind it.
            pairs = ((place, *relevance.referred[place]) for place in ranked)
            ranked = list(dict.fromkeys(place for pair in pairs for place in pair))
        return ranked, len(named)


class _Same:
    """A schema as a key: equal to itself alone, so that comparing costs nothing."""

    def __init__(self, schema: DatabaseSchema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.schema is self.schema


@lru_cache(maxsize=8)
def _measured(same: _Same) -> _Measured:
    return _Measured(same.schema)


def _filled(
    measured: _Measured, ranked: Sequence[int], most: int, left_out: Sequence[str]
) -> FittedSchema:
    """Return as much as there is room for, of parts in the order of their places."""
    parts = measured.parts
    names = _cost_of_names([*map(part_name, parts), *left_out])
    for_names = min(names, int(most * _NAMES))
    room = most - for_names - _NOTE
    whole = room - int(room * _WHOLE)  # what is left when no more are described whole
    kept: dict[int, Part] = {}
    gone: list[str] = []
    for place in ranked:
        for part, cost, least in (
            (parts[place], measured.costs[place], whole),
            (measured.brief[place], measured.brief_costs[place], 0),
        ):
            if room - cost >= least:
                room -= cost
                kept[place] = part
                break
        else:
            gone.append(part_name(parts[place]))
    gone = list(dict.fromkeys([*gone, *left_out]))
    room += 0 if gone else for_names
    for place in ranked:  # what room is left goes to the likeliest of the short ones
        more = measured.costs[place] - measured.brief_costs[place]
        if place in kept and kept[place] is not parts[place] and more <= room:
            room -= more
            kept[place] = parts[place]
    places = {place: number for number, place in enumerate(sorted(kept))}
    return FittedSchema(
        replace_parts(measured.schema, [kept[place] for place in places]),
        tuple(gone),
        _fitting(gone, max(room, 0) + for_names) if gone else 0,
        tuple(places[place] for place in ranked if place in places),
    )


def _shortened(part: Part) -> Part:
    """Return a part without its columns, but for the key of a node label, which stands there."""
    if isinstance(part, TableInfo):
        return replace(part, columns=(), omitted=len(part.columns) + part.omitted)
    key = part.key if isinstance(part, NodeInfo) else None
    properties = tuple(field for field in part.properties if field.name == key)
    omitted = len(part.properties) - len(properties) + part.omitted
    return replace(part, properties=properties, omitted=omitted)


def _cost(line: str) -> int:
    """Return the tokens of a line with what ends it."""
    return estimate_tokens(f"{line}\n")


def _cost_of_names(names: Sequence[str]) -> int:
    return sum(estimate_tokens(f"{name}, ") for name in names)


def _fitting(names: Sequence[str], room: int) -> int:
    """Return how many names there is room for."""
    for count, name in enumerate(names):
        room -= _cost_of_names([name])
        if room < 0:
            return count
    return len(names)


def rank_parts(schema: DatabaseSchema, about: str) -> tuple[tuple[Part, ...], int]:
    """Return all parts, the most likely one first, and how many of them the words name."""
    measured = _measured(_Same(schema))
    places, named = measured.ranked(about)
    return tuple(measured.parts[place] for place in places), named


def rank_fields(schema: DatabaseSchema, about: str, most: int) -> tuple[tuple[Part, Field], ...]:
    """Return the columns that a text is about, each with its table, the likeliest one first.

    Parameters
    ----------
    schema
        Where to look.
    about
        Words that say what a column holds; names and comments count, of its table less.
    most
        How many.
    """
    measured = _measured(_Same(schema))
    scores = measured.field_index.score(about)
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:most]
    return tuple(measured.fields[place] for place in order if scores[place] > 0.0)
