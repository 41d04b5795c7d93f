"""Real databases say what the tables of faults say, and what they return can be read.

Each statement is run without the guard, as what was let through: on the session that a worker has.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    NotUnderstoodError,
    RefusedStatementError,
    StatementError,
    UnknownReferenceError,
)
from dqa.core.session import Session

LIMITS = Limits(seconds=5.0)


def opened(backend: str, url: str) -> Session:
    """Return a session of a server in this process."""
    with plugins.backend(backend).start().connect(url) as namespaces:
        return namespaces.open(namespaces.select())


@pytest.fixture(params=["postgres", "mysql", "neo4j"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """Open a session of a server."""
    session = opened(request.param, request.getfixturevalue(f"{request.param}_url"))
    yield session
    session.close()


def on(name: str, *cases: object) -> list[object]:
    """Return the parameters of cases on one server."""
    return [pytest.param(name, *case) for case in cases]  # type: ignore[misc]


def said(session: Session, statement: str, limits: Limits = LIMITS) -> DqaError:
    """Return the error of a statement, after which the session answers another one."""
    with pytest.raises(DqaError) as caught:
        session.run(statement, limits)
    trivial = "RETURN 1" if session.kind == "graph" else "SELECT 1"
    assert session.run(trivial, LIMITS).rows == ((1,),)
    return caught.value


ERRORS = [
    *on(
        "postgres",
        ("SELECT xpath('////', '<a/>')", StatementError),  # XX000, as an internal error
        ("SELECT ts_lexize('nosuch', 'x')", NotUnderstoodError),
        ("SELECT 1/0", StatementError),
        ("SELEC 1", NotUnderstoodError),
        ("SELECT nosuch(1)", NotUnderstoodError),
        ("SELECT * FROM nosuch", UnknownReferenceError),
        ("CREATE TABLE nosuch (a int)", RefusedStatementError),
        ("SELECT pg_read_file('/nosuch')", StatementError),  # 58P01, as a file of the server's
        ("SELECT $1, 1 WHERE $2 = 1", StatementError),  # 08P01, for no values are sent with it
        ("SELECT array_fill(1, ARRAY[100000000, 100])", StatementError),
        ("SELECT pg_terminate_backend(pg_backend_pid())", DatabaseUnavailableError),
    ),
    *on(
        "mysql",
        ("SELECT year()", NotUnderstoodError),
        ("SELECT nosuch()", NotUnderstoodError),
        ("SELECT nosuch", UnknownReferenceError),
        ("SELECT EXTRACTVALUE('<a/>', '////')", StatementError),
        ("SELECT EXP(1000)", StatementError),
        ("CREATE TABLE nosuch (a int)", RefusedStatementError),
        ("SELECT _ucs2 X'D800'", StatementError),  # no UTF-8, as the client finds
    ),
    *on(
        "neo4j",
        ("RETURN substring('abc', -1)", StatementError),
        ("RETURN date('2020-13-01')", StatementError),
        ("RETURN nosuch(1)", StatementError),
        ("CREATE (n:Nosuch)", RefusedStatementError),
    ),
]


@pytest.mark.parametrize(("session", "statement", "kind"), ERRORS, indirect=["session"])
def test_errors(session: Session, statement: str, kind: type[DqaError]) -> None:
    """Each has the class that its cause deserves, whatever class the server gives it."""
    found = said(session, statement)
    assert isinstance(found, kind)
    assert isinstance(found, NotUnderstoodError) == (kind is NotUnderstoodError)
    assert isinstance(found, UnknownReferenceError) == (kind is UnknownReferenceError)


VALUES = [
    *on(
        "postgres",
        ("'infinity'::timestamp", "infinity"),
        ("'-infinity'::date", "-infinity"),
        ("'0044-03-15 BC'::date", "0044-03-15 BC"),
        ("'20000-03-15'::timestamptz", "20000-03-15 00:00:00+00"),
        ("'24:00:00'::time", "24:00:00"),
        ("timezone(interval '48 hours', '12:00+00'::timetz)", "12:00:00+48"),
        ("interval '1 year 2 mons -3 days'", "1 year 2 mons -3 days"),
        ("interval '-1 hour'", "-01:00:00"),
        ("interval '1 day' * 1000000000", "1000000000 days"),
        ("floor(1e1000)", "1" + "0" * 1000),
        ("'NaN'::numeric", "NaN"),
        ("ARRAY['infinity'::date]", ["infinity"]),
        ("'[2020-01-01,infinity]'::daterange", "[2020-01-01,infinity]"),
        ("(repeat('[', 2500) || repeat(']', 2500))::json", "[" * 2500 + "]" * 2500),
        ("""'{"a": "\\ud800"}'::json""", {"a": "\\ud800"}),
        ("date '2020-01-02'", "2020-01-02"),
        ("timestamp '2020-01-02 03:04:05'", "2020-01-02T03:04:05"),
    ),
    *on(
        "mysql",
        ("TIME('838:59:59')", "838:59:59"),
        ("TIME('-01:00:00')", "-01:00:00"),
        ("DATE('0000-01-01')", "0000-01-01"),
        ("CAST('0000-00-00' AS DATE)", "0000-00-00"),
        ("UNHEX('FF00')", "0xff00"),
        ("~0", 2**64 - 1),
    ),
]


@pytest.mark.parametrize(("session", "value", "cell"), VALUES, indirect=["session"])
def test_values(session: Session, value: str, cell: object) -> None:
    """A value that Python cannot represent is the text of the server."""
    assert session.run(f"SELECT {value}", Limits(cell=10_000)).rows == ((cell,),)


@pytest.mark.parametrize("session", ["neo4j"], indirect=True)
def test_neo4j_reports_exhausted_memory(session: Session) -> None:
    """A text of 2^40 letters ends by memory. Copying takes seconds, so the limit must be longer."""
    statement = "RETURN reduce(s = 'a', x IN range(1, 40) | s + s)"
    assert type(said(session, statement, Limits(seconds=60.0))) is StatementError


@pytest.mark.parametrize("session", ["neo4j"], indirect=True)
@pytest.mark.parametrize(
    "value",
    [
        "date({year: -44, month: 3})",
        "date({year: 999999999})",
        "date({year: -999999999})",
        "date('9999-12-31') + duration('P1D')",
        "localdatetime('+20000-02-29T01:02:03.000000004')",
    ],
)
def test_neo4j_values(session: Session, value: str) -> None:
    """A day of any year is told as the server itself writes it, in lists and maps too."""
    statement = f"WITH {value} AS d RETURN d, [d, 1], {{a: d}}, toString(d)"
    ((alone, listed, mapped, text),) = session.run(statement, LIMITS).rows
    assert alone == text
    assert listed == [text, 1]
    assert mapped == {"a": text}


@pytest.mark.parametrize("session", ["neo4j"], indirect=True)
def test_a_zone_of_a_far_year_is_told(session: Session) -> None:
    """In its own time where it is an offset, else in UTC."""
    value = "datetime({year: 12000, timezone: '%s'})"
    near = session.run(f"RETURN {value % '+01:00'}", LIMITS).rows
    assert near == (("+12000-01-01T00:00:00.000000000+01:00",),)
    named = session.run(f"RETURN {value % 'Europe/Paris'}", LIMITS).rows
    assert named == (("+11999-12-31T23:00:00.000000000+00:00[Europe/Paris]",),)
