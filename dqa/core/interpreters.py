"""Start every child process of this project; none imports from the current directory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

from dqa.core.errors import InfrastructureError

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Several processes run at once, and a fork copies no threads of linear algebra."""
_VARIABLES = frozenset(
    {
        *("APPDATA", "HOME", "LANG", "LD_LIBRARY_PATH", "LOCALAPPDATA", "LOGNAME", "NLS_LANG"),
        *("PATH", "PATHEXT", "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT", "TEMP", "TMP"),
        *("TMPDIR", "TNS_ADMIN", "TZ", "USER", "USERNAME", "USERPROFILE"),
    }
)
_PREFIXES = ("KRB5", "LC_", "ODBC", "PG", "PYTHON", "XDG_")
_starting = Lock()
_preloaded: set[str] = set()
"""The modules that the fork server imports."""


def _platform_context() -> ForkServerContext | SpawnContext:
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    return multiprocessing.get_context("forkserver")


_CONTEXT = _platform_context()


def minimal_environment() -> dict[str, str]:
    """Return the variables that engines and drivers need; an API key is not among them."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_PREFIXES)
    }


def start_process(
    target: Callable[..., object],
    *arguments: object,
    preload: Iterable[str] = (),
    daemon: bool = True,
) -> tuple[BaseProcess, Connection]:
    """Start a process with a minimal environment; return it and a connection to it.

    Parameters
    ----------
    target
        A function of a module. It is called with its end of the connection and `arguments`.
    preload
        Modules that the process needs. Processes are forked from a server that has imported
        them, which takes milliseconds. A missing module is skipped.
    daemon
        Whether the process ends with this one. A process that starts others is not a daemon.

    Raises
    ------
    InfrastructureError
        The operating system refuses a process, or this process may not start one.
    """
    if daemon and multiprocessing.current_process().daemon:
        raise InfrastructureError(
            "A daemonic process (as of multiprocessing.Pool) may not start the worker process of a "
            'database. Use concurrent.futures.ProcessPoolExecutor, or isolation="none" if the data '
            "and the statements are your own."
        )
    try:
        ours, theirs = _CONTEXT.Pipe()
        with theirs, _starting, _safe_start():
            if isinstance(_CONTEXT, ForkServerContext):
                _preload(_CONTEXT, {target.__module__, *preload})
            process = _CONTEXT.Process(target=target, args=(theirs, *arguments), daemon=daemon)
            process.start()
    except EOFError as error:
        raise InfrastructureError(
            "A worker process cannot be started: the process that forks workers has ended. "
            "Try again; if it ends again, look for the cause in the log of the system."
        ) from error
    except OSError as error:
        raise InfrastructureError(
            f"A worker process cannot be started: {error.strerror or error}. Give this process "
            "more memory, processes or open files."
        ) from error
    return process, ours


def start_python(
    module: str,
    *arguments: str,
    text: bytes = b"",
    environment: Mapping[str, str] = os.environ,
    pass_fds: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """Start a Python that runs `main` of a module, with the path of this process.

    Parameters
    ----------
    module
        The module with `main`.
    *arguments
        Its `sys.argv`, which other users of this machine can see.
    text
        Its standard input. Its output is discarded.
    environment
        Its environment variables; by default those of this process.
    pass_fds
        The descriptors that it inherits.
    """
    # Without -P, Python puts the current directory first on the path of what runs by -c or -m.
    path = ascii(_absolute(map(str, sys.path)))
    code = f"import sys; sys.path[:] = {path}; from {module} import main; main()"
    own = {"PYTHONPATH": _safe_python_path(environment), **_ONE_THREAD}
    process = subprocess.Popen(  # noqa: S603  (this very Python, without a shell)
        [sys.executable, "-P", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pass_fds,
        env={**environment, **own},
    )
    with suppress(BrokenPipeError):  # it has ended, which the caller will see
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
    except ValueError:  # real-time signals lack names
        return f"signal {-code}"


def _absolute(entries: Iterable[str]) -> list[str]:
    """Return the entries of a path that do not depend on the current directory."""
    return [entry for entry in entries if Path(entry).is_absolute()]


def _safe_python_path(environment: Mapping[str, str]) -> str:
    return os.pathsep.join(_absolute(environment.get("PYTHONPATH", "").split(os.pathsep)))


@contextmanager
def _safe_start() -> Iterator[None]:
    """Set what a child takes over: a minimal environment, a safe path, and no script to import.

    `os.environ` itself does not change, so other threads see all variables. The option -P also
    holds under -E, with which an interpreter ignores PYTHONSAFEPATH.
    """
    main, path, options = sys.modules["__main__"], sys.path, util._args_from_interpreter_flags  # type: ignore[attr-defined]  # noqa: SLF001
    own = {"PYTHONPATH": _safe_python_path(os.environ), "PYTHONSAFEPATH": "1", **_ONE_THREAD}
    child = minimal_environment() | own
    sys.modules["__main__"], sys.path = types.ModuleType("__main__"), _absolute(map(str, path))
    util._args_from_interpreter_flags = lambda: [*options(), "-P"]  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        _change_variables(os.environ, child)
        yield
    finally:
        util._args_from_interpreter_flags = options  # type: ignore[attr-defined]  # noqa: SLF001
        sys.modules["__main__"], sys.path = main, path
        _change_variables(child, os.environ)


def _change_variables(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Change the variables that child processes inherit."""
    for name in before.keys() - after.keys():
        os.unsetenv(name)
    for name, value in after.items():
        if before.get(name) != value:
            os.putenv(name, value)


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

    server = forkserver._forkserver  # noqa: SLF001  (there is no public way)
    alive: int | None = server._forkserver_alive_fd  # type: ignore[attr-defined]  # noqa: SLF001
    server.__init__()  # type: ignore[misc]
    return alive


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_fork_server)
