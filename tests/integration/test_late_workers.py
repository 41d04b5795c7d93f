"""A worker that does not come back from a server: whose fault that is, and what is left there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, StatementTimeoutError
from dqa.core.session import Session
from dqa.databases.opening import Opening
from dqa.databases.worker_pool import IsolatedSession
from tests.integration.proxy import Proxy
from tests.integration.test_leaving import LONG, ONE

LIMITS = Limits(seconds=2.0)
SOON = 15.0
"""Seconds within which the statement is back on a busy machine; without its limit it would
wait until the server goes on."""


@pytest.fixture(params=["mysql", "postgres", "neo4j"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return each kind of server in turn."""
    return str(request.param)


@pytest.fixture
def proxy(kind: str, request: pytest.FixtureRequest) -> Iterator[Proxy]:
    """Give a way to its server."""
    parts = urlsplit(request.getfixturevalue(f"{kind}_url"))
    assert parts.hostname is not None
    assert parts.port is not None
    with closing(Proxy(parts.hostname, parts.port)) as made:
        yield made


@pytest.fixture
def session(kind: str, proxy: Proxy, request: pytest.FixtureRequest) -> Iterator[Session]:
    """Give a session on it whose worker is stopped during the next long statement."""
    parts = urlsplit(request.getfixturevalue(f"{kind}_url"))
    place = parts.netloc.rpartition("@")[0] + f"@127.0.0.1:{proxy.port}"
    opening = Opening(plugins.backend(kind).namespaces, parts._replace(netloc=place).geturl())
    with closing(IsolatedSession(opening)) as opened:
        assert opened.run(ONE[kind], Limits()).rows == ((1,),)
        (worker,) = opened._idle
        later = Timer(0.3, os.kill, (worker._process.pid, signal.SIGSTOP))
        later.start()
        yield opened
        later.join()


def test_a_busy_server_is_not_called_away(
    kind: str, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lets another worker in, so the statement took too long."""
    patience = 5.0  # this machine may be busy, too
    monkeypatch.setattr("dqa.databases.worker_pool._ENDING", patience)
    started = monotonic()
    with pytest.raises(StatementTimeoutError, match="after 2 seconds"):
        session.run(LONG[kind], LIMITS)
    assert monotonic() - started < SOON + patience
    assert session.run(ONE[kind], Limits(seconds=30.0)).rows == ((1,),)


def test_a_server_that_lets_nobody_in_is_away(kind: str, proxy: Proxy, session: Session) -> None:
    """Neither before the end of the limit nor after."""
    later = Timer(0.5, proxy.stop)
    later.start()
    started = monotonic()
    with pytest.raises(DatabaseUnavailableError, match="does not answer"):
        session.run(LONG[kind], LIMITS)
    assert monotonic() - started < SOON
    later.join()
    proxy.go_on()
    assert session.run(ONE[kind], Limits(seconds=30.0)).rows == ((1,),)
