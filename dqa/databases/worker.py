"""A worker process that opens a database and runs one statement at a time.

A request is a JSON list with a name and its arguments. A reply is a JSON list with a status
(``announced``, ``rows``, ``done``, ``failed`` or ``crashed``), a content, and whether the worker
accepts another request. JSON contains only data, so a worker that a bug of an engine has damaged
cannot run code in the parent process.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from multiprocessing.connection import Connection
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from dqa.core import errors
from dqa.core.database import Limits, Rows
from dqa.core.interpreters import describe_exit, end_with_parent, name_signal, start_process
from dqa.core.schema import rows_of
from dqa.core.session import Session
from dqa.databases.errors import out_of_memory
from dqa.databases.opening import Opening

if sys.platform != "win32":
    import resource

STARTING = 60.0
"""The maximum number of seconds until a new worker is ready."""
_EXITING = 0.5
"""The maximum number of seconds to wait until the system reports an exit code."""
_UNKNOWN = 255
"""The exit code that multiprocessing reports if the fork server has ended and the real exit code is
lost."""
_LARGEST = (1 << 31) - 1
"""The maximum size in bytes of a reply other than a result."""
_ENGINE_FAULTS = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"})
"""Signals that mean a crash of the engine."""
_MEMORY = 2 << 30
"""The address space for statements in bytes, in addition to the space of the opened database. The
limit applies only on Linux."""
_ANY_JSON = b" "
"""Precedes replies with numbers of more than 64 bits, which orjson cannot read exactly."""
_FACTS = (
    *("kind", "dialect", "language", "name", "namespace", "schemas", "search_path", "sources"),
)
"""The attributes of an opened session that the parent process receives."""
_CLOSING = 5
"""The maximum number of seconds for closing a session, because a server may not answer."""
_STATM = Path("/proc/self/statm")
_VMSTAT = Path("/proc/vmstat")


class WorkerBugError(Exception):
    """An unexpected exception in a worker; a note contains its traceback."""


class Worker:
    """A process that opens a database and runs one statement at a time.

    Parameters
    ----------
    opening
        The database to open.
    until
        The deadline for starting (`time.monotonic`).

    Attributes
    ----------
    facts
        The attributes of the session.
    mark
        The mark of the session on its server; None before the first connection.
    is_over
        Whether the process has ended or was killed.
    seconds
        The seconds from the start of the process until the database was open.

    Raises
    ------
    DqaError
        An error of `Opening.open`.
    InfrastructureError
        No process can be started.
    """

    def __init__(self, opening: Opening, until: float) -> None:
        self.mark: str | None = None
        self.is_over = False
        self.facts: dict[str, Any] = {}
        started = monotonic()
        self._process, self._connection = start_process(_serve, opening, preload=opening.preload)
        self._out_of_memory = _count_out_of_memory()
        try:
            self.facts = self.wait(until)
        except TimeoutError:
            self.kill()
            raise errors.DatabaseUnavailableError(
                f"The database could not be opened within {monotonic() - started:.1f} seconds: it "
                "does not answer, or this machine is too busy to start a process. Try again."
            ) from None
        except BaseException:
            self.kill()
            raise
        self.seconds = monotonic() - started

    def send(self, request: str, *arguments: object) -> None:
        """Send a request. If the process has ended, `wait` raises the error."""
        with suppress(OSError):
            self._connection.send_bytes(json.dumps([request, *arguments]).encode())

    def wait(
        self, until: float, most: int = _LARGEST, rows: list[tuple[Any, ...]] | None = None
    ) -> Any:  # noqa: ANN401
        """Return the reply to a request, as parsed from JSON.

        Parameters
        ----------
        until
            The deadline (`time.monotonic`).
        most
            The maximum number of bytes of the reply.
        rows
            A list that collects the rows that the session sends; see `Session.send_rows`.

        Raises
        ------
        TimeoutError
            There was no reply before the deadline.
        DqaError
            The error of the session, or an error with the reason why the worker ended.
        WorkerBugError
            The session has a bug.
        """
        try:
            return self._receive(until, most, [] if rows is None else rows)
        except TimeoutError:
            raise
        except (EOFError, OSError) as error:
            if "message length" not in str(error):  # otherwise the reply is longer than `most`
                raise self._ended_error() from None
            self.kill()
            raise out_of_memory() from None

    @classmethod
    def take(cls, idle: list[Worker]) -> Worker | None:
        """Remove a usable worker from `idle` and return it, or None; kill unusable workers."""
        with suppress(IndexError):  # another thread may have taken the last worker
            while True:
                worker = idle.pop()
                is_alive = not worker.is_over and worker._process.is_alive()  # noqa: SLF001
                if is_alive and not worker._connection.poll():  # noqa: SLF001
                    return worker
                worker.kill()
        return None

    def close(self) -> None:
        """Let the worker close the database and end."""
        self.is_over = True
        self._connection.close()

    def kill(self) -> None:
        """End the worker immediately."""
        self.close()
        self._process.kill()
        self._process.join(_EXITING)

    def _receive(self, until: float, most: int, rows: list[tuple[Any, ...]]) -> Any:  # noqa: ANN401
        """Return the content of the next reply, or raise the error in it."""
        status, whole = "announced", most
        while status in ("announced", "rows"):
            if not self._connection.poll(max(until - monotonic(), 0.0)):
                raise TimeoutError
            try:
                reply = self._connection.recv_bytes(max(most, 0))
                loads = json.loads if reply.startswith(_ANY_JSON) else orjson.loads
                status, content, is_usable = loads(reply)
                if status == "rows":
                    before, found = content
                    if before not in (0, len(rows)):
                        raise EOFError
                    rows[before:] = map(tuple, found)
                    most = (most if before else whole) - len(reply)
            except (ValueError, TypeError, RecursionError) as error:
                raise EOFError from error
            if status == "announced":
                self.mark = str(content)
        if is_usable is not True or status == "crashed":
            self.close()
        if status == "done":
            return content
        if status == "failed":
            raise _decode_error(content)
        bug = WorkerBugError((str(content).strip().splitlines() or ["unknown"])[-1])
        bug.add_note(str(content))
        raise bug

    def _exit_code(self) -> int | None:
        """Return the exit code; if the process still runs, kill it and return None."""
        self._process.join(_EXITING)
        code = self._process.exitcode
        self.kill()
        return None if code == _UNKNOWN else code

    def _ended_error(self) -> errors.DqaError:
        """Return the error of a request during which the worker ended."""
        code = self._exit_code()
        name, how = name_signal(code or 0), describe_exit(code)
        if not self.facts:
            return errors.DatabaseUnavailableError(
                f"A worker process did not open the database: {how}. Open it again. If this fails "
                "in the same way, the file may be damaged."
            )
        if name == "SIGKILL" and _count_out_of_memory() > self._out_of_memory:
            return out_of_memory()
        if name in _ENGINE_FAULTS or (code is not None and not name):
            return errors.StatementError(
                f"The statement crashed the database engine ({how}). Write it in another way: "
                "with fewer conversions, with smaller values, or with arguments of the types "
                "that a function expects."
            )
        return errors.DatabaseUnavailableError(
            f"The worker process did not finish the statement: {how}. The system or another "
            "process ended the worker. Run the statement again."
        )


def _decode_error(content: object) -> errors.DqaError:
    """Return the error in a reply; raise `EOFError` if the reply is invalid."""
    match content:
        case [str(name), str(text), dict(attributes)]:
            kind = getattr(errors, name, None)
            if isinstance(kind, type) and issubclass(kind, errors.DqaError):
                # Some classes build their text from arguments, but this text is already complete.
                error: errors.DqaError = kind.__new__(kind)
                error.args, error.__dict__ = (text,), attributes
                return error
    raise EOFError


def _count_out_of_memory() -> int:
    """Return the number of processes that Linux killed for lack of memory; 0 on other systems."""
    with suppress(OSError):
        for line in _VMSTAT.read_text("ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


# In the worker


def _serve(connection: Connection, opening: Opening) -> None:
    """Open a database and answer requests until the parent closes the connection."""
    _become_worker()
    sessions: list[Session] = []

    def start() -> dict[str, object]:
        session = opening.open()
        _limit_memory()
        session.announce = lambda mark: _send(connection, "announced", _encode(mark))
        sessions.append(session)
        return {name: getattr(session, name) for name in _FACTS} | {
            "file": None if session.file is None else str(session.file)
        }

    with suppress(EOFError, OSError):  # the parent has closed the connection
        _answer(connection, start, sessions)
        for session in sessions:
            try:
                _answer_requests(connection, session)
            finally:
                if sys.platform != "win32":
                    signal.alarm(_CLOSING)
                session.close()


def _become_worker() -> None:
    """Make this process end when its parent ends, and prevent a core file.

    If memory is short, the system kills this process first.
    """
    end_with_parent()
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _limit_memory() -> None:
    """Limit the address space to its current size plus `_MEMORY` bytes."""
    if sys.platform == "win32" or not _STATM.exists():
        return
    taken = int(_STATM.read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + _MEMORY
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _answer_requests(connection: Connection, session: Session) -> None:
    def send_rows(before: int, rows: Sequence[object]) -> None:
        _send(connection, "rows", _encode([before, rows]))

    def run(statement: str, *limits: Any) -> Rows:  # noqa: ANN401
        session.send_rows = send_rows
        try:
            return session.run(statement, Limits(*limits))
        finally:
            session.send_rows = None

    def read_schema() -> tuple[object, ...]:
        schema = session.read_schema()
        return rows_of(schema.tables), replace(schema, tables=())

    does: dict[str, Callable[..., object]] = {
        "run": run,
        "schema": read_schema,
        "order": lambda table: (session.row_order(table) or b"").hex() or None,
        "examine": session.examine,
        "end": session.end_statements,
    }
    is_usable = True
    while is_usable:
        name, *arguments = json.loads(connection.recv_bytes())
        is_usable = _answer(connection, partial(does[name], *arguments), [session])


def _answer(connection: Connection, act: Callable[[], object], sessions: list[Session]) -> bool:
    """Answer a request with a result or an error; return whether another request may follow."""
    has_memory = True
    try:
        status, content = "done", _encode(act())
    except errors.DqaError as error:
        status, content = "failed", _encode(_encode_error(error))
    except MemoryError:
        status, content, has_memory = "failed", _encode(_encode_error(out_of_memory())), False
    except Exception:  # noqa: BLE001  (the parent raises it, with this traceback)
        from traceback import format_exc

        status, content = "crashed", _encode(format_exc())
    is_usable = has_memory and not any(session.is_broken for session in sessions)
    _send(connection, status, content, is_usable=is_usable)
    return is_usable


def _send(connection: Connection, status: str, content: bytes, *, is_usable: bool = True) -> None:
    """Send a reply; `content` is a result of `_encode`."""
    start = _ANY_JSON * content.startswith(_ANY_JSON)
    end = b"true" if is_usable else b"false"
    connection.send_bytes(b'%b["%b", %b, %b]' % (start, status.encode(), content, end))


def _encode(content: object) -> bytes:
    """Return JSON. `json` writes the numbers that orjson, which is faster, cannot write."""
    content = _FIELDS(content) if isinstance(content, Rows) else content
    try:
        return orjson.dumps(content)
    except TypeError:
        return _ANY_JSON + json.dumps(content, default=asdict).encode()


def _encode_error(error: errors.DqaError) -> list[object]:
    """Return an error's public class, its text and its attributes."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    return [kind, str(error), vars(error)]


_FIELDS = attrgetter(*(field.name for field in fields(Rows)))
"""Returns the fields of a result, in order."""
