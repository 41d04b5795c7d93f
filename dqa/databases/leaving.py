"""Leaving a server that does not come back: sockets that are shut, and waits that end."""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from dqa.core.errors import DatabaseUnavailableError

GRACE = 0.25
"""Seconds beyond a limit that a server has to stop a statement by itself before it is left."""
ENDING = 0.6
"""Seconds more in which a server that was left has to answer."""

_Result = TypeVar("_Result")


class OverdueError(Exception):
    """A statement did not come back, and its server was left."""


def within(
    seconds: float, act: Callable[[], _Result], discard: Callable[[_Result], object]
) -> _Result:
    """Return what `act` returns, which runs on a thread of its own.

    No driver bounds all that connecting takes: looking up a name, greeting a server that is
    stopped, waiting for a place in a pool.

    Parameters
    ----------
    seconds
        How long to wait.
    act
        What to do; it goes on when nobody waits for it any more.
    discard
        Called with what comes too late.

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
    """Ask a server to end something, on a thread of its own; whether it has answered in time.

    A server that is busy with what is to be ended may take its time for that; it has answered as
    soon as it has let somebody in.

    Parameters
    ----------
    seconds
        How long to wait; asking goes on.
    end
        Asks; calls what it is given when the server has answered, and raises
        `DatabaseUnavailableError` where it cannot be reached.
    """
    heard: SimpleQueue[bool] = SimpleQueue()

    def work() -> None:
        try:
            end(lambda: heard.put(True))
        except DatabaseUnavailableError:
            heard.put(False)
        else:
            heard.put(True)

    Thread(target=work, name="dqa-ending", daemon=True).start()
    try:
        return heard.get(timeout=seconds)
    except Empty:
        return False


def has_news(descriptor: int) -> bool:
    """Whether an idle connection's socket has something to read: nothing good, as nobody asked."""
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0.0)[0])
    looking = select.poll()
    looking.register(descriptor, select.POLLIN)
    return bool(looking.poll(0))


def shut(descriptor: int) -> None:
    """Shut a connection from another thread: whoever waits for it is told that it broke."""
    # A copy of the descriptor, for the driver goes on to own its own.
    with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
        copy.shutdown(socket.SHUT_RDWR)
