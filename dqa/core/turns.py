"""Turns at computing: one thread of a process computes at a time, however many there are.

Python runs one thread at a time anyway. Where dozens compute at once they take the interpreter from
each other at every row that a driver fetches, which costs several times what the work itself does.
So a thread that makes a decision takes a turn, and gives it up while it waits for something
outside: a model, a worker process, a pause. A turn that somebody keeps while waiting unseen, as a
decider of a user's own may, delays others once: who has waited for it for `PATIENCE` seconds goes
on without, and nobody takes turns for the next `REST` seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local
from time import monotonic

PATIENCE = 1.0
"""Seconds after which a thread computes without a turn."""
REST = 30.0
"""Seconds in which nobody takes turns after that."""


class _Held(local):
    """What this thread has: whether it is taking turns, and whether it has one."""

    takes = False
    has = False


class Turns:
    """Who may compute. One for a process; a test makes its own."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._held = _Held()
        self._off_until = float("-inf")

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Let this thread compute in turns with others that do; within another one no change."""
        if self._held.takes:
            yield
            return
        self._held.takes = True
        self._take()
        try:
            yield
        finally:
            self._give_up()
            self._held.takes = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Give this thread's turn up while it waits for something outside of this process.

        A thread without a turn, because it waits already or nobody takes turns, takes none after.
        """
        if not self._held.has:
            yield
            return
        self._give_up()
        try:
            yield
        finally:
            self._take()

    def is_taken(self) -> bool:
        """Whether some thread has its turn now."""
        return self._turn.locked()

    def _take(self) -> None:
        if monotonic() < self._off_until:
            return
        self._held.has = self._turn.acquire(timeout=PATIENCE)
        if not self._held.has:
            self._off_until = monotonic() + REST

    def _give_up(self) -> None:
        if self._held.has:
            self._held.has = False
            self._turn.release()


_TURNS = Turns()
taking_turns = _TURNS.taking
waiting = _TURNS.waiting
is_taken = _TURNS.is_taken
