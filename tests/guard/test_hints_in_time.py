"""An error message reads the schema only if it needs it, within the statement's limit."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import pytest

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import StatementError, StatementTimeoutError, UnknownReferenceError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.guard import GuardedDatabase

SHOP = DatabaseSchema((TableInfo("shop", (Field("name", "TEXT"),), (), ()),))
SHORT = Limits(seconds=0.05)


class FailingSession(Session):
    """A session whose statements fail and whose schema is readable only after an event."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "shops"
    namespace = None

    def __init__(self, fail: Callable[[Limits], Exception]) -> None:
        super().__init__()
        self.may_be_read = Event()
        self.reads = 0
        self._fail = fail

    def run(self, statement: str, limits: Limits) -> Rows:
        """Fail."""
        raise self._fail(limits)

    def read_schema(self) -> DatabaseSchema:
        """Return the schema after the event."""
        self.reads += 1
        self.may_be_read.wait()
        return SHOP

    def close(self) -> None:
        """Do nothing."""


def test_a_hint_waits_for_the_schema_no_longer_than_the_limit() -> None:
    """Describing thousands of tables takes long."""
    session = FailingSession(lambda _: UnknownReferenceError("no such column: nam", "nam"))
    database = GuardedDatabase(session)
    with pytest.raises(StatementError, match="could not be read in time"):
        database.query("SELECT nam FROM shop", SHORT)
    session.may_be_read.set()
    assert database.schema() == SHOP
    with pytest.raises(StatementError, match="Did you mean 'name'"):
        database.query("SELECT nam FROM shop", SHORT)


def test_a_description_takes_no_longer_than_the_limit() -> None:
    """The schema is read in the background and is available later."""
    session = FailingSession(lambda _: StatementError("not run"))
    database = GuardedDatabase(session)
    for statement in ("DESCRIBE shop", "SHOW TABLES"):
        with pytest.raises(StatementTimeoutError, match="not read within"):
            database.query(statement, SHORT)
    session.may_be_read.set()
    assert database.schema() == SHOP
    assert database.query("SHOW TABLES", SHORT).rows == (("shop",),)


def test_an_error_that_is_not_about_names_reads_no_schema() -> None:
    """A crashed engine would have to be opened and described again."""
    session = FailingSession(lambda _: StatementError("The statement crashed the engine"))
    with pytest.raises(StatementError, match="crashed"):
        GuardedDatabase(session).query("SELECT name FROM shop", SHORT)
    assert session.reads == 0
