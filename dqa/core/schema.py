"""Schemas of databases, and their text for models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from dqa.core.display import dump_row
from dqa.core.text import shortened, visible

if TYPE_CHECKING:
    from dqa.core.situation import Schema

PartKind: TypeAlias = Literal["table", "label", "relationship type"]

_PART_COMMENT, _FIELD_COMMENT = 200, 100
"""The maximum number of characters of a comment on a table, and of a comment on a column."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column or property, with its name, its type in the database, sample values and comment.

    `masked` is set if a policy replaces all values.
    """

    name: str
    type: str
    samples: tuple[Any, ...] = ()
    comment: str = ""
    masked: bool = False


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view, with its columns and keys.

    A foreign key consists of a column, the referenced table and the referenced column.

    Comments come from the database. `omitted` is the number of columns that are not included.
    `NodeInfo` and `EdgeInfo` also have `comment` and `omitted`.
    """

    kind: ClassVar[PartKind] = "table"
    name: str
    columns: tuple[Field, ...]
    key: tuple[str, ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()
    comment: str = ""
    omitted: int = 0

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.columns


TableRow: TypeAlias = tuple[
    str, tuple[str, ...], tuple[tuple[str, str, str], ...], str, list[str], list[str], list[str]
]
"""A table for JSON: its name, keys and comment; the names, types and comments of its columns."""


@lru_cache(10_000)
def column_of(name: str, kind: str, comment: str = "") -> Field:
    """Return a column without samples.

    Equal columns are the same object, because large databases have many equal columns.
    """
    return Field(name, kind, (), comment)


def rows_of(tables: Sequence[TableInfo]) -> list[TableRow]:
    """Return tables as tuples, which another process receives twice as fast as `TableInfo`.

    The tables must be complete and have no samples.
    """
    return [
        (
            *(table.name, table.key, table.references, table.comment),
            [column.name for column in table.columns],
            [column.type for column in table.columns],
            [column.comment for column in table.columns],
        )
        for table in tables
    ]


def tables_of(rows: Sequence[TableRow]) -> tuple[TableInfo, ...]:
    """Return the tables that `rows_of` has converted to tuples."""
    return tuple(
        TableInfo(name, tuple(map(column_of, *columns)), key, references, comment)
        for name, key, references, comment, *columns in rows
    )


class _GraphPart:
    """Gives a label or relationship type the attributes `name` and `fields` of `TableInfo`."""

    __slots__ = ()
    label: str
    properties: tuple[Field, ...]

    @property
    def name(self) -> str:
        """The label, or the relationship type."""
        return self.label

    @property
    def fields(self) -> tuple[Field, ...]:
        """The properties of the label or relationship type."""
        return self.properties


@dataclass(frozen=True, slots=True)
class NodeInfo(_GraphPart):
    """A node label and its properties. `key` is the property that identifies a node, or None."""

    kind: ClassVar[PartKind] = "label"
    label: str
    properties: tuple[Field, ...]
    key: str | None = None
    comment: str = ""
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class EdgeInfo(_GraphPart):
    """A relationship type, its properties, and the labels that it connects (empty if unknown)."""

    kind: ClassVar[PartKind] = "relationship type"
    label: str
    source: str
    target: str
    properties: tuple[Field, ...]
    comment: str = ""
    omitted: int = 0


Part: TypeAlias = TableInfo | NodeInfo | EdgeInfo


def replace_fields(part: Part, fields: Sequence[Field], **changes: Any) -> Part:  # noqa: ANN401
    """Return a copy of a table, label or type, with its columns or properties replaced."""
    if isinstance(part, TableInfo):
        return replace(part, columns=tuple(fields), **changes)
    return replace(part, properties=tuple(fields), **changes)


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """The tables of a relational database, or the labels and relationship types of a graph.

    Attributes
    ----------
    tables, nodes, edges
        The parts, in the order of the text.
    quote
        The character that quotes names of tables and columns.
    folds_case
        Whether the database converts unquoted names to lower case, as PostgreSQL does.
    notes
        Sentences about omitted parts, each without its full stop.
    repeated_names
        The lower-case names that tables of several schemas have. None if unknown.
    """

    tables: tuple[TableInfo, ...] = ()
    nodes: tuple[NodeInfo, ...] = ()
    edges: tuple[EdgeInfo, ...] = ()
    quote: str = '"'
    folds_case: bool = False
    notes: tuple[str, ...] = ()
    repeated_names: tuple[str, ...] | None = field(default=None, repr=False, compare=False)

    __hash__ = object.__hash__  # by identity, because hashing a wide schema is slow

    @property
    def parts(self) -> tuple[Part, ...]:
        """All tables, node labels and relationship types."""
        return (*self.tables, *self.nodes, *self.edges)

    def replace_parts(self, parts: Sequence[Part]) -> DatabaseSchema:
        """Return a copy of the schema with these parts in place of its own parts."""
        return replace(
            self,
            tables=tuple(part for part in parts if isinstance(part, TableInfo)),
            nodes=tuple(part for part in parts if isinstance(part, NodeInfo)),
            edges=tuple(part for part in parts if isinstance(part, EdgeInfo)),
        )

    def spell(self, name: str) -> str:
        """Return a name of the schema as statements must write it: in quotes if necessary."""
        if self.nodes or self.edges:
            return cypher_name(name)
        if self.folds_case and name != name.lower():
            return quoted(name, self.quote)
        return sql_name(name, self.quote)

    def to_text(self) -> str:
        """Return the text of the schema for a model, one part per line.

        Names are quoted where a statement must quote them. `dqa.core.fitting.fit_schema` shortens
        long schemas.
        """
        notes = (f"({visible(note)}.)" for note in self.notes)
        return "\n".join((*self.lines(), *notes))

    def lines(self) -> tuple[str, ...]:
        """Return the lines of the text without notes."""
        return tuple(map(self.describe, self.parts))

    def describe(self, part: Part) -> str:
        """Return the line of text that describes a part, with control characters escaped."""
        key = part.key if isinstance(part, NodeInfo) else None
        fields = [self._field(field, is_key=field.name == key) for field in part.fields]
        if part.omitted:
            noun = "columns" if isinstance(part, TableInfo) else "properties"
            fields.append(f"... {part.omitted} {'more' if fields else noun}")
        listed = ", ".join(fields)
        if isinstance(part, TableInfo):
            line = f"{self.spell(part.name)}({listed})" + self._keys(part)
        elif isinstance(part, NodeInfo):
            line = f"(:{self.spell(part.name)} {{{listed}}})"
        else:
            line = edge_pattern(part, f":{self.spell(part.name)} {{{listed}}}")
        return visible(line + _comment(part.comment, _PART_COMMENT))

    def _field(self, field: Field, *, is_key: bool) -> str:
        text = self.spell(field.name) + (f": {field.type}" if field.type else "")
        text += " key" * is_key + " masked" * field.masked
        text += f" e.g. {dump_row(field.samples)}" if field.samples else ""
        return text + _comment(field.comment, _FIELD_COMMENT)

    def _keys(self, table: TableInfo) -> str:
        """Return the primary key and the foreign keys of a table."""
        text = f" key ({', '.join(map(self.spell, table.key))})" if table.key else ""
        for column, other, other_column in table.references:
            text += f" {self.spell(column)} -> {self.spell(other)}"
            text += f".{self.spell(other_column)}" if other_column else ""
        return text


def edge_pattern(edge: EdgeInfo, inner: str) -> str:
    """Return ``(:Source)-[inner]->(:Target)``, with ``()`` for an end without a label."""
    source, target = (f":{cypher_name(end)}" if end else "" for end in (edge.source, edge.target))
    return f"({source})-[{inner}]->({target})"


def _comment(comment: str, most: int) -> str:
    """Return a text as a comment of SQL and Cypher; an empty string for an empty text."""
    text = shortened(comment, most).replace("*/", "* /")
    return f" /* {text} */" if text else ""


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _read_words(file: str) -> frozenset[str]:
    return frozenset(Path(__file__).with_name(file).read_text("utf-8").split())


_SQL_WORDS = _read_words("reserved_sql.txt")
"""Words that SQLite, DuckDB, PostgreSQL, MariaDB or MySQL does not accept as names."""
_CYPHER_WORDS = _read_words("reserved_cypher.txt")


def sql_name(name: str, quote: str = '"') -> str:
    """Return a name as SQL must write it: in quotes if it has special characters or is reserved.

    `DatabaseSchema.spell` also quotes names with capitals if the database folds their case.
    """
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _SQL_WORDS
    return name if is_plain else quoted(name, quote)


def cypher_name(name: str) -> str:
    """Return the name of a label or property as Cypher must write it: in backticks if necessary."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _CYPHER_WORDS
    return name if is_plain else quoted(name, "`")


def quoted(name: str, quote: str) -> str:
    """Return a name in quotes. Quotes inside the name are doubled."""
    return f"{quote}{name.replace(quote, 2 * quote)}{quote}"


def quote_name(name: str) -> str:
    """Return a label, type or property of Cypher in backticks."""
    return quoted(name, "`")


def quote_text(text: str) -> str:
    """Return a text as a literal of Cypher."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def describe(schema: Schema) -> DatabaseSchema:
    """Convert the schema of a scenario, including its graph, to a `DatabaseSchema`."""

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
