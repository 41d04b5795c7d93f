"""A process that has a database open, seen from its parent."""

from __future__ import annotations

import io
import os
import pickle
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from dqa.core import database, errors, examination, schema, summaries
from dqa.core.database import Kind
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    UnknownReferenceError,
)
from dqa.core.interpreters import describe_exit, name_signal, start_process
from dqa.databases.failures import crashed, out_of_memory
from dqa.databases.opening import Opening
from dqa.databases.serving import serve

STARTING = 60.0
"""Seconds within which a new worker has to be ready, whoever waits for it."""
_ENDING = 0.5
"""Seconds in which a process has ended whose connection is closed."""
_LARGEST = (1 << 31) - 1
"""Bytes of the largest reply that is not a result."""
_FAULTS = frozenset({"SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL"})
"""The signals by which a process ends that has a fault of its own."""
_VARIABLES = frozenset(
    {
        *("APPDATA", "HOME", "LANG", "LD_LIBRARY_PATH", "LOCALAPPDATA", "LOGNAME", "NLS_LANG"),
        *("PATH", "PATHEXT", "PYTHONPATH", "PYTHONSAFEPATH", "SSL_CERT_DIR", "SSL_CERT_FILE"),
        *("SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "TNS_ADMIN", "TZ", "USER", "USERNAME"),
        "USERPROFILE",
    }
)
"""Variables that a worker gets; an API key is not among them."""
_PREFIXES = ("DQA_TEST_", "KRB5", "LC_", "ODBC", "OMP_", "OPENBLAS_", "PG", "XDG_")


class WorkerBugError(Exception):
    """An unexpected exception in a worker; its traceback is a note of this one."""


class ClosedError(Exception):
    """The worker ended, or sent what is not a reply."""


class NotAskedError(Exception):
    """The worker had ended before it was asked."""


class TooLongError(Exception):
    """A reply is larger than it may be."""


class Facts(NamedTuple):
    """What a session says of itself; see `dqa.core.session.Session`."""

    kind: Kind
    dialect: str
    language: str
    name: str
    namespace: str | None
    schemas: tuple[str, ...] | None
    search_path: tuple[str, ...]
    file: str | None
    probe: tuple[str, int, bytes] | None
    sources: tuple[tuple[str, tuple[int, int, int, int]], ...]


class Worker:
    """A process that has a database open and runs one statement at a time.

    Parameters
    ----------
    opening
        What it opens.
    until
        When to give up, by `time.monotonic`.

    Attributes
    ----------
    mark
        What tells its server session from others; None where it has none.
    is_over
        Whether it ended or was killed.

    Raises
    ------
    DqaError
        As `Opening.open` does.
    InfrastructureError
        No process can be started.
    """

    def __init__(self, opening: Opening, until: float) -> None:
        self.mark: str | None = None
        self.is_over = False
        started = monotonic()
        self._process, self._connection = start_process(
            serve, opening, _environment(), preload=_modules_of(opening)
        )
        self._out_of_memory = _count_out_of_memory()
        try:
            self.facts = Facts(*self.wait(min(until, started + STARTING)))
        except TimeoutError:
            self.kill()
            raise DatabaseUnavailableError(
                f"The database could not be opened within {monotonic() - started:.1f} seconds: it "
                "does not answer, or this machine is too busy to start a process."
            ) from None
        except ClosedError:
            code = self.exit_code()
            is_fault = name_signal(code or 0) in _FAULTS
            advice = "The file may be damaged" if is_fault else "Open the database again"
            raise DatabaseUnavailableError(
                f"A worker process did not open the database: {describe_exit(code)}. {advice}."
            ) from None
        except BaseException:
            self.kill()
            raise
        self.seconds = monotonic() - started

    def ask(self, until: float, wanted: str, *arguments: object) -> Any:  # noqa: ANN401
        """Return the answer to a request; see `request` and `wait`."""
        self.request(until, wanted, *arguments)
        return self.wait(until)

    def request(self, until: float, wanted: str, *arguments: object) -> None:
        """Send a request; `NotAskedError` where the worker has ended."""
        message = (wanted, max(until - monotonic(), 0.001), *arguments)
        try:
            self._connection.send_bytes(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        except OSError:
            self.kill()
            raise NotAskedError from None

    def wait(self, until: float, most: int = _LARGEST) -> Any:  # noqa: ANN401
        """Return the answer to a request.

        Raises
        ------
        DqaError
            As the session does.
        TimeoutError
            There is no answer yet.
        ClosedError, TooLongError
            The worker ended, or its answer is too large.
        WorkerBugError
            The session has a bug.
        """
        while True:
            says, answer, is_last = self._receive(until, most)
            if says != "announced":
                break
            self.mark = str(answer)
        if is_last or says == "crashed":
            self.close()
        if says == "done":
            return answer
        if says == "failed":
            raise _unpack_error(answer)
        error = WorkerBugError((str(answer).strip().splitlines() or ["unknown"])[-1])
        error.add_note(str(answer))
        raise error

    def is_ready(self) -> bool:
        """Whether it runs and waits for a request."""
        return not self.is_over and self._process.is_alive() and not self._connection.poll()

    def close(self) -> None:
        """Let it close the database and end."""
        self.is_over = True
        self._connection.close()

    def kill(self, seconds: float = 0.0) -> None:
        """End it at once, and wait so many seconds until it is gone."""
        self.is_over = True
        self._connection.close()
        if self._process.is_alive():
            self._process.kill()
            self._process.join(seconds)

    def exit_code(self) -> int | None:
        """Return the code with which it ended by itself; None, and it is killed, if it did not."""
        self._process.join(_ENDING)
        code = self._process.exitcode
        self.kill()
        return code

    def ended_error(self) -> DqaError | None:
        """Return the error of a statement during which it ended; None where its time was over."""
        code = self.exit_code()
        name = name_signal(code or 0)
        if name in {"SIGALRM", "SIGXCPU"}:
            return None
        if name == "SIGKILL" and _count_out_of_memory() > self._out_of_memory:
            return out_of_memory()
        if name in _FAULTS or (code is not None and not name):
            return crashed(describe_exit(code))
        return DatabaseUnavailableError(
            f"The worker process did not finish the statement: {describe_exit(code)}. Another "
            "process ended it. Run the statement again."
        )

    def _receive(self, until: float, most: int) -> tuple[str, Any, bool]:
        """Return the next message: what it says, its content, and whether it is the last one."""
        try:
            is_there = self._connection.poll(max(until - monotonic(), 0.0))
            data = self._connection.recv_bytes(most) if is_there else b""
        except (EOFError, ConnectionError) as error:
            raise ClosedError from error
        except OSError as error:  # what `recv_bytes` raises for a message that is too long
            raise TooLongError from error
        if not data:
            raise TimeoutError
        try:
            says, answer, is_last = _PlainUnpickler(io.BytesIO(data)).load()
        except MemoryError as error:
            raise TooLongError from error
        except Exception as error:  # bytes can be made to raise anything
            raise ClosedError from error
        if says not in {"announced", "done", "failed", "crashed"}:
            raise ClosedError
        return says, answer, is_last is True


class _PlainUnpickler(pickle.Unpickler):
    """Reads plain data and the records of a reply, and no other class.

    So a worker whose engine was made to run foreign code cannot make its parent run it.
    """

    _CLASSES = {  # noqa: RUF012  (never changed)
        (module.__name__, name)
        for module, names in (
            (schema, ("DatabaseSchema", "EdgeInfo", "Field", "NodeInfo", "TableInfo")),
            (database, ("Rows",)),
            (summaries, ("ColumnSummary", "Summary")),
            (examination, ("Advice", "Examination")),
        )
        for name in names
    }

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        """Return a record's class; `UnpicklingError` for any other."""
        if (module, name) not in self._CLASSES:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a reply")
        return super().find_class(module, name)


def _modules_of(opening: Opening) -> list[str]:
    """Return the modules that opening imports: of the engine, and what it imports late."""
    module = opening.namespaces.partition(":")[0]
    return [module, f"{module.rpartition('.')[0]}.late"]


def _environment() -> dict[str, str]:
    """Return the variables that engines and drivers need; an API key is not among them."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _VARIABLES or name.startswith(_PREFIXES)
    }


def _count_out_of_memory() -> int:
    """Return how many processes the system has ended for lack of memory (Linux; else 0)."""
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text("ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _unpack_error(packed: object) -> DqaError:
    """Return the error that a worker packed; `ClosedError` where this is none."""
    match packed:
        case (str(name), str(text), str(unknown)):
            kind = getattr(errors, name, None)
        case _:
            raise ClosedError
    if not (isinstance(kind, type) and issubclass(kind, DqaError)):
        raise ClosedError
    if kind is UnknownReferenceError:
        return UnknownReferenceError(text, unknown)
    # Some classes compose their text from other arguments; here the text is ready.
    error: DqaError = kind.__new__(kind)
    Exception.__init__(error, text)
    return error
