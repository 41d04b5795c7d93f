"""Servers that refuse or cannot be reached: one clear line each, and no password anywhere."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dqa import plugins
from dqa.core.errors import DatabaseUnavailableError, DqaError, MissingKeyError, UsageError
from dqa.databases.neo4j.server import Address
from tests.databases.engines import Target, small_situation
from tests.integration.conftest import targeted
from tests.programs import start_python

SECRET = "correct-horse"  # noqa: S105


@pytest.fixture(params=["mysql", "postgres", "neo4j"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Return each server."""
    yield from targeted(request.param, request, tmp_path)


def asked(target: Target, **parts: Any) -> str:
    """Return the server's URL with some parts replaced."""
    return sa.make_url(target.url).set(**parts).render_as_string(hide_password=False)


def complaint(act: Callable[[], object], kind: type[DqaError]) -> str:
    """Return the message of an error; the secret occurs in no text that is shown."""
    with pytest.raises(kind) as caught:
        act()
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture(autouse=True)
def no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Check all logs, including SQLAlchemy's."""
    caplog.set_level(logging.DEBUG)
    yield
    assert SECRET not in caplog.text


def test_a_wrong_password_is_the_users_error(target: Target) -> None:
    """The message names the user."""
    url = asked(target, password=SECRET)
    for act in (target.backend.open, target.backend.examine, target.backend.loaded):
        message = complaint(lambda act=act: act(url), UsageError)  # type: ignore[misc]
        assert str(sa.make_url(url).username) in message
        assert "password" in message


@pytest.mark.parametrize("parts", [{"host": "127.0.0.1", "port": 9}, {"host": "no-such.invalid"}])
def test_an_unreachable_host_is_an_outage(target: Target, parts: dict[str, Any]) -> None:
    """The message names the host."""
    url = asked(target, password=SECRET, **parts)
    for act in (target.backend.open, lambda at: target.backend.load(small_situation(), at)):
        message = complaint(lambda act=act: act(url), DatabaseUnavailableError)  # type: ignore[misc]
        assert parts["host"] in message


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://me:{SECRET}@127.0.0.1:port/x",
        f"postgresql://me:{SECRET}@127.0.0.1:port/x",
        f"neo4j://me:{SECRET}@",
        f"bolt://me:{SECRET}@host:port",
        f"bolt://me:{SECRET}@host:7687?policy=x",
        f"http://me:{SECRET}@host",
        f"nosuch://me:{SECRET}@127.0.0.1/x",
    ],
)
def test_a_url_that_cannot_be_read_is_not_quoted(url: str) -> None:
    """Any part of it may be the password."""
    names = ("mysql", "postgres", "neo4j", "sqlalchemy")
    matching = [b for b in map(plugins.backend, names) if b.accepts(url)]
    for backend in matching or [plugins.backend("neo4j"), plugins.backend("sqlalchemy")]:
        assert url not in complaint(lambda: backend.examine(url), UsageError)  # noqa: B023


def test_a_missing_driver_is_named() -> None:
    """The dialect is known."""
    oracle = f"oracle+oracledb://me:{SECRET}@127.0.0.1/x"
    backend = plugins.backend("sqlalchemy")
    assert "oracledb" in complaint(lambda: backend.open(oracle), MissingKeyError)


def test_a_url_of_neo4j_is_parsed() -> None:
    """Escapes, ports, databases, namespaces and routing; the name lacks the password."""
    address = Address.parse("neo4j+s://us%40er:p%2Fw@[::1]:7687/db?namespace=dqa_x&policy=eu")
    assert address.uri == "neo4j+s://[::1]:7687?policy=eu"
    assert (address.user, address.password) == ("us@er", "p/w")
    assert (address.database, address.namespace) == ("db", "dqa_x")
    assert "p/w" not in repr(address) + address.name


def test_a_missing_database_and_a_wrong_parameter_are_the_users_errors(server: Target) -> None:
    """The message names them."""
    url = asked(server, database="no_such_database")
    assert "no_such_database" in complaint(lambda: server.backend.open(url), UsageError)
    for parameter in ("nosuch=1", "ssl_ca=/nowhere"):
        message = complaint(lambda: server.backend.open(f"{server.url}?{parameter}"), UsageError)  # noqa: B023
        assert "parameters in the URL" in message


def test_a_user_without_rights_can_read(server: Target) -> None:
    """Loading fails with the missing right."""
    user, made, situation = "dqa_reader", ["CREATE USER {} PASSWORD '{}'"], small_situation()
    if server.backend.name == "mysql":
        user = "'dqa_reader'@'%'"
        made = ["CREATE USER {} IDENTIFIED BY '{}'", "GRANT SELECT ON *.* TO {}"]
    server.run(situation, *(statement.format(user, SECRET) for statement in made))
    try:
        reader = asked(server, username="dqa_reader", password=SECRET)
        message = complaint(lambda: server.backend.load(situation, reader), UsageError)
        assert "Ask for the right" in message
        assert not server.backend.examine(reader).may_write
        assert server.backend.examine(server.url).may_write
        server.backend.open(reader).close()
    finally:
        server.run(situation, f"DROP USER {user}")


def test_a_file_that_another_process_writes_is_an_outage(tmp_path: Path) -> None:
    """DuckDB lets one process write; the error says so."""
    backend, path = plugins.backend("duckdb"), tmp_path / "busy.duckdb"
    backend.load(small_situation(), str(path)).close()
    program = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.read()"  # noqa: E501
    with start_python("-c", program) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(DatabaseUnavailableError, match="another process has opened it"):
            backend.open(str(path))
        other.stdin.close()
    assert len(backend.loaded(str(path))) == 1
