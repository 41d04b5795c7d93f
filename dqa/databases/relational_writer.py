"""What writers of relational databases share: definitions of tables, and the tag of a place.

A place holds the tables of one situation. Each backend keeps its tag where its server can keep it
best: in a table `TAG_TABLE` that no schema shows, or in the schema's comment. Row order is content:
each backend names what tells it, and where a server keeps no order of its own, a column
`ROW_COLUMN` does that neither a schema nor ``SELECT *`` shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dqa.core.errors import UsageError
from dqa.core.situation import ColumnType, Schema, Situation, TableSchema
from dqa.databases.base import Loaded

__all__ = [
    "REFERENCES",
    "ROW_COLUMN",
    "TAG_COLUMNS",
    "TAG_TABLE",
    "Style",
    "in_the_way",
    "references",
    "tag_of",
]

TAG_TABLE = "dqa_tag"
"""The table with the tag of a place: one row, or none while it is being loaded."""
TAG_COLUMNS = ("scenario", "name", "content_hash", "row_count")
ROW_COLUMN = "dqa_row"
"""The number of a row within its table, where the server needs one to know."""
REFERENCES = "references "
"""How the comment of a column begins that refers to another: ``references table.column``."""


@dataclass(frozen=True)
class Style:
    """How a server spells a table.

    Attributes
    ----------
    types
        The type of each kind of column.
    key_text
        The type of a text that is part of a key or refers to one.
    quote
        The character around names.
    extra
        Definitions that every table has beside its own.
    comments
        Whether the comment of a column says what it refers to.
    """

    types: Mapping[ColumnType, str]
    key_text: str
    quote: str = '"'
    extra: tuple[str, ...] = ()
    comments: bool = False

    def quoted(self, *names: str) -> str:
        """Return names quoted and, where there are several, separated by commas."""
        mark = self.quote
        return ", ".join(f"{mark}{name.replace(mark, mark * 2)}{mark}" for name in names)

    def table(self, table: TableSchema, schema: Schema, foreign_keys: bool) -> str:
        """Return the CREATE TABLE statement.

        Primary keys are enforced. Foreign keys are declared, where they are, for whoever reads
        the schema; each writer sees to it that they are not enforced: real data breaks them.
        """
        refers = list(references(table, schema))
        in_keys = {*table.key, *(column for column, _, _ in refers)}
        in_keys |= {other for t in schema.tables for _, name, other in references(t, schema)
                    if name == table.name}  # fmt: skip
        comments = {column: self.comment(*to) for column, *to in refers} if self.comments else {}
        parts = [
            f"{self.quoted(column.name)} "
            + (
                self.key_text
                if column.type == "text" and column.name in in_keys
                else self.types[column.type]
            )
            + comments.get(column.name, "")
            for column in table.columns
        ]
        parts += self.extra
        if table.key:
            parts.append(f"PRIMARY KEY ({self.quoted(*table.key)})")
        if foreign_keys:
            parts += [self.foreign_key(*reference) for reference in refers]
        return f"CREATE TABLE {self.quoted(table.name)} ({', '.join(parts)})"

    def comment(self, other: str, other_column: str) -> str:
        """Return the clause that writes down, for readers only, what a column refers to."""
        text = f"{REFERENCES}{other}.{other_column}".replace("'", "''")
        return f" COMMENT '{text}'"

    def foreign_key(self, column: str, other: str, other_column: str) -> str:
        """Return the clause that declares a foreign key."""
        return (
            f"FOREIGN KEY ({self.quoted(column)}) "
            f"REFERENCES {self.quoted(other)} ({self.quoted(other_column)})"
        )


def references(table: TableSchema, schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Yield ``(column, table, column)`` for what the graph reading says of a table's columns."""
    for edge in schema.edges:
        if edge.table != table.name:
            continue
        for label, column in (edge.source, edge.target):
            node = schema.node(label)
            yield column, node.table, node.key_column


def tag_of(situation: Situation, place: str) -> Loaded:
    """Return the tag of the place that holds `situation`."""
    return Loaded(
        place,
        situation.schema.scenario,
        situation.name,
        situation.content_hash,
        situation.row_count,
    )


def in_the_way(place: str, what: str) -> UsageError:
    """Return the error of a place that holds something else."""
    return UsageError(
        f"'{place}' holds {what}, and nothing is overwritten; "
        f"to drop all that is in it and load anew, write --replace {place}."
    )
