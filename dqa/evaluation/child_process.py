"""A child process that runs functions for its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from threading import Thread
from typing import Final, TypeVar

from dqa.core.interpreters import describe_exit, starting

_Result = TypeVar("_Result")

_EXIT_SECONDS: Final = 1.0
"""How long the system may take to report how a process ended."""


class ChildProcess:
    """A process that runs functions, one after the other; it ends with its parent.

    Parameters
    ----------
    prepare
        A function of a module, which the process calls first, with `arguments`.
    """

    def __init__(self, prepare: Callable[..., object], *arguments: object) -> None:
        with starting({prepare.__module__}) as context:
            self._pool = ProcessPoolExecutor(1, context)
            self._prepared = self._pool.submit(_begin, dict(os.environ), prepare, arguments)
            # There is no public way to the process, whose exit code is the reason of a failure.
            (self._process,) = self._pool._processes.values()  # noqa: SLF001

    def submit(self, work: Callable[..., _Result], *arguments: object) -> Future[_Result]:
        """Run a function; its exception is `BrokenProcessPool` if the process dies."""
        return self._pool.submit(work, *arguments)

    def describe_exit(self) -> str:
        """Return how the process ended."""
        self._process.join(_EXIT_SECONDS)
        return describe_exit(self._process.exitcode)

    @property
    def is_prepared(self) -> bool:
        """Whether `prepare` has returned."""
        return self._prepared.done() and self._prepared.exception() is None

    @property
    def has_ended(self) -> bool:
        """Whether the process does not run any more."""
        return self._process.exitcode is not None

    def end(self, work: Callable[[], object] | None, seconds: float) -> None:
        """End the process, after a last function for which it waits no longer than some seconds."""
        if work is not None:
            with suppress(Exception):  # the process ends in any case
                self._pool.submit(work).result(seconds)
        self._process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _begin(
    environment: Mapping[str, str], prepare: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    Thread(target=_end_with_parent, daemon=True).start()
    prepare(*arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
