"""A server that is stopped, far away or busy for ever holds nobody up, without a worker process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, DqaError, StatementError
from dqa.core.session import Session
from dqa.databases.opening import Opening
from dqa.databases.worker_pool import IsolatedSession
from tests.integration.proxy import Proxy

LIMITS = Limits(seconds=0.5)
SOON = 2.5
"""Seconds within which such a statement is back: a second and a half after its limit, of which one
is for a machine that is busy."""
ONE = {"mysql": "SELECT 1", "postgres": "SELECT 1", "neo4j": "RETURN 1"}
LONG = {
    "mysql": "SELECT count(*) FROM information_schema.columns a, information_schema.columns b, "
    "information_schema.columns c",
    "postgres": "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
    "neo4j": "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*)",
}


@dataclass
class Way:
    """A server behind a proxy."""

    kind: str
    proxy: Proxy
    url: str

    @contextmanager
    def session(self, *, isolated: bool = False) -> Iterator[Session]:
        """Open a session in this process, or in worker processes."""
        if isolated:
            opening = Opening(plugins.backend(self.kind).namespaces, self.url)
            with closing(IsolatedSession(opening)) as opened:
                yield opened
            return
        module, _, name = plugins.backend(self.kind).namespaces.partition(":")
        namespaces: Any = getattr(import_module(module), name)
        with namespaces.connect(self.url) as connected:
            session: Session = connected.open(connected.select())
        try:
            yield session
        finally:
            session.close()


SQL_SERVERS = pytest.mark.parametrize("way", ["mysql", "postgres"], indirect=True)
"""A session of Neo4j in this process waits without a limit: only its worker is killed."""


@pytest.fixture(params=["mysql", "postgres", "neo4j"])
def way(request: pytest.FixtureRequest) -> Iterator[Way]:
    """Give each server in turn, behind a proxy."""
    url = request.getfixturevalue(f"{request.param}_url")
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    with closing(Proxy(parts.hostname, parts.port)) as proxy:
        place = parts.netloc.rpartition("@")[0] + f"@127.0.0.1:{proxy.port}"
        yield Way(request.param, proxy, parts._replace(netloc=place).geturl())


def asked(session: Session, statement: str, limits: Limits = LIMITS) -> tuple[object, float]:
    """Return the first cell or the error, and after how many seconds it came."""
    started = monotonic()
    try:
        found: object = session.run(statement, limits).rows[0][0]
    except DqaError as error:
        found = error
    return found, monotonic() - started


def test_a_stopped_server_holds_nobody_up(way: Way) -> None:
    """Neither statements on connections that are there, nor those that have to connect."""
    ticks, is_over = [], Event()

    def tick() -> None:
        while not is_over.wait(0.02):
            ticks.append(1)

    # Neo4j's driver waits for an answer without a limit, so only killing a worker ends that.
    isolated = way.kind == "neo4j"
    with way.session(isolated=isolated) as session, ThreadPoolExecutor(6) as threads:
        assert asked(session, ONE[way.kind], Limits())[0] == 1
        way.proxy.stop()
        clock = Thread(target=tick)
        clock.start()
        results = list(threads.map(lambda _: asked(session, ONE[way.kind]), range(6)))
        is_over.set()
        clock.join()
        for found, seconds in results:
            assert isinstance(found, DatabaseUnavailableError), found
            assert "does not answer" in str(found) or "cannot be reached" in str(found)
            assert seconds < SOON
        assert len(ticks) > 10
        way.proxy.go_on()
        assert asked(session, ONE[way.kind], Limits())[0] == 1


@SQL_SERVERS
def test_a_connection_that_comes_after_the_session_is_closed(way: Way) -> None:
    """Nobody would ever use it: it waits in no pool until the garbage collector comes to it."""
    with way.session() as session:
        way.proxy.stop()
        assert isinstance(asked(session, ONE[way.kind])[0], DatabaseUnavailableError)
    before = way.proxy.connections
    way.proxy.go_on()
    until = monotonic() + 20.0
    while way.proxy.is_used() or any(one.name == "dqa-connecting" for one in enumerate_threads()):
        assert monotonic() < until, "a connection is left open"
        sleep(0.01)
    assert way.proxy.connections > before
    gc.collect()  # what was left open is told of as a warning, which is an error here


def test_a_statement_whose_connection_breaks_is_not_run_again(way: Way) -> None:
    """The server is there, so the statement is told; it may be what broke the connection."""
    with way.session() as session, ThreadPoolExecutor(1) as threads:
        assert asked(session, ONE[way.kind], Limits())[0] == 1
        running = threads.submit(asked, session, LONG[way.kind], Limits(seconds=30.0))
        with pytest.raises(TimeoutError):
            running.result(1.0)
        way.proxy.cut()
        found, seconds = running.result()
        assert isinstance(found, StatementError)
        assert "broke at this statement" in str(found)
        assert seconds < 10.0
        assert asked(session, ONE[way.kind], Limits())[0] == 1


def test_a_statement_that_takes_its_server_away_does_so_twice_at_most(way: Way) -> None:
    """The first time that is an outage, and whoever waits for its end tries again."""
    with way.session() as session, ThreadPoolExecutor(1) as threads:
        for kind in (DatabaseUnavailableError, StatementError):
            assert asked(session, ONE[way.kind], Limits())[0] == 1
            running = threads.submit(asked, session, LONG[way.kind], Limits(seconds=30.0))
            with pytest.raises(TimeoutError):
                running.result(1.0)
            way.proxy.refuse()
            way.proxy.cut()
            found, seconds = running.result()
            assert isinstance(found, kind)
            assert seconds < 10.0
            way.proxy.accept()
        assert asked(session, ONE[way.kind], Limits())[0] == 1


def test_an_idle_connection_that_broke_is_replaced(way: Way) -> None:
    """Nothing had been sent, so nobody is told."""
    with way.session() as session:
        for _ in range(3):
            assert asked(session, ONE[way.kind], Limits())[0] == 1
            way.proxy.cut()
        before = way.proxy.connections
        assert asked(session, ONE[way.kind], Limits())[0] == 1
        assert way.proxy.connections == before + 1


def test_what_runs_under_a_mark_is_ended_from_another_session(way: Way) -> None:
    """A worker's replacement does so, when the worker was killed; and only for that worker."""
    marks: list[str] = []
    with way.session() as session, way.session() as other, ThreadPoolExecutor(2) as threads:
        session.announce = marks.append
        assert asked(session, ONE[way.kind], Limits())[0] == 1
        assert len(marks) == 1
        running = threads.submit(asked, session, LONG[way.kind], Limits(seconds=30.0))
        untouched = threads.submit(asked, other, LONG[way.kind], Limits(seconds=3.0))
        with pytest.raises(TimeoutError):
            running.result(1.0)
        assert other.end_statements(marks[-1], 5.0)
        found, seconds = running.result()
        assert isinstance(found, DqaError)
        assert seconds < 10.0
        assert untouched.result()[1] > 2.5
        assert other.end_statements(marks[-1], 5.0)  # there is nothing any more
        if way.kind == "neo4j":  # its sessions are left by killing their worker
            return
        way.proxy.stop()
        started = monotonic()
        assert not other.end_statements(marks[-1], 0.3)
        assert monotonic() - started < SOON
        way.proxy.go_on()


@SQL_SERVERS
def test_a_server_that_does_not_stop_a_statement_is_left(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is dropped, what it runs is ended, and the next statement has another one."""
    # Long before the server's own clock.
    monkeypatch.setattr("dqa.databases.sql_session.GRACE", -29.0)
    with way.session() as session:
        found, seconds = asked(session, LONG[way.kind], Limits(seconds=30.0))
        monkeypatch.undo()
        assert "stopped after 30 seconds" in str(found)
        assert seconds < 5.0
        assert asked(session, ONE[way.kind], Limits())[0] == 1
