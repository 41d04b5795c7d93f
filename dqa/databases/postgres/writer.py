"""Writes a situation into PostgreSQL: COPY, in one transaction with everything else.

A table that is only ever read keeps its rows where COPY put them, in their order, which its hidden
column ``ctid`` tells. The tag is the schema's comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection, errors, sql

from dqa.core.errors import DataError
from dqa.core.situation import Column, Schema, Situation, Table
from dqa.databases.base import Loaded
from dqa.databases.relational_writer import Style, references

__all__ = ["read_tag", "write"]

_STYLE = Style(
    types={
        "text": "TEXT",
        "float": "DOUBLE PRECISION",
        "integer": "BIGINT",
        "boolean": "BOOLEAN",
    },
    key_text="TEXT",
)
_BLOCK = 1 << 16
"""Rows sent at once."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def write(connection: Connection[Any], tag: Loaded, situation: Situation) -> None:
    """Make the place, fill it and tag it, within the connection's transaction.

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
    place = sql.Identifier(tag.place)
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql.SQL("CREATE SCHEMA {0}; SET LOCAL search_path TO {0}").format(place))
            cursor.execute(before)
            for table in situation.tables.values():
                _copy(cursor, table)
            cursor.execute(after)
            comment = json.dumps({k: v for k, v in asdict(tag).items() if k != "place"})
            cursor.execute(
                sql.SQL("COMMENT ON SCHEMA {} IS {}").format(place, sql.Literal(comment))
            )
    except (errors.IntegrityError, errors.DataError, errors.ProgramLimitExceeded) as error:
        raise DataError(
            f"Situation '{situation.name}' cannot be held: {error.diag.message_primary or error}."
        ) from error


def read_tag(place: str, comment: str | None) -> Loaded | None:
    """Return the tag that a schema's comment is, or None where it is something else."""
    try:
        held = json.loads(comment or "")
        return Loaded(place=place, **held)
    except (ValueError, TypeError):
        return None


@lru_cache(maxsize=64)
def _definitions(schema: Schema) -> tuple[bytes, bytes]:
    """Return what makes the tables, and what is to follow when they are full."""
    before = [_STYLE.table(table, schema, foreign_keys=False) for table in schema.tables]
    after = [
        f"ALTER TABLE {_STYLE.quoted(table.name)} ADD {_STYLE.foreign_key(*reference)} NOT VALID"
        for table in schema.tables
        for reference in references(table, schema)
    ]
    after += [f"ANALYZE {_STYLE.quoted(table.name)}" for table in schema.tables]
    return "; ".join(before).encode(), "; ".join(after).encode()


def _copy(cursor: Any, table: Table) -> None:  # noqa: ANN401
    names = _STYLE.quoted(*table.schema.column_names)
    rows = _rows(table)
    with cursor.copy(
        f"COPY {_STYLE.quoted(table.schema.name)} ({names}) FROM STDIN".encode()
    ) as copy:
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
    if column.type == "text":
        return "%s", [value.translate(_ESCAPES) for value in values]
    if column.type == "float" and np.isnan(array).any():
        return "%s", [r"\N" if isnan(value) else repr(value) for value in values]
    return "%r", values
