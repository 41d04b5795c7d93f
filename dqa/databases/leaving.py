"""Leaving a server that does not come back: sockets that are shut, and waits that end."""

from __future__ import annotations

import select
import selectors
import socket
import sys
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from dqa.core.errors import DatabaseUnavailableError
from dqa.core.session import Probe

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.pool import Pool

GRACE = 0.25
"""Seconds beyond a limit that a server has to stop a statement by itself before it is left."""
ENDING = 0.6
"""Seconds more in which a server that was left has to answer."""
_AGAIN = 0.3
"""Seconds after which a server that says nothing is greeted on one more connection."""

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


def is_there(probe: Probe, seconds: float) -> bool:
    """Whether a server says anything at all to somebody new.

    One that collects garbage answers in the moments between, on whichever connection it comes to:
    a greeting needs one of them, where opening a session needs several in a row. One that is
    stopped answers nobody, although its system goes on taking connections for it.

    Parameters
    ----------
    probe
        Whom to greet.
    seconds
        How long; connections that got no answer yet stay, and others are added.
    """
    until = monotonic() + seconds
    with ExitStack() as stack:
        answers = stack.enter_context(selectors.DefaultSelector())
        while (left := until - monotonic()) > 0:
            following = monotonic() + min(_AGAIN, left)
            with suppress(OSError):
                where = (probe.host, probe.port)
                end = stack.enter_context(socket.create_connection(where, timeout=left))
                end.sendall(probe.greeting)
                answers.register(end, selectors.EVENT_READ)
            while (left := following - monotonic()) > 0:
                for key, _ in answers.select(left):
                    if _says(key.fileobj):
                        return True
                    answers.unregister(key.fileobj)
    return False


def _says(end: Any) -> bool:  # noqa: ANN401
    """Whether a connection that can be read has something to read, and not its end."""
    try:
        return bool(end.recv(1 << 12))
    except OSError:
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


def empty_unused(engine: Engine, pool: Pool | None, *, is_closed: bool) -> None:
    """Close what a pool was given back that nobody takes a connection from any more.

    Another thread may have disposed of the engine meanwhile, whose pool then is a new one: the old
    one takes a connection back and never closes it.

    Parameters
    ----------
    engine
        Where connections come from.
    pool
        The engine's pool before a connection was taken, which has been given back; None for any.
    is_closed
        Whether no connection of the engine is of use to anybody.
    """
    if is_closed:
        engine.dispose()
    if pool is not None and pool is not engine.pool:
        pool.dispose()
