"""Starts every child process of this project; none imports from the current directory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

from dqa.core.errors import InfrastructureError

_ENVIRONMENT = {"PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Set while an interpreter starts: it imports nothing from the current directory, and linear
algebra starts no threads, which a fork would lose."""
_starting = Lock()
_preloaded: set[str] = set()
"""What the fork server imports."""


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
        Modules that it imports in any case; one that is missing is passed over. Processes are
        forked from a server that has imported them, which takes milliseconds.
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
        with theirs, _starting, _safe_environment(), _safe_path(), _without_main():
            if isinstance(_CONTEXT, ForkServerContext):
                _preload(_CONTEXT, {target.__module__, *preload})
            process = _CONTEXT.Process(target=target, args=(theirs, *arguments), daemon=daemon)
            process.start()
    except (OSError, EOFError) as error:
        raise InfrastructureError(
            f"A worker process cannot be started: {getattr(error, 'strerror', None) or error}. "
            "Give this process more memory, processes or open files."
        ) from error
    return process, ours


def start_python(
    module: str,
    *arguments: str,
    text: bytes = b"",
    environment: Mapping[str, str] = os.environ,
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start a Python that runs `main` of a module, and imports from where this process does.

    Python puts the current directory first on the path of what runs by ``-c`` or ``-m``, so a file
    ``json.py`` there would run instead of Python's own. ``-P`` prevents that, and the path is set
    before the first import. Relative and empty entries, which depend on the current directory, are
    left out of the path and of ``PYTHONPATH``. The folder of the script that the user runs is an
    absolute entry. It stays, as this process imports from it too and the user's classes may be
    there.

    Linear algebra has one thread: several such processes run at once, and a fork copies no thread.
    Output is discarded.

    Parameters
    ----------
    module
        Whose `main` to run.
    *arguments
        What it finds in `sys.argv`, which other users of this machine can see.
    text
        What it finds on standard input.
    environment
        Its environment variables; by default those of this process.
    pass_fds
        The descriptors that it inherits.
    """
    path = ascii(_absolute(map(str, sys.path)))
    inherited = environment.get("PYTHONPATH", "").split(os.pathsep)
    own = {"PYTHONPATH": os.pathsep.join(_absolute(inherited))}
    own |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    code = f"import sys; sys.path[:] = {path}; from {module} import main; main()"
    process = subprocess.Popen(  # noqa: S603  (this very Python, without a shell)
        [sys.executable, "-P", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
        env={**environment, **own},
    )
    with suppress(BrokenPipeError):  # it has ended already, which the caller will see
        if process.stdin is not None:
            with process.stdin:
                process.stdin.write(text)
    return process


def describe_exit(code: int | None) -> str:
    """Return how a process ended, by its exit code: the code, or minus the number of a signal."""
    if code is None:
        return "it ended, and its exit code is not known"
    if code >= 0:
        return f"it ended with code {code}"
    return f"it was killed by {name_signal(code)}: {str(signal.strsignal(-code)).lower()}"


def name_signal(code: int) -> str:
    """Return the name of the signal that ended a process, by its exit code; "" for no signal."""
    try:
        return "" if code >= 0 else signal.Signals(-code).name
    except ValueError:  # real-time signals have no names
        return f"signal {-code}"


def _absolute(entries: Iterable[str]) -> list[str]:
    return [entry for entry in entries if Path(entry).is_absolute()]


def _preload(context: ForkServerContext, modules: set[str]) -> None:
    """Replace a fork server that has not imported some modules; its processes stay."""
    if modules <= _preloaded:
        return
    _preloaded.update(modules)
    alive = _reset_fork_server()
    if alive is not None:
        os.close(alive)  # the server ends when its processes have ended
    context.set_forkserver_preload(sorted(_preloaded))


def _forget_fork_server() -> None:
    """Let a fork of this process start a fork server of its own."""
    global _starting  # noqa: PLW0603  (another thread may have held it)
    _starting = Lock()
    _preloaded.clear()
    _reset_fork_server()


def _reset_fork_server() -> int | None:
    """Let multiprocessing start a new fork server; return the end that keeps the old one alive."""
    from multiprocessing import forkserver

    server = forkserver._forkserver  # noqa: SLF001  (it has no public way)
    alive: int | None = server._forkserver_alive_fd  # type: ignore[attr-defined]  # noqa: SLF001
    server.__init__()  # type: ignore[misc]
    return alive


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_fork_server)


@contextmanager
def _safe_environment() -> Iterator[None]:
    """Set the variables with which an interpreter starts."""
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    wanted = {**_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(_absolute(inherited))}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _safe_path() -> Iterator[None]:
    """Leave out of the path, which a process inherits, what depends on the current directory."""
    before = sys.path
    sys.path = _absolute(map(str, before))
    try:
        yield
    finally:
        sys.path = before


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that starts from importing the user's script."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
