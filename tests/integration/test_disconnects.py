"""Servers that stop, break connections or run the statements of a killed worker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from threading import Event, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import pytest

from dqa import plugins
from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, DqaError, InfrastructureError, StatementError
from dqa.core.session import Session
from dqa.databases.opening import Opening
from dqa.databases.worker_pool import IsolatedSession
from tests.integration.proxy import Proxy

LIMITS = Limits(seconds=0.5)
SOON = 15.0
"""Seconds within which such a statement is back on a busy machine; without its limit it
would wait until the server goes on."""
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
            opening = Opening(plugins.backend(self.kind).namespaces, self.url, is_server=True)
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

    with way.session(isolated=True) as session, ThreadPoolExecutor(6) as threads:
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


@pytest.mark.parametrize("is_away", [True, False])
def test_a_statement_that_loses_its_connection_does_so_twice_at_most(
    way: Way, is_away: bool
) -> None:
    """The first time that is an outage, and whoever waits for its end tries again."""
    is_told = way.kind == "neo4j" and not is_away
    outage = StatementError if is_told else DatabaseUnavailableError
    with way.session() as session, ThreadPoolExecutor(1) as threads:
        for kind in (outage, StatementError):
            assert asked(session, ONE[way.kind], Limits())[0] == 1
            running = threads.submit(asked, session, LONG[way.kind], Limits(seconds=30.0))
            with pytest.raises(TimeoutError):
                running.result(1.0)
            if is_away:
                way.proxy.refuse()
            way.proxy.cut()
            found, seconds = running.result()
            assert isinstance(found, kind)
            assert ("again" in str(found)) == (kind is DatabaseUnavailableError)
            assert seconds < 30.0
            if is_away:
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


@pytest.mark.parametrize("way", ["mysql", "postgres"], indirect=True)
def test_a_fork_leaves_its_parent_the_connections(way: Way) -> None:
    """A child may not use them, and closes none of them."""
    with way.session() as session:
        assert asked(session, ONE[way.kind], Limits())[0] == 1

        def ask() -> None:
            with pytest.raises(InfrastructureError, match="forked"):
                session.run(ONE[way.kind], Limits())
            session.close()

        before = way.proxy.connections
        child = get_context("fork").Process(target=ask)
        child.start()
        child.join(60.0)
        assert child.exitcode == 0
        assert asked(session, ONE[way.kind], Limits())[0] == 1
        assert way.proxy.connections == before


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
        other.end_statements(marks[-1])
        found, seconds = running.result()
        assert isinstance(found, DqaError)
        assert seconds < 30.0
        assert untouched.result()[1] > 2.5
        other.end_statements(marks[-1])  # there is nothing left
