"""Disconnect from a server that does not answer: shut sockets, and waits with a limit."""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Thread
from typing import TypeVar

from dqa.core.errors import DatabaseUnavailableError

GRACE = 0.25
"""Seconds beyond a limit in which a server stops a statement itself."""
ENDING = 0.6
"""More seconds in which a server that was left has to answer."""

_Result = TypeVar("_Result")


class OverdueError(Exception):
    """A statement did not end within its limit and was stopped from outside."""


def within(
    seconds: float, act: Callable[[], _Result], discard: Callable[[_Result], object]
) -> _Result:
    """Return the result of `act`, which runs on a thread of its own.

    Parameters
    ----------
    seconds
        How long to wait.
    act
        The action; it continues after the wait has ended.
    discard
        Called with a result that comes too late.

    Raises
    ------
    TimeoutError
        It took longer.
    """
    done: Future[_Result] = Future()

    def work() -> None:
        try:
            done.set_result(act())
        except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
            done.set_exception(error)

    Thread(target=work, name="dqa-connecting", daemon=True).start()
    try:
        return done.result(max(seconds, 0.0))
    except BaseException:
        done.add_done_callback(lambda late: late.exception() or discard(late.result()))
        raise


def has_answered(seconds: float, end: Callable[[Callable[[], None]], None]) -> bool:
    """Ask a server on another thread to end a statement; whether it has answered in time.

    Parameters
    ----------
    seconds
        How long to wait; the request continues afterwards.
    end
        Sends the request. It calls its argument as soon as the server has accepted the connection,
        and raises `DatabaseUnavailableError` if the server cannot be reached.
    """
    has_accepted = Event()

    def work() -> None:
        with suppress(DatabaseUnavailableError):
            end(has_accepted.set)
            has_accepted.set()

    Thread(target=work, name="dqa-ending", daemon=True).start()
    return has_accepted.wait(seconds)


def has_news(descriptor: int) -> bool:
    """Whether an idle connection's socket has something to read, so that it has broken."""
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0.0)[0])
    looking = select.poll()
    looking.register(descriptor, select.POLLIN)
    return bool(looking.poll(0))


def shut(descriptor: int) -> None:
    """Shut a connection from another thread, so that waiting for it ends with an error."""
    # A copy of the descriptor: the driver continues to own the original.
    with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
        copy.shutdown(socket.SHUT_RDWR)
