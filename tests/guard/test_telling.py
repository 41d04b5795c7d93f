"""What a query tells of the schema takes no longer than the query may."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from time import sleep

import pytest

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    StatementError,
    StatementTimeoutError,
    UnknownReferenceError,
)
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.databases.failures import timed_out, unanswered
from dqa.guard import GuardedDatabase

SHOP = DatabaseSchema((TableInfo("shop", (Field("name", "TEXT"),), (), ()),))
SHORT = Limits(seconds=0.05)


class Described(Session):
    """A session whose schema is read once it may be, and whose statements all fail."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "shops"
    namespace = None

    def __init__(self, fail: Callable[[], Exception]) -> None:
        super().__init__()
        self.may_be_read = Event()
        self.reads = 0
        self._fail = fail

    def run(self, statement: str, limits: Limits) -> Rows:
        """Fail."""
        del statement, limits
        raise self._fail()

    def read_schema(self) -> DatabaseSchema:
        """Return the schema, when it may be read."""
        self.reads += 1
        self.may_be_read.wait()
        return SHOP

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


@pytest.fixture
def made() -> Iterator[list[Described]]:
    """Sessions, whose schemas may be read at the latest when the test ends."""
    sessions: list[Described] = []
    yield sessions
    for session in sessions:
        session.may_be_read.set()


def test_an_unknown_name_is_told_without_a_schema_that_is_not_read_in_time(
    made: list[Described],
) -> None:
    """A query would else take as long as thousands of tables take to be described."""
    session = Described(lambda: UnknownReferenceError("no such column: nam", "nam"))
    made.append(session)
    database = GuardedDatabase(session)
    with pytest.raises(StatementError, match="could not be read in time; ask again"):
        database.query("SELECT nam FROM shop", SHORT)
    session.may_be_read.set()
    assert database.schema() == SHOP
    with pytest.raises(StatementError, match="Did you mean 'name'"):
        database.query("SELECT nam FROM shop", SHORT)


@pytest.mark.parametrize(
    "problem", ["The statement crashed the database engine", 'near "FORM": syntax error']
)
def test_an_error_that_is_not_about_names_reads_no_schema(
    problem: str, made: list[Described]
) -> None:
    """Whoever has crashed an engine would wait for it to be opened anew and described."""
    session = Described(lambda: StatementError(problem))
    made.append(session)
    with pytest.raises(StatementError, match=problem):
        GuardedDatabase(session).query("SELECT name FROM shop", SHORT)
    assert session.reads == 0


def test_what_an_ambiguous_name_may_be_is_told_where_the_schema_is_there(
    made: list[Described],
) -> None:
    """The hint needs the columns of the sources."""
    session = Described(lambda: StatementError("ambiguous column name: name"))
    made.append(session)
    session.may_be_read.set()
    with pytest.raises(StatementError, match="write which one is meant"):
        GuardedDatabase(session).query("SELECT name FROM shop a, shop b", SHORT)
    assert session.reads == 1


class Confining(GuardedDatabase):
    """A database that takes a while to keep a statement to its part."""

    def _confined(self, statement: str, until: float) -> str:
        del until
        sleep(0.15)
        return statement


class Late(Described):
    """A session that stops every statement at its limit, and says what that was."""

    def __init__(self) -> None:
        super().__init__(RuntimeError)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Stop it."""
        del statement
        raise timed_out(limits, self.kind)


class Silent(Late):
    """A session whose server never says anything."""

    def run(self, statement: str, limits: Limits) -> Rows:
        """Give up."""
        del statement
        raise unanswered(self.name, limits)


def test_a_timeout_is_told_alike_whatever_of_the_limit_was_left() -> None:
    """Else a model is told another number at each time, and a recording has no reply to that."""
    with pytest.raises(StatementTimeoutError, match=r"stopped after 2 seconds\. Write"):
        Confining(Late()).query("SELECT name FROM shop", Limits(seconds=2.0))
    with pytest.raises(DatabaseUnavailableError, match=r"come back within 2 seconds, nor"):
        Confining(Silent()).query("SELECT name FROM shop", Limits(seconds=2.0))


def test_what_is_left_of_a_limit_tells_of_all_of_it() -> None:
    """However often a part of it is gone."""
    left = Limits(seconds=10.0).left(4.0).left(1.5)
    assert (left.seconds, left.told) == (1.5, 10.0)
    assert Limits(seconds=10.0).told == 10.0
    assert "after 10 seconds" in str(timed_out(left, "graph"))
