"""Writes a situation into DuckDB: its columns as Arrow tables, in one transaction.

DuckDB enforces foreign keys or has none, and real data breaks them; so they are written down as
comments on columns, which the schema reader of this project reads again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa

from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation, Table
from dqa.databases.base import Loaded
from dqa.databases.relational_writer import (
    REFERENCES,
    TAG_COLUMNS,
    TAG_TABLE,
    Style,
    references,
)

__all__ = ["REFERENCES", "write"]

_STYLE = Style(
    types={"text": "VARCHAR", "float": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN"},
    key_text="VARCHAR",
)
_VIEW = "dqa_arrow"


def write(connection: duckdb.DuckDBPyConnection, tag: Loaded, situation: Situation) -> None:
    """Make the place, fill it and tag it, within the connection's transaction.

    Raises
    ------
    DataError
        A key occurs twice, or a text is no Unicode.
    """
    place = _STYLE.quoted(tag.place)
    connection.execute(f"CREATE SCHEMA {place}; USE {place}")
    connection.execute(_definitions(situation.schema))
    try:
        for table in situation.tables.values():
            connection.register(_VIEW, _arrow(table))
            names = _STYLE.quoted(*table.schema.column_names)
            connection.execute(
                f"INSERT INTO {place}.{_STYLE.quoted(table.schema.name)} ({names}) "  # noqa: S608
                f"SELECT {names} FROM {_VIEW}"
            )
            connection.unregister(_VIEW)
    except (duckdb.ConstraintException, pa.ArrowException, UnicodeEncodeError) as error:
        problem = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"Situation '{situation.name}' cannot be held: {problem}.") from error
    values = [tag.scenario, tag.name, tag.content_hash, tag.rows]
    connection.execute(f"INSERT INTO {place}.{TAG_TABLE} VALUES (?, ?, ?, ?)", values)  # noqa: S608


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> str:
    types = ("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(TAG_COLUMNS, types, strict=True))
    statements = [f"CREATE TABLE {TAG_TABLE} ({columns})"]
    for table in schema.tables:
        statements.append(_STYLE.table(table, schema, foreign_keys=False))
        for column, other, other_column in references(table, schema):
            comment = f"{REFERENCES}{other}.{other_column}".replace("'", "''")
            name = f"{_STYLE.quoted(table.name)}.{_STYLE.quoted(column)}"
            statements.append(f"COMMENT ON COLUMN {name} IS '{comment}'")
    return "; ".join(statements)


def _arrow(table: Table) -> Any:  # noqa: ANN401  (pyarrow has no types)
    # As from pandas: a float that is no number is missing.
    return pa.table(
        {
            column.name: pa.array(
                table[column.name],
                type=pa.string() if column.type == "text" else None,
                from_pandas=True,
            )
            for column in table.schema.columns
        }
    )
