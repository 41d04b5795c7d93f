"""Reading a database that differs from the schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import DataError, QueryError
from dqa.core.situation import Column, Schema, TableSchema
from dqa.loaders.readback import read_situation
from tests.sqlite_files import run_script

_TRIP = TableSchema(
    "trip", (Column("code", "text", ""), Column("price", "float", "")), ("code",), ""
)


@pytest.mark.parametrize("missing", ["code", "price"])
def test_a_missing_column_is_an_error(missing: str, tmp_path: Path) -> None:
    """SQLite takes a quoted name that it does not know for a text; the reader must not."""
    file = tmp_path / "trips.db"
    there = {"code": "code", "price": "price"} | {missing: "other"}
    run_script(
        file,
        f"CREATE TABLE trip ({there['code']}, {there['price']});"
        "INSERT INTO trip VALUES ('a', 1.0);",
    )
    database = plugins.backend("sqlite").open(str(file))
    with pytest.raises((QueryError, DataError), match=missing):
        read_situation(database, Schema("trips", (_TRIP,), (), ()), "trips")
    database.close()
