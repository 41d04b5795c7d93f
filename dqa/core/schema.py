"""Schemas as databases describe themselves, and the text in which a model reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dqa.core.display import dump_row
from dqa.core.situation import Schema
from dqa.core.text import shortened, visible

_TABLE_COMMENT, _FIELD_COMMENT = 200, 100
"""Characters that are shown of a comment on a table, and on a column."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column or property: name, type in the database's own words, some values, its comment."""

    name: str
    type: str
    samples: tuple[Any, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view: columns, primary key, foreign keys as ``(column, table, column)``.

    Its comment, like a column's, is what the database keeps of what somebody wrote about it.
    `omitted` columns are not described here; so of labels and relationship types.
    """

    name: str
    columns: tuple[Field, ...]
    key: tuple[str, ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()
    comment: str = ""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node label and its properties; `key` is the identifying property, if declared."""

    label: str
    properties: tuple[Field, ...]
    key: str | None = None
    comment: str = ""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class EdgeInfo:
    """A relationship type, the labels it connects (empty for none) and its properties."""

    label: str
    source: str
    target: str
    properties: tuple[Field, ...]
    comment: str = ""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """Tables of a relational database, or node labels and relationship types of a graph.

    Attributes
    ----------
    tables, nodes, edges
        In the order in which they are shown.
    quote
        The character that quotes a table's or column's name.
    folds_case
        Whether the database reads an unquoted name in lower case, as PostgreSQL does.
    notes
        Sentences without a full stop about what is left out.
    """

    tables: tuple[TableInfo, ...] = ()
    nodes: tuple[NodeInfo, ...] = ()
    edges: tuple[EdgeInfo, ...] = ()
    quote: str = '"'
    folds_case: bool = False
    notes: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return the schema as a model reads it, one table, label or relationship type a line.

        Names are spelled as a statement has to spell them, quoted where they must be. How much of
        it a model is shown says `dqa.core.fitting.fit_schema`.
        """
        notes = (f"({visible(note)}.)" for note in self.notes)
        return "\n".join((*self.lines(), *notes))

    def lines(self) -> tuple[str, ...]:
        """Return the lines of the text: of tables, then of nodes, then of relationship types."""
        return (
            *(self._table(table) for table in self.tables),
            *(self._node(node) for node in self.nodes),
            *(self._edge(edge) for edge in self.edges),
        )

    def _table(self, table: TableInfo) -> str:
        def spelled(name: str) -> str:
            is_folded = self.folds_case and name != name.lower()
            return quoted(name, self.quote) if is_folded else sql_name(name, self.quote)

        columns = (_field(field, spelled) for field in table.columns)
        line = f"{spelled(table.name)}({_listed(columns, table.omitted, 'columns')})"
        if table.key:
            line += f" key ({', '.join(map(spelled, table.key))})"
        for column, other, other_column in table.references:
            line += f" {spelled(column)} -> {spelled(other)}"
            line += f".{spelled(other_column)}" if other_column else ""
        return line + _comment(table.comment, _TABLE_COMMENT)

    def _node(self, node: NodeInfo) -> str:
        properties = (_field(field, cypher_name, node.key) for field in node.properties)
        fields = _listed(properties, node.omitted)
        element = f"(:{cypher_name(node.label)} {{{fields}}})"
        return element + _comment(node.comment, _TABLE_COMMENT)

    def _edge(self, edge: EdgeInfo) -> str:
        source, target = (f"(:{cypher_name(n)})" if n else "()" for n in (edge.source, edge.target))
        fields = _listed((_field(f, cypher_name) for f in edge.properties), edge.omitted)
        element = f"{source}-[:{cypher_name(edge.label)} {{{fields}}}]->{target}"
        return element + _comment(edge.comment, _TABLE_COMMENT)


def _listed(fields: Iterable[str], omitted: int, what: str = "properties") -> str:
    shown = list(fields)
    if omitted:
        shown.append(f"... {omitted} more" if shown else f"... {omitted} {what}")
    return ", ".join(shown)


def _field(field: Field, spelled: Callable[[str], str], key: str | None = None) -> str:
    kind = f": {field.type}" if field.type else ""
    some = f" e.g. {dump_row(field.samples)}" if field.samples else ""
    said = _comment(field.comment, _FIELD_COMMENT)
    return f"{spelled(field.name)}{kind}{' key' if field.name == key else ''}{some}{said}"


def _comment(comment: str, most: int) -> str:
    """Return a comment as both languages write one, on one line; nothing where there is none."""
    text = visible(shortened(comment, most)).replace("*/", "* /")
    return f" /* {text} */" if text else ""


def sql_name(name: str, quote: str = '"') -> str:
    """Return a table's or column's name as SQL has to spell it, quoted where it must be."""
    return _spelled(name, quote, _RESERVED_IN_SQL)


def cypher_name(name: str) -> str:
    """Return a label's or property's name as Cypher has to spell it, quoted where it must be."""
    return _spelled(name, "`", _RESERVED_IN_CYPHER)


def _spelled(name: str, quote: str, reserved: frozenset[str]) -> str:
    if _PLAIN.fullmatch(name) and name.lower() not in reserved:
        return name
    return quoted(name, quote)


def quoted(name: str, quote: str) -> str:
    """Return a name between quotes, whatever it is; a quote within it is doubled."""
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SQL_WORDS = """
add all alter and any as asc between by case check column constraint create cross current_date
current_time current_timestamp database default delete desc distinct drop else end except exists
false fetch for foreign from full grant group having in index inner insert intersect into is
join key keys leading left like limit natural not null offset on or order outer over partition
primary range rank references right row rows select set some table then to trailing trigger true
union unique update user using values view when where window with
"""
_CYPHER_WORDS = """
add all and any as asc by call case column contains create default delete desc distinct drop
else end ends exists false for from group in index is join limit match merge not null on
optional or order primary profile remove return set skip starts table then to true union unique
unwind when where with xor yield
"""
_RESERVED_IN_SQL = frozenset(_SQL_WORDS.split())
_RESERVED_IN_CYPHER = frozenset(_CYPHER_WORDS.split())
"""Words that some database takes for a keyword where a name stands unquoted."""


def describe(schema: Schema) -> DatabaseSchema:
    """Return both readings of a scenario's schema as databases would describe them."""

    def fields(table: str, properties: tuple[tuple[str, str], ...]) -> tuple[Field, ...]:
        columns = schema.table(table)
        return tuple(Field(name, columns.column(column).type) for name, column in properties)

    return DatabaseSchema(
        tables=tuple(
            TableInfo(t.name, tuple(Field(c.name, c.type) for c in t.columns), t.key)
            for t in schema.tables
        ),
        nodes=tuple(NodeInfo(n.label, fields(n.table, n.properties), n.key) for n in schema.nodes),
        edges=tuple(
            EdgeInfo(e.label, e.source[0], e.target[0], fields(e.table, e.properties))
            for e in schema.edges
        ),
    )
