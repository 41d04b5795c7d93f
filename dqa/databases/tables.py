"""How a situation's tables are defined in SQL, whatever the dialect, and the tag beside them.

SQLAlchemy spells the definitions and quotes the names. Row order is content: a backend names what
tells it, and where a server keeps no order of its own, a column `ROW_COLUMN` does, which no schema
shows.
"""

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
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.schema import CreateTable, ExecutableDDLElement
from sqlalchemy.types import TypeEngine, UserDefinedType

from dqa.core.schema import sql_name
from dqa.core.situation import Schema, StoredType, TableSchema
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation

TAG_COLUMNS = ("scenario", "name", "content_hash", "row_count")
ROW_COLUMN = "dqa_row"
"""The number of a row within its table, where the server needs one to know."""
REFERENCES = "references "
"""How the comment of a column begins that refers to another: ``references table.column``."""

ForeignKeys: TypeAlias = Literal["declared", "commented", "omitted"]
"""What becomes of the foreign keys that the graph reading implies. Real data breaks them; so where
a server would enforce them they are comments, for whoever reads the schema, or left out."""


class _Invisible(UserDefinedType[int]):
    """A number that ``SELECT *`` does not show."""

    cache_ok = True

    def get_col_spec(self, **_: object) -> str:
        """Return the type as MySQL and MariaDB spell it."""
        return "INT NOT NULL DEFAULT 0 INVISIBLE"


_TYPES: Mapping[StoredType, TypeEngine[Any]] = {
    "text": Text().with_variant(mysql.LONGTEXT(), "mysql"),
    "float": Double(),
    "integer": BigInteger(),
    "boolean": Boolean(),
}
# An index of MySQL's holds 3,072 bytes, and a character takes four of them; what else there is may
# index no text without a length.
_KEY_TEXT = String(255).with_variant(Text(), "sqlite", "postgresql")
_ROW_NUMBER = Integer().with_variant(_Invisible(), "mysql")

# For a driver that marks parameters by % every other % would be doubled.
_DIALECTS: Mapping[str, Dialect] = {
    "ansi": DefaultDialect(paramstyle="named"),
    "mysql": mysql.dialect(paramstyle="named"),
    "postgres": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
    "sqlite": sqlite.dialect(paramstyle="named"),
}
# DuckDB reads names and types as PostgreSQL writes them.
_SPELLED_AS = {"duckdb": "postgres", "mariadb": "mysql"}


def quote(dialect: str, *names: str) -> str:
    """Return names quoted for a dialect and, where there are several, separated by commas."""
    preparer = _DIALECTS[_SPELLED_AS.get(dialect, dialect)].identifier_preparer
    return ", ".join(map(preparer.quote_identifier, names))


def quote_if_needed(dialect: str, name: str) -> str:
    """Return a name as a statement of a dialect has to spell it, quoted where it must be."""
    preparer = _DIALECTS[_SPELLED_AS.get(dialect, dialect)].identifier_preparer
    is_plain = sql_name(name) == name and preparer.quote(name) == name
    return name if is_plain else preparer.quote_identifier(name)


def spell(element: ExecutableDDLElement, dialect: str) -> str:
    """Return a definition as a statement of a dialect."""
    return str(element.compile(dialect=_DIALECTS[_SPELLED_AS.get(dialect, dialect)]))


def create_table(table: Table, dialect: str, *, foreign_keys: bool = False) -> str:
    """Return the statement that makes a table, with or without its foreign keys."""
    return spell(
        CreateTable(table, include_foreign_key_constraints=None if foreign_keys else []), dialect
    )


def literal_insert(table: Table, rows: Sequence[Mapping[str, Any]], dialect: str) -> str:
    """Return the statement that fills a table, with every value spelt out."""
    made = (
        insert(table)
        .values(rows)
        .compile(
            dialect=_DIALECTS[_SPELLED_AS.get(dialect, dialect)],
            compile_kwargs={"literal_binds": True},
        )
    )
    return str(made)


@lru_cache(maxsize=64)
def define_tables(
    schema: Schema, foreign_keys: ForeignKeys, *, namespace: str | None = None, numbered: bool
) -> Mapping[str, Table]:
    """Return the tables of a schema by name; `numbered` ones have a column `ROW_COLUMN`.

    Primary keys are enforced.
    """
    metadata = MetaData(schema=namespace)
    links = [(table.name, *link) for table in schema.tables for link in _references(table, schema)]
    in_keys = {(table.name, column) for table in schema.tables for column in table.key}
    in_keys |= {(table, column) for table, column, _, _ in links}
    in_keys |= {(other, column) for _, _, other, column in links}
    made = {
        table.name: Table(table.name, metadata, *_columns(table, in_keys, numbered), quote=True)
        for table in schema.tables
    }
    for table, column, other, other_column in links:
        source, target = made[table].c[column], made[other].c[other_column]
        if foreign_keys == "declared":
            link = ForeignKeyConstraint([source], [target], postgresql_not_valid=True)
            made[table].append_constraint(link)
        elif foreign_keys == "commented":
            source.comment = f"{REFERENCES}{other}.{other_column}"
    return made


def define_tag(namespace: str | None = None) -> Table:
    """Return the table with the tag."""
    types = {"row_count": BigInteger()}
    columns = (Column(name, types.get(name, Text()), quote=True) for name in TAG_COLUMNS)
    return Table(TAG_TABLE, MetaData(schema=namespace), *columns, quote=True)


def tag_row(tag: LoadedSituation) -> tuple[str, str, str, int]:
    """Return a tag's row, in the order of `TAG_COLUMNS`."""
    return tag.scenario, tag.name, tag.content_hash, tag.rows


def _columns(
    table: TableSchema, in_keys: set[tuple[str, str]], numbered: bool
) -> Iterator[Column[Any]]:
    for column in table.columns:
        is_key_text = column.stored == "text" and (table.name, column.name) in in_keys
        yield Column(
            column.name,
            _KEY_TEXT if is_key_text else _TYPES[column.stored],
            primary_key=column.name in table.key,
            autoincrement=False,
            quote=True,
        )
    if numbered:
        yield Column(ROW_COLUMN, _ROW_NUMBER)


def _references(table: TableSchema, schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Yield ``(column, table, column)`` for what the graph reading says of a table's columns."""
    for edge in schema.edges:
        if edge.table != table.name:
            continue
        for label, column in (edge.source, edge.target):
            node = schema.node(label)
            yield column, node.table, node.key_column
