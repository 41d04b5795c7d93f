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
    StatementError,
    StatementTimeoutError,
)
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.guard import GuardedDatabase
from dqa.loaders.proposal.survey import SurveyedColumn, SurveyedTable, Surveyor


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


SHOP = SurveyedTable("shop", (SurveyedColumn("cost", "REAL", "float"),), rows=2)


@pytest.mark.parametrize(
    ("failure", "is_summable"),
    [
        (StatementTimeoutError("It was stopped."), True),
        (StatementError("There is no sum of texts."), False),
    ],
)
def test_only_what_the_engine_refuses_to_add_up_gives_no_number(
    failure: DqaError, is_summable: bool
) -> None:
    """Adding up many rows takes long, and is what an outcome is made of all the same."""
    surveyor = Surveyor(GuardedDatabase(Failing(failure)))
    assert surveyor.is_summable(SHOP, "cost") is is_summable


def test_an_outage_says_nothing_of_a_column() -> None:
    """It ends the proposal, which would count rows otherwise."""
    surveyor = Surveyor(GuardedDatabase(Failing(DatabaseUnavailableError("It went away."))))
    with pytest.raises(DatabaseUnavailableError):
        surveyor.is_summable(SHOP, "cost")


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
