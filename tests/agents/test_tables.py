"""Describing and sampling one table, on every embedded database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import dqa
from dqa.core.database import Database
from dqa.core.errors import RefusedStatementError
from tests.databases.conftest import backend, database, relational, situation
from tests.sqlite_files import run_script

__all__ = ["backend", "database", "relational", "situation"]


def test_every_part_of_a_schema_can_be_described_and_sampled(database: Database) -> None:
    """By tables, labels and relationship types."""
    schema = database.schema()
    names = [part.name for part in schema.tables] + [part.label for part in schema.nodes]
    edges = [part.label for part in schema.edges]
    assert names
    for name in names:
        told = dqa.describe_table(database, name)
        fields = [field.name for field in next(p for p in schema.parts if p.name == name).fields]
        assert fields
        assert all(field in told.observation for field in fields)
        sampled = dqa.sample_rows(database, name)
        assert list(sampled.columns) == fields
        assert 0 < len(sampled.rows) <= 5
    for name in edges:
        assert "-[:" in dqa.describe_table(database, name).observation


def test_a_name_in_other_letters_is_found_and_an_unknown_one_is_told(relational: Database) -> None:
    """Where only one is called so."""
    name = relational.schema().tables[0].name
    assert dqa.describe_table(relational, name.upper()).observation.startswith(name)
    for look in (dqa.describe_table, dqa.sample_rows):
        told = look(relational, "nothing")
        assert told.error
        assert "there is no table 'nothing'" in told.observation


def test_names_that_need_quotes_and_wide_tables(tmp_path: Path) -> None:
    """Reserved words, spaces and 300 columns."""
    path = tmp_path / "odd.db"
    columns = ", ".join(f"c{number} INTEGER" for number in range(300))
    run_script(
        path,
        'CREATE TABLE "order" ("select" INTEGER, "two words" TEXT, "é" TEXT);'
        """INSERT INTO "order" VALUES (1, 'x', 'y');"""
        f"CREATE TABLE wide ({columns}); INSERT INTO wide (c0) VALUES (1);",
    )
    with closing(dqa.open_database(path)) as opened:
        assert dqa.sample_rows(opened, "order").rows == ((1, "x", "y"),)
        assert "... 100 more)" in dqa.describe_table(opened, "wide").observation
        assert len(dqa.sample_rows(opened, "wide").columns) == 200


def test_columns_are_found_in_whichever_table_they_stand(shop: Path) -> None:
    """By names and comments; what nothing is about finds nothing."""
    with closing(dqa.open_database(shop)) as opened:
        found = dqa.find_columns(opened, "what a supplier's price is").observation
        assert found.startswith("supplier.price")
        assert "No column" in dqa.find_columns(opened, "zebra").observation


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
