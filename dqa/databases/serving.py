"""What runs in a worker process: one session, and its statements one after another."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import ceil
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import process_time
from typing import Any

from dqa.core import errors
from dqa.core.database import LimitsLeft
from dqa.core.errors import DqaError, UnknownReferenceError
from dqa.core.session import Session
from dqa.databases.failures import out_of_memory
from dqa.databases.opening import Opening

if sys.platform != "win32":
    import resource

MEMORY = 2 << 30
"""Bytes of address space that statements may take beyond what the opened database has (Linux)."""
_LATER = 5.0
"""Seconds after a statement's limit at which the system ends a worker that was not killed."""
_STATM = Path("/proc/self/statm")


def serve(connection: Connection, opening: Opening, environment: Mapping[str, str]) -> None:
    """Open a database and answer the parent until it closes the connection."""
    _become_worker(environment)
    # The parent may be gone, or may have killed what it no longer waits for.
    with suppress(EOFError, OSError):
        session = _open(connection, opening)
        if session is not None:
            try:
                _answer(connection, session)
            finally:
                _arm(0.0)  # closing asks a server that may not answer
                session.close()


def _become_worker(environment: Mapping[str, str]) -> None:
    """Take the parent's variables, print nothing, and leave no core file."""
    os.environ.clear()
    os.environ.update(environment)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    Thread(target=_end_with_parent, name="dqa-parent", daemon=True).start()
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # the first process to end where memory runs out
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _end_with_parent() -> None:
    """Wait until the parent has ended, then end this process whatever it runs."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _open(connection: Connection, opening: Opening) -> Session | None:
    """Open the session and send what it says of itself, or why it cannot be opened."""
    try:
        session = opening.open()
        limit_memory()
    except DqaError as error:
        _send(connection, "failed", pack_error(error), is_last=True)
    except MemoryError:
        _send(connection, "failed", pack_error(out_of_memory()), is_last=True)
    except Exception:  # noqa: BLE001  (the parent raises it where it can be seen)
        _send(connection, "crashed", traceback.format_exc(), is_last=True)
    else:
        session.announce = lambda mark: _send(connection, "announced", mark)
        _send(connection, "done", _facts_of(session))
        return session
    return None


def _facts_of(session: Session) -> tuple[object, ...]:
    """Return what a session says of itself, in the order of `dqa.databases.worker.Facts`."""
    return (
        *(session.kind, session.dialect, session.language, session.name),
        *(session.namespace, session.schemas, session.search_path),
        None if session.file is None else str(session.file),
        None if session.probe is None else tuple(session.probe),
        tuple(map(tuple, session.sources)),
    )


def _answer(connection: Connection, session: Session) -> None:
    """Answer requests; end where nothing that follows could be trusted."""
    does: dict[str, Callable[..., Any]] = {
        "run": lambda statement, *limits: session.run(statement, LimitsLeft(*limits)),
        "schema": lambda: (session.read_schema(), session.namespace),
        "order": session.row_order,
        "examine": session.examine,
        "end": session.end_statements,
    }
    is_last = False
    while not is_last:
        wanted, seconds, *arguments = pickle.loads(connection.recv_bytes())  # noqa: S301  (the parent's)
        _arm(seconds)
        says, answer = "done", None
        try:
            answer = does[wanted](*arguments)
        except DqaError as error:
            says, answer = "failed", pack_error(error)
        except MemoryError:
            says, answer, is_last = "failed", pack_error(out_of_memory()), True
        except Exception:  # noqa: BLE001  (the parent raises it where it can be seen)
            says, answer = "crashed", traceback.format_exc()
        _disarm()
        is_last = is_last or session.is_broken
        try:
            _send(connection, says, answer, is_last=is_last)
        except MemoryError:
            is_last = True
            _send(connection, "failed", pack_error(out_of_memory()), is_last=True)


def _send(connection: Connection, says: str, answer: object, *, is_last: bool = False) -> None:
    connection.send_bytes(pickle.dumps((says, answer, is_last), pickle.HIGHEST_PROTOCOL))


def pack_error(error: DqaError) -> tuple[str, str, str]:
    """Return an error of this project as plain data: its class, its text, and an unknown name."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    if isinstance(error, UnknownReferenceError):
        return kind, error.problem, error.name
    return kind, str(error), ""


def limit_memory(more: int = MEMORY) -> None:
    """Limit the address space to what this process has now, and `more` bytes."""
    if sys.platform == "win32" or not _STATM.exists():
        return
    taken = int(_STATM.read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + more
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _arm(seconds: float) -> None:
    """Let the operating system end this process where a statement passes its limit by far.

    The parent kills the worker earlier; this is for a parent that is stopped.
    """
    if sys.platform == "win32":
        return
    signal.setitimer(signal.ITIMER_REAL, seconds + _LATER)
    processors = os.cpu_count() or 1
    most = ceil(process_time() + (seconds + _LATER) * processors)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def _disarm() -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, 0.0)
