"""Who may run at once where statements share memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

__all__ = ["Gate"]


class Gate:
    """Lets many threads in together, or one of them alone."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._someone_alone = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Enter beside others, as soon as nobody is alone or waits to be."""
        with self._changed:
            self._changed.wait_for(lambda: not self._someone_alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Enter when everybody has left, and keep everybody out. Not for those who are inside."""
        with self._changed:
            self._changed.wait_for(lambda: not self._someone_alone)
            self._someone_alone = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._someone_alone = False
                self._changed.notify_all()
