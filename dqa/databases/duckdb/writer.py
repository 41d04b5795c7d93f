"""Writes a situation into DuckDB: its columns as Arrow tables, in one transaction.

DuckDB enforces foreign keys or has none; so they are comments, which the schema reader of this
project reads again.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa
from sqlalchemy.schema import SetColumnComment

from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation, Table
from dqa.databases.namespaces import TAG_TABLE, LoadedSituation
from dqa.databases.tables import create_table, define_tables, define_tag, quote, spell, tag_row

_VIEW = "dqa_arrow"


def write(
    connection: duckdb.DuckDBPyConnection, tag: LoadedSituation, situation: Situation
) -> None:
    """Make the namespace, fill it and tag it, within the connection's transaction.

    Raises
    ------
    DataError
        A key occurs twice, or a text is no Unicode.
    """
    namespace = quote("duckdb", tag.namespace)
    connection.execute(f"CREATE SCHEMA {namespace}; USE {namespace}")
    connection.execute(_definitions(situation.schema))
    try:
        for table in situation.tables.values():
            connection.register(_VIEW, _arrow(table))
            names = quote("duckdb", *table.schema.column_names)
            target = f"{namespace}.{quote('duckdb', table.schema.name)}"
            connection.execute(f"INSERT INTO {target} ({names}) SELECT {names} FROM {_VIEW}")  # noqa: S608
            connection.unregister(_VIEW)
    except (duckdb.ConstraintException, pa.ArrowException, UnicodeEncodeError) as error:
        problem = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"Situation '{situation.name}' cannot be held: {problem}.") from error
    connection.execute(f"INSERT INTO {namespace}.{TAG_TABLE} VALUES (?, ?, ?, ?)", tag_row(tag))  # noqa: S608


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> str:
    tables = define_tables(schema, "commented", numbered=False).values()
    statements = [create_table(table, "duckdb") for table in (define_tag(), *tables)]
    statements += [
        spell(SetColumnComment(column), "duckdb")
        for table in tables
        for column in table.columns
        if column.comment is not None
    ]
    return "; ".join(statements)


def _arrow(table: Table) -> Any:  # noqa: ANN401  (pyarrow has no types)
    # As from pandas: a float that is no number is missing.
    return pa.table(
        {
            column.name: pa.array(
                table[column.name],
                type=pa.string() if column.stored == "text" else None,
                from_pandas=True,
            )
            for column in table.schema.columns
        }
    )
