"""The schema of a MySQL or MariaDB database by a few statements for all tables.

SQLAlchemy's inspector asks one or two of each table.
"""

from __future__ import annotations

import re
from typing import Any

from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.databases.namespaces import TAG_TABLE
from dqa.databases.relational import commented_reference, own_comment

TABLES = (
    "SELECT table_name, table_type, table_comment FROM information_schema.tables "
    "WHERE table_schema = %s"
)
COLUMNS = (
    "SELECT table_name, column_name, column_type, column_comment "
    "FROM information_schema.columns WHERE table_schema = %s ORDER BY table_name, ordinal_position"
)
KEYS = (
    "SELECT table_name, column_name FROM information_schema.statistics "
    "WHERE table_schema = %s AND index_name = 'PRIMARY' ORDER BY table_name, seq_in_index"
)
LINKS = (
    "SELECT table_name, column_name, referenced_table_name, referenced_column_name "
    "FROM information_schema.key_column_usage WHERE table_schema = %s "
    "AND referenced_table_schema = %s ORDER BY table_name, constraint_name, ordinal_position"
)
_VALUES = re.compile(r"(enum|set)(?=\()", re.IGNORECASE)
_INT = re.compile(r"\bINT\b")


def schema_of(
    tables: list[Any], columns: list[Any], keys: list[Any], links: list[Any]
) -> DatabaseSchema:
    """Return the schema that rows of the statements above describe."""
    comments = {
        name: comment for name, kind, comment in tables if kind != "VIEW" and comment is not None
    }
    fields: dict[str, list[Field]] = {name: [] for name, _, _ in tables if name != TAG_TABLE}
    references: dict[str, list[tuple[str, str, str]]] = {}
    for table, column, other, other_column in links:
        references.setdefault(table, []).append((column, other, other_column))
    for table, name, kind, comment in columns:
        if table not in fields:
            continue
        refers = commented_reference(name, comment)
        references.setdefault(table, []).extend(refers)
        fields[table].append(Field(name, _spelled(kind), comment=own_comment(comment)))
    primary: dict[str, list[str]] = {}
    for table, column in keys:
        primary.setdefault(table, []).append(column)
    return DatabaseSchema(
        tuple(
            TableInfo(
                name,
                tuple(fields[name]),
                tuple(primary.get(name, ())),
                tuple(references.get(name, ())),
                comments.get(name, ""),
            )
            for name in sorted(fields)
        ),
        quote="`",
    )


def _spelled(kind: str) -> str:
    """Return a type in capitals, but for the values that it lists."""
    if _VALUES.match(kind):
        return _VALUES.sub(lambda found: found[0].upper(), kind)
    return _INT.sub("INTEGER", kind.upper())
