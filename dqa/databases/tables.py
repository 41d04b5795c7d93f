"""SQLAlchemy's tables for a situation and its tag, and names quoted for a dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    MetaData,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.schema import AddConstraint, CreateTable
from sqlalchemy.types import TypeEngine

from dqa.core.schema import sql_name
from dqa.core.situation import Schema, StoredType
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation

CONSTRAINTS = "constraints"
"""Key of `MetaData.info`: the statements that add the unchecked foreign keys."""
REFERENCES = "references "
"""How the comment of a referring column begins: ``references table.column``."""

ForeignKeys: TypeAlias = Literal["declared", "unchecked", "commented", "omitted"]
"""How to write the foreign keys of the graph reading, which real data breaks: as declarations that
the engine does not enforce, as constraints that are not checked against existing rows, as comments,
or not at all."""

_TYPES: Mapping[StoredType, TypeEngine[Any]] = {
    "text": Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "float": Double(),
    "integer": BigInteger(),
    "boolean": Boolean(),
}
# MySQL's indexes hold at most 3,072 bytes; other servers cannot index a text without a length.
_KEY_TEXT = String(255).with_variant(Text(), "sqlite", "postgresql")

# With the parameter style "named", SQLAlchemy does not double a % in a name.
_DIALECTS: Mapping[str, Dialect] = {
    "ansi": DefaultDialect(paramstyle="named"),
    "mysql": mysql.dialect(paramstyle="named"),
    "postgres": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
_SAME_SPELLING = {"duckdb": "postgres", "mariadb": "mysql"}


def quote(dialect: str, *names: str) -> str:
    """Return names quoted for a dialect, separated by commas."""
    return ", ".join(map(_dialect(dialect).identifier_preparer.quote_identifier, names))


def quote_if_needed(dialect: str, name: str) -> str:
    """Return a name as a statement of a dialect has to spell it, quoted where it must be."""
    preparer = _dialect(dialect).identifier_preparer
    is_plain = sql_name(name) == name and preparer.quote(name) == name
    return name if is_plain else preparer.quote_identifier(name)


def create_table(table: Table, dialect: str) -> str:
    """Return the statement that creates a table."""
    return str(CreateTable(table).compile(dialect=_dialect(dialect)))


def literal_insert(table: Table, rows: Sequence[Mapping[str, Any]], dialect: str) -> str:
    """Return the statement that fills a table, with every value as a literal."""
    options = {"literal_binds": True}
    statement = insert(table).values(rows)
    return str(statement.compile(dialect=_dialect(dialect), compile_kwargs=options))


@lru_cache(maxsize=64)
def define_tables(schema: Schema, foreign_keys: ForeignKeys) -> MetaData:
    """Return the tables of a schema. Databases enforce primary keys."""
    metadata = MetaData()
    references = list(_references(schema))
    in_keys = {(table.name, column) for table in schema.tables for column in table.key}
    in_keys |= {end for reference in references for end in reference}
    for table in schema.tables:
        columns = (
            Column(
                column.name,
                _KEY_TEXT
                if column.stored == "text" and (table.name, column.name) in in_keys
                else _TYPES[column.stored],
                primary_key=column.name in table.key,
                autoincrement=False,
                quote=True,
            )
            for column in table.columns
        )
        Table(table.name, metadata, *columns, quote=True)
    for (table_name, column_name), (other, other_column) in references:
        source = metadata.tables[table_name].c[column_name]
        if foreign_keys == "commented":
            source.comment = f"{REFERENCES}{other}.{other_column}"
        elif foreign_keys != "omitted":
            target = metadata.tables[other].c[other_column]
            link = ForeignKeyConstraint([source], [target], postgresql_not_valid=True)
            metadata.tables[table_name].append_constraint(link)
            if foreign_keys == "unchecked":  # which takes it out of CREATE TABLE
                metadata.info.setdefault(CONSTRAINTS, []).append(AddConstraint(link))
    return metadata


def _references(schema: Schema) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield the referring column and the column it refers to, as the graph reading has them."""
    for edge in schema.edges:
        for label, column in (edge.source, edge.target):
            node = schema.node(label)
            yield (edge.table, column), (node.table, node.key_column)


def define_tag() -> Table:
    """Return the table with the tag: one row, or none while the situation is loaded."""
    return _TAG


_TAG = Table(
    TAG_TABLE,
    MetaData(),
    Column("scenario", Text(), quote=True),
    Column("name", Text(), quote=True),
    Column("content_hash", Text(), quote=True),
    Column("row_count", BigInteger(), quote=True),
    quote=True,
)


def tag_row(tag: LoadedSituation) -> tuple[str, str, str, int]:
    """Return a tag as the row of its table."""
    return tag.scenario, tag.name, tag.content_hash, tag.rows


def _dialect(name: str) -> Dialect:
    return _DIALECTS[_SAME_SPELLING.get(name, name)]
