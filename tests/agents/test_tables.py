"""Describing and sampling one table, on every embedded database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import dqa
from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError, UnknownNameError
from tests.databases.conftest import backend, database, relational, situation
from tests.sqlite_files import run_script

__all__ = ["backend", "database", "relational", "situation"]


def test_every_part_of_a_schema_can_be_described_and_sampled(database: Database) -> None:
    """By tables, labels and relationship types; what is counted is what is there."""
    schema = database.schema()
    names = [part.name for part in schema.tables] + [part.label for part in schema.nodes]
    edges = [part.label for part in schema.edges]
    assert names
    for name in names:
        told = dqa.describe_table(database, name)
        assert told.name == name
        assert told.kind == ("label" if schema.nodes else "table")
        assert told.column_count == len(told.columns) > 0
        sampled = dqa.sample_rows(database, name, 2)
        assert sampled.columns == tuple(column.name for column in told.columns)
        assert len(sampled.rows) == min(2, told.row_count or 0)
        assert told.text.endswith(f"Rows: {told.row_count:,}.")
    for name in edges:
        told = dqa.describe_table(database, name)
        assert told.kind == "relationship type"
        assert "-[:" in told.text
        assert (told.row_count or 0) > 0


def test_a_name_in_other_letters_is_found_and_an_unknown_one_is_told(relational: Database) -> None:
    """Where only one is called so."""
    name = relational.schema().tables[0].name
    assert dqa.describe_table(relational, name.upper()).name == name
    with pytest.raises(UnknownNameError, match="There is no table 'nothing'"):
        dqa.describe_table(relational, "nothing")
    with pytest.raises(UnknownNameError, match="There is no table 'nothing'"):
        dqa.sample_rows(relational, "nothing")


def test_names_that_need_quotes_and_wide_tables(tmp_path: Path) -> None:
    """Reserved words, spaces and 300 columns."""
    path = tmp_path / "odd.db"
    columns = ", ".join(f"c{number} INTEGER" for number in range(300))
    run_script(
        path,
        'CREATE TABLE "order" ("select" INTEGER, "two words" TEXT, "é" TEXT);'
        """INSERT INTO "order" VALUES (1, 'x', 'y');"""
        f"CREATE TABLE wide ({columns});",
    )
    opened = dqa.open_database(path)
    assert dqa.sample_rows(opened, "order").rows == ((1, "x", "y"),)
    told = dqa.describe_table(opened, "wide")
    assert (len(told.columns), told.column_count, told.row_count) == (200, 300, 0)
    assert "... 100 more)" in told.text
    assert len(dqa.sample_rows(opened, "wide").columns) == 200
    opened.close()


def test_columns_are_found_in_whichever_table_they_stand(shop: Path) -> None:
    """By names and comments; what nothing is about finds nothing."""
    with closing(dqa.open_database(shop)) as opened:
        found = dqa.find_columns(opened, "what a supplier's price is").text
        assert found.startswith("supplier.price")
        assert len(dqa.find_columns(opened, "supplier id", most=2).text.splitlines()) == 2
        assert "No column" in dqa.find_columns(opened, "zebra").text


def test_check_says_what_query_would_do(relational: Database) -> None:
    """Within the scope of the database, too."""
    name = relational.schema().tables[0].name
    for statement in (
        f"SELECT count(*) FROM {name}",
        f"SELECT count(*) FROM `{name}`",
        f"SELECT * FROM {name} FOR UPDATE",
        f"DROP TABLE {name}",
        "SELECT 1; SELECT 2",
    ):
        said = dqa.check_statement(relational, statement)
        try:
            dqa.query(relational, statement)
            ran = True
        except RefusedStatementError:
            ran = False
        assert said.allowed == ran, statement
        assert said.allowed == (not said.reason)
