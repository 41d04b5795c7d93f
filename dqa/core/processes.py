"""Start processes that run a function of this project."""

from __future__ import annotations

import multiprocessing
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from threading import Lock

from dqa.core.errors import InfrastructureError

_ENVIRONMENT = {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Set while an interpreter starts: it imports nothing from the current directory, and linear
algebra starts no threads, which a fork would lose."""
_starting = Lock()


def _get_context() -> ForkServerContext | SpawnContext:
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    return multiprocessing.get_context("forkserver")


_CONTEXT = _get_context()


def start_process(
    target: Callable[..., object],
    *arguments: object,
    preload: Iterable[str] = (),
    daemon: bool = True,
) -> tuple[BaseProcess, Connection]:
    """Start a process and return it with this end of a connection to it.

    Parameters
    ----------
    target
        What it runs: a function of a module, called with its end of the connection and `arguments`.
    preload
        Modules that the fork server imports. They take effect before the first process starts.
    daemon
        Whether the process is ended with this one. A process that starts others is no daemon.

    Raises
    ------
    InfrastructureError
        The operating system gives no process, or this process may start none.
    """
    if daemon and multiprocessing.current_process().daemon:
        raise InfrastructureError(
            "A daemonic process (as of multiprocessing.Pool) may not start the worker process of a "
            'database. Use concurrent.futures.ProcessPoolExecutor, or isolation="none" if the data '
            "and the statements are your own."
        )
    try:
        ours, theirs = _CONTEXT.Pipe()
        with theirs, _starting, _safe_environment(), _without_main():
            if isinstance(_CONTEXT, ForkServerContext):
                _CONTEXT.set_forkserver_preload([target.__module__, *preload])
            process = _CONTEXT.Process(target=target, args=(theirs, *arguments), daemon=daemon)
            process.start()
    except (OSError, EOFError) as error:
        raise InfrastructureError(
            f"A worker process cannot be started: {getattr(error, 'strerror', None) or error}. "
            "Give this process more memory, processes or open files."
        ) from error
    return process, ours


def _forget_fork_server() -> None:
    """Let a fork of this process start a fork server of its own."""
    global _starting  # noqa: PLW0603  (another thread may have held it)
    from multiprocessing import forkserver

    _starting = Lock()
    forkserver._forkserver.__init__()  # type: ignore[attr-defined,misc]  # noqa: SLF001


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_fork_server)


@contextmanager
def _safe_environment() -> Iterator[None]:
    """Set the variables with which an interpreter starts."""
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that starts from importing the user's script."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
