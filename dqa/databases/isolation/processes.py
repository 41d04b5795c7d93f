"""Starts worker processes.

On Linux they are forked from one small process without threads that has the engine imported: some
milliseconds each. Elsewhere, where a fork is not safe or not there, each is a fresh Python. Neither
way imports the user's own main module.
"""

from __future__ import annotations

import sys
from math import inf
from time import monotonic
from typing import Protocol

from dqa.core.errors import InfrastructureError
from dqa.databases.isolation.fork_server import fork_worker
from dqa.databases.isolation.spawning import spawn_worker
from dqa.databases.isolation.wire import ClosedError, Wire

STARTING = 60.0
"""Seconds within which a worker process has to be there."""


class Worker(Protocol):
    """A worker process."""

    wire: Wire

    def kill(self) -> int | None:
        """End it if it still runs, and return how it ended.

        Returns
        -------
        int or None
            A code, or minus a signal's number. None where nobody knows: it takes its time, or what
            it was forked from is gone, and has taken it along.
        """
        ...

    def drop(self) -> None:
        """Kill it and wait for nothing: what has much memory takes its time to go.

        Where that does not come to its end, it may be called again.
        """
        ...

    def leave(self) -> None:
        """Let it end by itself, which it does where nobody talks to it."""
        ...


def start_worker(namespaces: str, until: float = inf) -> Worker:
    """Start a worker that is to open databases with a class, as `Opening.namespaces` names it.

    Parameters
    ----------
    namespaces
        The class.
    until
        When to give up, as `time.monotonic` tells it; after `STARTING` seconds at the latest.

    Raises
    ------
    TimeoutError
        It was not there by `until`.
    InfrastructureError
        The operating system gives no process, or none that answers.
    """
    latest = min(until, monotonic() + STARTING)
    try:
        is_forked = sys.platform == "linux"
        return fork_worker(namespaces, latest) if is_forked else spawn_worker(latest)
    except (OSError, ClosedError) as error:
        if isinstance(error, TimeoutError) and monotonic() >= until:
            raise
        raise InfrastructureError(
            f"A worker process for statements {describe_start(error)}. If the database's data and "
            'its statements are your own, you can open it with isolation="none".'
        ) from error


def describe_start(error: OSError | ClosedError) -> str:
    """Return why a process that was waited for `STARTING` seconds did not start."""
    if isinstance(error, TimeoutError):
        return f"did not start within {STARTING:g} seconds; the machine may be busy"
    return f"cannot be started: {getattr(error, 'strerror', None) or error}"
