"""Start child processes that do not import from the current directory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import util
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock, Thread

from dqa.core.errors import InfrastructureError

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment variables that limit NumPy to one thread per process. Several processes already run
in parallel, and a forked process does not have the threads of its parent."""
_VARIABLES = frozenset(
    {
        *("APPDATA", "HOME", "LANG", "LD_LIBRARY_PATH", "LOCALAPPDATA", "LOGNAME", "NLS_LANG"),
        *("PATH", "PATHEXT", "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT", "TEMP", "TMP"),
        *("TMPDIR", "TNS_ADMIN", "TZ", "USER", "USERNAME", "USERPROFILE"),
    }
)
_PREFIXES = ("KRB5", "LC_", "ODBC", "PG", "PYTHON", "XDG_")
_starting = Lock()
if sys.platform != "win32":  # another thread may hold the lock at a fork
    os.register_at_fork(after_in_child=_starting._at_fork_reinit)  # type: ignore[attr-defined]  # noqa: SLF001
_preloaded: dict[int, set[str]] = {}
"""The modules that the fork server of a process imports, by the id of the process."""


def minimal_environment() -> dict[str, str]:
    """Return the variables that engines and drivers need. API keys are not included."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_PREFIXES)
    }


def require_process(owner: int) -> None:
    """Raise `InfrastructureError` in a process that was forked from the owner of a database."""
    if owner != os.getpid():
        raise InfrastructureError(
            "A forked process cannot use a database that its parent has opened: open the database "
            "again in this process."
        )


def start_process(
    target: Callable[..., object],
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    preload: Iterable[str] | None = (),
    daemon: bool = True,
    quiet: bool = True,
) -> tuple[BaseProcess, Connection]:
    """Start a process that ignores Ctrl-C. Return the process and a connection to it.

    Parameters
    ----------
    target
        A module-level function. The process calls this function with its own end of the connection
        and with `arguments`.
    environment
        The environment variables of the process; by default `minimal_environment`.
    preload
        The modules that the process needs. A server process imports these modules in advance. New
        processes are forked from the server process within milliseconds. A missing module is
        skipped. With None, the process is a new interpreter instead of a fork.
    daemon
        Whether the process ends when this process ends. A process that starts other processes
        cannot be a daemon.
    quiet
        Whether to discard the output of the process.

    Raises
    ------
    InfrastructureError
        The operating system refuses to start the process, or this process may not start processes.
    """
    if daemon and multiprocessing.current_process().daemon:
        raise InfrastructureError(
            "A database needs a worker process, but a process of multiprocessing.Pool cannot "
            'start one. Use concurrent.futures.ProcessPoolExecutor, or isolation="none" if the '
            "data and the statements are your own."
        )
    is_forked = preload is not None and sys.platform != "win32"
    get = multiprocessing.get_context
    context: ForkServerContext | SpawnContext = get("forkserver") if is_forked else get("spawn")
    variables = minimal_environment() if environment is None else dict(environment)
    try:
        ours, theirs = context.Pipe()
        with theirs, _starting, _safe_start(variables if preload is None else None):
            if isinstance(context, ForkServerContext):
                _preload(context, {target.__module__, *(preload or ())})
            message = (target, theirs, arguments, variables, quiet)
            process = context.Process(target=_run, args=message, daemon=daemon)
            process.start()
    except (EOFError, OSError) as error:
        problem = getattr(error, "strerror", None) or "the process that forks workers has ended"
        raise InfrastructureError(
            f"A worker process cannot be started: {problem}. Try again. If it fails again, allow "
            "this process more memory, processes or open files, and read the system's log."
        ) from error
    return process, ours


def _run(
    target: Callable[..., object],
    connection: Connection,
    arguments: tuple[object, ...],
    environment: Mapping[str, str],
    quiet: bool,
) -> None:
    """Run the target of a process that has started."""
    os.environ.clear()
    os.environ.update(environment)
    if quiet:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.close(nowhere)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent handles Ctrl-C and ends this process.
    target(connection, *arguments)


def end_with_parent() -> None:
    """End this process when its parent ends, even if a thread of this process still works."""
    parent = multiprocessing.parent_process()

    def end() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end, name="dqa-parent", daemon=True).start()


def describe_exit(code: int | None) -> str:
    """Describe how a process ended. A negative exit code is the number of a signal."""
    if code is None:
        return "it ended, and its exit code is not known"
    if code >= 0:
        return f"it ended with code {code}"
    return f"it was killed by {name_signal(code)}: {str(signal.strsignal(-code)).lower()}"


def name_signal(code: int) -> str:
    """Return the name of the signal in an exit code; an empty string if there is none."""
    try:
        return "" if code >= 0 else signal.Signals(-code).name
    except ValueError:  # real-time signals lack names
        return f"signal {-code}"


def _absolute(entries: Iterable[str]) -> list[str]:
    """Return the entries of an import path that do not depend on the current directory."""
    return [entry for entry in entries if Path(entry).is_absolute()]


@contextmanager
def _safe_start(environment: Mapping[str, str] | None) -> Iterator[None]:
    """Start child processes in this block with a safe import path and without the main script.

    The children receive the variables in `environment`, by default those of `minimal_environment`.
    `os.environ` does not change, so other threads see all variables. The option -P is needed
    because an interpreter with -E ignores PYTHONSAFEPATH.
    """
    main, path, options = sys.modules["__main__"], sys.path, util._args_from_interpreter_flags  # type: ignore[attr-defined]  # noqa: SLF001
    python_path = os.pathsep.join(_absolute(os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    own = {"PYTHONPATH": python_path, "PYTHONSAFEPATH": "1", **_ONE_THREAD}
    child = {**(minimal_environment() if environment is None else environment), **own}
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
    """Replace the fork server if it has not imported all of the modules.

    The child processes of the old server keep running.
    """
    loaded = _preloaded.setdefault(os.getpid(), set())  # a forked process needs its own server
    if modules <= loaded:
        return
    from multiprocessing import forkserver

    loaded.update(modules)
    server = forkserver._forkserver  # noqa: SLF001  (there is no public way)
    alive: int | None = server._forkserver_alive_fd  # type: ignore[attr-defined]  # noqa: SLF001
    server.__init__()  # type: ignore[misc]
    if alive is not None:
        os.close(alive)  # The old server ends after its processes have ended.
    context.set_forkserver_preload(sorted(loaded))
