"""An error message reads the schema only if it needs it, within the statement's limit."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import sleep

import pytest

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import StatementError, StatementTimeoutError, UnknownReferenceError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo
from dqa.core.session import Session
from dqa.guard import GuardedDatabase, GuardVerdict

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
    with pytest.raises(StatementError, match="could not be read in time; ask again"):
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


def test_a_timeout_names_the_whole_limit() -> None:
    """A message with the remaining time would differ between runs and match no cassette."""

    class Slow(GuardedDatabase):
        def _ran(self, statement: str, verdict: GuardVerdict, limits: Limits, until: float) -> Rows:
            sleep(0.15)  # a backend may look into a statement before it runs
            return super()._ran(statement, verdict, limits, until)

    session = FailingSession(lambda limits: timed_out(limits, "relational"))
    with pytest.raises(StatementTimeoutError, match=r"stopped after 2 seconds\. Write"):
        Slow(session).query("SELECT name FROM shop", Limits(seconds=2.0))


class GraphSession(FailingSession):
    """A graph with relationships that begin at nodes without a label."""

    kind: Kind = "graph"
    dialect = "neo4j"

    def read_schema(self) -> DatabaseSchema:
        """Return a label and a relationship type."""
        city = NodeInfo("City", (Field("name", "STRING"),), key="name")
        return DatabaseSchema(nodes=(city,), edges=(EdgeInfo("ROAD", "", "City", ()),))


def test_a_hint_names_no_empty_label() -> None:
    """A hint shows an end without a label as ``()``, as a pattern matches it."""
    session = GraphSession(lambda _: UnknownReferenceError("Cannot find property nam", "nam"))
    with pytest.raises(StatementError, match=r"\(:City \{name\}\); \(\)-\[:ROAD \{\}\]->\(:City\)"):
        GuardedDatabase(session).query("MATCH (c:City) RETURN c.nam")
