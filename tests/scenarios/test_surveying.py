"""What a survey makes of a database that does not answer as it should."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    StatementTimeoutError,
)
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.guard import GuardedDatabase
from dqa.loaders.proposal.survey import Surveyor


class Failing(Session):
    """A session whose statements all fail in one way."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "shops"

    def __init__(self, failure: DqaError) -> None:
        super().__init__()
        self.failure = failure

    def run(self, statement: str, limits: Limits) -> Rows:
        """Fail."""
        del statement, limits
        raise self.failure

    def read_schema(self) -> DatabaseSchema:
        """Return one table."""
        return DatabaseSchema((TableInfo("shop", (Field("cost", "REAL"),)),))

    def close(self) -> None:
        """There is nothing to close."""


def test_an_outage_ends_the_survey() -> None:
    """A statement that a database cannot answer is left out; an outage is reported."""
    refused = Surveyor(GuardedDatabase(Failing(StatementTimeoutError("It was stopped."))))
    assert refused.count("shop") is None
    away = Surveyor(GuardedDatabase(Failing(DatabaseUnavailableError("It went away."))))
    with pytest.raises(DatabaseUnavailableError):
        away.count("shop")


def test_a_reference_to_its_own_table_counts_three_times(tmp_path: Path) -> None:
    """Tables with more joins come first."""
    file = tmp_path / "shops.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE shop (id INTEGER PRIMARY KEY);"
            "CREATE TABLE sale (id INTEGER PRIMARY KEY, shop INTEGER REFERENCES shop);"
            "CREATE TABLE worker (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES worker);"
        )
    with closing(plugins.backend_for(str(file)).open(str(file))) as database:
        survey = Surveyor(database).survey("", every=True)
    assert [table.name for table in survey.tables] == ["worker", "shop", "sale"]
