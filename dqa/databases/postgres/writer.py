"""Writes a situation into PostgreSQL: COPY, in one transaction with everything else.

A table that is only ever read keeps its rows where COPY put them, in their order, which its hidden
column ``ctid`` tells. The tag is the schema's comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection, errors, sql
from sqlalchemy.schema import AddConstraint

from dqa.core.errors import DataError
from dqa.core.situation import Column, Schema, Situation, Table
from dqa.databases.namespaces import LoadedSituation, tag_to_json
from dqa.databases.tables import create_table, define_tables, quote, spell

_BLOCK = 1 << 16
"""Rows sent at once."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def write(connection: Connection[Any], tag: LoadedSituation, situation: Situation) -> None:
    """Make the schema, fill it and tag it, within the connection's transaction.

    Foreign keys are declared last and not checked against the rows: real data breaks them, and
    nobody writes any more.

    Raises
    ------
    DataError
        A key occurs twice, or a value is one that the server cannot hold.
    psycopg.Error
        As the server says.
    """
    before, after = _definitions(situation.schema)
    schema = quote("postgres", tag.namespace)
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA {schema}; SET LOCAL search_path TO {schema}".encode())
            cursor.execute(before)
            for table in situation.tables.values():
                _copy(cursor, table)
            cursor.execute(after)
            comment = sql.Literal(tag_to_json(tag)).as_string(connection)
            cursor.execute(f"COMMENT ON SCHEMA {schema} IS {comment}".encode())
    except (errors.IntegrityError, errors.DataError, errors.ProgramLimitExceeded) as error:
        raise DataError(
            f"Situation '{situation.name}' cannot be held: {error.diag.message_primary or error}."
        ) from error


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> tuple[bytes, bytes]:
    """Return what makes the tables, and what is to follow when they are full."""
    tables = define_tables(schema, "declared", numbered=False).values()
    before = [create_table(table, "postgres") for table in tables]
    after = [
        spell(AddConstraint(constraint, isolate_from_table=False), "postgres")
        for table in tables
        for constraint in sorted(table.foreign_key_constraints, key=lambda c: tuple(c.column_keys))
    ]
    after += [f"ANALYZE {quote('postgres', table.name)}" for table in tables]
    return "; ".join(before).encode(), "; ".join(after).encode()


def _copy(cursor: Any, table: Table) -> None:  # noqa: ANN401
    name = quote("postgres", table.schema.name)
    columns = quote("postgres", *table.schema.column_names)
    rows = _rows(table)
    with cursor.copy(f"COPY {name} ({columns}) FROM STDIN".encode()) as copy:
        for block in iter(lambda: [row for row, _ in zip(rows, range(_BLOCK), strict=False)], []):
            try:
                copy.write("".join(block).encode())
            except UnicodeEncodeError as error:
                raise DataError(
                    f"Table '{table.schema.name}' holds a text that is no Unicode: {error}."
                ) from error


def _rows(table: Table) -> Iterator[str]:
    parts = [_part(column, table[column.name]) for column in table.schema.columns]
    pattern = "\t".join(mark for mark, _ in parts) + "\n"
    return (pattern % row for row in zip(*(values for _, values in parts), strict=True))


def _part(column: Column, array: NDArray[Any]) -> tuple[str, list[Any]]:
    """Return how the values of a column are formatted, and the values."""
    values = array.tolist()
    if column.stored == "text":
        return "%s", [value.translate(_ESCAPES) for value in values]
    if column.stored == "float" and np.isnan(array).any():
        return "%s", [r"\N" if isnan(value) else repr(value) for value in values]
    return "%r", values
