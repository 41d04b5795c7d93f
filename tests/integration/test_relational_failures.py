"""Relational servers that fail, refuse or vanish: one clear line each, and no password anywhere."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from dqa import plugins
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    MissingKeyError,
    UsageError,
)
from tests.integration.conftest import Target
from tests.integration.test_relational import world
from tests.programs import start_python

SECRET = "correct-horse"  # noqa: S105
COUNT = "SELECT count(*) FROM goods"


def asked(server: Target, **parts: Any) -> str:
    """Return the server's URL with some parts replaced."""
    return sa.make_url(server.url).set(**parts).render_as_string(hide_password=False)


def complaint(act: Callable[[], object], kind: type[DqaError]) -> str:
    """Return what an error says, after looking for secrets wherever it might be shown."""
    with pytest.raises(kind) as caught:
        act()
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture(autouse=True)
def no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Look at all that is logged, SQLAlchemy's own included."""
    caplog.set_level(logging.DEBUG)
    yield
    assert SECRET not in caplog.text


def test_a_wrong_password(server: Target) -> None:
    """It says whose, and to check it."""
    url = asked(server, password=SECRET)
    for act in (server.backend.open, server.backend.examine, server.backend.loaded):
        message = complaint(lambda act=act: act(url), UsageError)  # type: ignore[misc]
        assert "dqa" in message or "root" in message
        assert "password" in message


def test_an_unreachable_host(server: Target) -> None:
    """It says where it looked."""
    url = asked(server, password=SECRET, host="127.0.0.1", port=9)
    message = complaint(lambda: server.backend.load(world(), url), DatabaseUnavailableError)
    assert "127.0.0.1:9" in message


def test_a_missing_database(server: Target) -> None:
    """It is named."""
    url = asked(server, database="no_such_database")
    assert "no_such_database" in complaint(lambda: server.backend.open(url), UsageError)


def test_a_wrong_parameter_of_a_url_is_the_users_error(server: Target) -> None:
    """The message repeats the driver's message."""
    for parameter in ("nosuch=1", "ssl_ca=/nowhere"):
        message = complaint(lambda: server.backend.open(f"{server.url}?{parameter}"), UsageError)  # noqa: B023
        assert "parameters in the URL" in message


def test_other_urls_name_their_driver_or_dialect() -> None:
    """A dialect without its driver, one that nobody knows, and what is no URL at all."""
    backend = plugins.backend("sqlalchemy")
    oracle = f"oracle+oracledb://me:{SECRET}@127.0.0.1/x"
    assert "oracledb" in complaint(lambda: backend.open(oracle), MissingKeyError)
    unknown = f"nosuch://me:{SECRET}@127.0.0.1/x"
    assert "nosuch" in complaint(lambda: backend.open(unknown), UsageError)
    broken = f"mysql://me:{SECRET}@127.0.0.1:port/x"
    for each in map(plugins.backend, ("mysql", "postgres", "sqlalchemy")):
        complaint(lambda each=each: each.open(broken), UsageError)  # type: ignore[misc]


@pytest.fixture
def reader(server: Target) -> Iterator[str]:
    """Make a user who may only read, and give the URL with which that one connects."""
    url = sa.make_url(server.url)
    if server.backend.name == "mysql":
        scheme, host = "mysql+pymysql", "'dqa_reader'@'%'"
        made = [
            f"CREATE USER {host} IDENTIFIED BY '{SECRET}'",
            f"GRANT SELECT ON *.* TO {host}",
        ]
        dropped = [f"DROP USER {host}"]
    else:
        scheme = "postgresql+psycopg"
        made = [f"CREATE ROLE dqa_reader LOGIN PASSWORD '{SECRET}'"]
        dropped = ["DROP ROLE dqa_reader"]
    engine = sa.create_engine(url.set(drivername=scheme))
    with engine.begin() as connection:
        for statement in made:
            connection.execute(sa.text(statement))
    try:
        yield asked(server, username="dqa_reader", password=SECRET)
    finally:
        with engine.begin() as connection:
            for statement in dropped:
                connection.execute(sa.text(statement))
        engine.dispose()


def test_a_user_without_rights(server: Target, reader: str) -> None:
    """Who may only read can read, is known to only read, and is told what loading needs."""
    message = complaint(lambda: server.backend.load(world(), reader), UsageError)
    assert "may not write to" in message
    assert "Ask for the right" in message
    assert not server.backend.examine(reader).may_write
    assert server.backend.examine(server.url).may_write
    assert "SQL" in server.backend.open(reader).language


def test_a_file_that_another_process_writes_is_waited_for(tmp_path: Path) -> None:
    """DuckDB lets one process write; another one waits for the file."""
    backend, path = plugins.backend("duckdb"), tmp_path / "busy.duckdb"
    backend.load(world(goods=2), str(path)).close()
    program = f"import duckdb, sys; c = duckdb.connect({str(path)!r}); print('open', flush=True); sys.stdin.read()"  # noqa: E501
    with start_python("-c", program) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        timer = threading.Timer(0.3, other.stdin.close)
        timer.start()
        database = backend.load(world(goods=2), str(path))
        timer.join()
    assert len(backend.loaded(str(path))) == 1
    database.close()
