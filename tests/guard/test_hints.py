"""An error message reads the schema only if it needs it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, StatementError, UnknownReferenceError
from dqa.core.schema import DatabaseSchema, Field, TableInfo
from dqa.core.session import Session
from dqa.guard import GuardedDatabase

SHOP = DatabaseSchema((TableInfo("shop", (Field("name", "TEXT"),), (), ()),))
SHORT = Limits(seconds=0.05)


class FailingSession(Session):
    """A session whose statements fail and whose schema may be unreadable."""

    kind: Kind = "relational"
    dialect = "sqlite"
    language = "SQL"
    name = "shops"
    namespace = None

    def __init__(self, fail: Callable[[Limits], Exception]) -> None:
        super().__init__()
        self.is_readable = False
        self.reads = 0
        self._fail = fail

    def run(self, statement: str, limits: Limits) -> Rows:
        """Fail."""
        raise self._fail(limits)

    def read_schema(self) -> DatabaseSchema:
        """Return the schema if it is readable."""
        self.reads += 1
        if not self.is_readable:
            raise DatabaseUnavailableError("The catalogue does not answer.")
        return SHOP

    def close(self) -> None:
        """Do nothing."""


def test_an_unknown_name_is_explained_even_if_the_schema_cannot_be_read() -> None:
    """Without the schema, the error has no suggestion."""
    session = FailingSession(lambda _: UnknownReferenceError("no such column: nam", "nam"))
    database = GuardedDatabase(session)
    with pytest.raises(StatementError, match=r"no such column: nam\.$"):
        database.query("SELECT nam FROM shop", SHORT)
    session.is_readable = True
    with pytest.raises(StatementError, match="Did you mean 'name'"):
        database.query("SELECT nam FROM shop", SHORT)


def test_an_error_that_is_not_about_names_reads_no_schema() -> None:
    """A crashed engine would have to be opened and described again."""
    session = FailingSession(lambda _: StatementError("The statement crashed the engine"))
    with pytest.raises(StatementError, match="crashed"):
        GuardedDatabase(session).query("SELECT name FROM shop", SHORT)
    assert session.reads == 0
