"""A worker that waits for a server too long: its reported cause, and its statements there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from threading import Timer
from time import monotonic

import pytest

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, StatementTimeoutError
from dqa.core.session import Session
from tests.integration.test_disconnects import LONG, ONE, Way, way

__all__ = ["way"]

LIMITS = Limits(seconds=2.0)
SOON = 15.0
"""Seconds within which the statement is back on a busy machine; without its limit it would
wait until the server goes on."""


@pytest.fixture
def session(way: Way) -> Iterator[Session]:
    """Give a session on a server whose worker is stopped during the next long statement."""
    with way.session(isolated=True) as opened:
        assert opened.run(ONE[way.kind], Limits()).rows == ((1,),)
        (worker,) = opened._idle  # type: ignore[attr-defined]
        later = Timer(0.3, os.kill, (worker._process.pid, signal.SIGSTOP))
        later.start()
        yield opened
        later.join()


def test_a_busy_server_is_not_called_away(
    way: Way, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lets another worker in, so the statement took too long."""
    patience = 5.0  # this machine may be busy, too
    monkeypatch.setattr("dqa.databases.worker_pool._ENDING", patience)
    started = monotonic()
    with pytest.raises(StatementTimeoutError, match="after 2 seconds"):
        session.run(LONG[way.kind], LIMITS)
    assert monotonic() - started < SOON + patience
    assert session.run(ONE[way.kind], Limits(seconds=30.0)).rows == ((1,),)


def test_a_server_that_lets_nobody_in_is_away(way: Way, session: Session) -> None:
    """Neither before the end of the limit nor after."""
    later = Timer(0.5, way.proxy.stop)
    later.start()
    started = monotonic()
    with pytest.raises(DatabaseUnavailableError, match="does not answer"):
        session.run(LONG[way.kind], LIMITS)
    assert monotonic() - started < SOON
    later.join()
    way.proxy.go_on()
    assert session.run(ONE[way.kind], Limits(seconds=30.0)).rows == ((1,),)
