"""Schemas as databases describe themselves, and the text in which a model reads them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DatabaseSchema", "EdgeInfo", "Field", "NodeInfo", "TableInfo"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column or property: its name and its type in the database's own words."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view: columns, primary key, foreign keys as ``(column, table, column)``."""

    name: str
    columns: tuple[Field, ...]
    key: tuple[str, ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A node label and its properties; `key` is the identifying property, if declared."""

    label: str
    properties: tuple[Field, ...]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeInfo:
    """A relationship type, the labels it connects and its properties."""

    label: str
    source: str
    target: str
    properties: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """Tables of a relational database, or node labels and relationship types of a graph."""

    tables: tuple[TableInfo, ...] = ()
    nodes: tuple[NodeInfo, ...] = ()
    edges: tuple[EdgeInfo, ...] = ()

    def to_text(self) -> str:
        """Return the schema as a model reads it, one table, label or relationship type a line."""
        lines = [_table_line(table) for table in self.tables]
        lines += [f"(:{n.label} {{{_fields(n.properties, (n.key,))}}})" for n in self.nodes]
        lines += [
            f"(:{e.source})-[:{e.label} {{{_fields(e.properties)}}}]->(:{e.target})"
            for e in self.edges
        ]
        return "\n".join(lines)


def _table_line(table: TableInfo) -> str:
    line = f"{table.name}({_fields(table.columns)})"
    if table.key:
        line += f" key ({', '.join(table.key)})"
    for column, other, other_column in table.references:
        line += f" {column} -> {other}.{other_column}"
    return line


def _fields(fields: tuple[Field, ...], keys: tuple[str | None, ...] = ()) -> str:
    return ", ".join(
        f"{field.name}: {field.type}{' key' if field.name in keys else ''}" for field in fields
    )
