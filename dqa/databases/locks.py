"""A readers-writer lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class ReadersWriterLock:
    """Lets many readers in together, or one writer alone; writers that wait go first."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._readers = 0
        self._has_writer = False

    @contextmanager
    def read(self) -> Iterator[None]:
        """Enter with other readers, as soon as no writer is in or waits."""
        with self._changed:
            self._changed.wait_for(lambda: not self._has_writer)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()

    @contextmanager
    def write(self) -> Iterator[None]:
        """Enter when all readers have left, and keep others out; a reader must not call it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._has_writer)
            self._has_writer = True
            self._changed.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._changed:
                self._has_writer = False
                self._changed.notify_all()
