"""Surviving servers that go away in the middle of a run.

A decision that a database's outage ended is made again once the database answers. How long a run
waits is bounded for each database as a whole, not for each question, so a server that never comes
back costs its patience once: what is left then ends as `Ending.INFRASTRUCTURE`, and ``--resume``
asks it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 5.0


class Patience:
    """How long a run still waits for one database; shared by its threads.

    Parameters
    ----------
    seconds
        How long it waits in a row before it gives the database up.
    stopped
        Set when the run is to end; waiting ends with it.
    """

    def __init__(self, seconds: float, stopped: threading.Event) -> None:
        self._seconds = seconds
        self._stopped = stopped
        self._lock = threading.Lock()
        self._since: float | None = None
        self._given_up = False

    def retried(self, attempt: Callable[[], bool]) -> None:
        """Call `attempt` until it returns True, pausing in between, or until patience ends.

        `attempt` says whether the database answered. A database that was given up is still tried
        once each time, and waited for again after it has answered.
        """
        pause = _FIRST_PAUSE
        while not attempt():
            if not self._worth_waiting() or self._is_stopped_within(pause):
                return
            pause = min(2.0 * pause, _LONGEST_PAUSE)
        with self._lock:
            self._since, self._given_up = None, False

    def _is_stopped_within(self, seconds: float) -> bool:
        return self._stopped.wait(seconds)

    def _worth_waiting(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if self._since is None:
                self._since = now
            self._given_up = self._given_up or now - self._since >= self._seconds
            return not self._given_up
