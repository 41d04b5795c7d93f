"""The code of a worker process: one session, and its statements one after another."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from operator import attrgetter
from pathlib import Path
from threading import Thread
from typing import Any

from dqa.core import errors
from dqa.core.database import LimitsLeft
from dqa.core.errors import DqaError, UnknownReferenceError
from dqa.core.session import Session
from dqa.databases.errors import out_of_memory
from dqa.databases.opening import Opening

if sys.platform != "win32":
    import resource

MEMORY = 2 << 30
"""Bytes of address space that statements may take in addition to the opened database (Linux)."""
_FACTS = (
    *("kind", "dialect", "language", "name", "namespace", "schemas", "search_path", "file"),
    "sources",
)
"""The attributes of a session that its parent gets when it is open."""
_CLOSING = 5
"""Seconds within which a session is closed: a server may not answer."""
_STATM = Path("/proc/self/statm")


def serve(connection: Connection, opening: Opening) -> None:
    """Open a database and answer requests until the parent closes the connection.

    A request is a JSON list: a name and its arguments. A reply is a JSON list: its status
    (``announced``, ``done``, ``failed``, ``crashed``), its content, and whether another request
    may follow.
    """
    _become_worker()
    sessions: list[Session] = []

    def start() -> dict[str, object]:
        session = opening.open()
        limit_memory()
        session.announce = lambda mark: _send(connection, "announced", json.dumps(mark))
        sessions.append(session)
        return {name: getattr(session, name) for name in _FACTS}

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
    """End with the parent, leave no core file, and end first where memory runs out."""
    Thread(target=_end_with_parent, name="dqa-parent", daemon=True).start()
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # where memory runs out, the system ends this process first
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def _end_with_parent() -> None:
    """Wait until the parent has ended, then end this process whatever it runs."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def limit_memory(more: int = MEMORY) -> None:
    """Limit the address space to what this process has now, and `more` bytes."""
    if sys.platform == "win32" or not _STATM.exists():
        return
    taken = int(_STATM.read_text("ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + more
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _answer_requests(connection: Connection, session: Session) -> None:
    does: dict[str, Callable[..., Any]] = {
        "run": lambda statement, *limits: session.run(statement, LimitsLeft(*limits)),
        "schema": lambda: (session.read_schema(), session.namespace),
        "order": lambda table: _hex(session.row_order(table)),
        "examine": session.examine,
        "end": session.end_statements,
    }
    is_usable = True
    while is_usable:
        name, *arguments = json.loads(connection.recv_bytes())
        is_usable = _answer(connection, partial(does[name], *arguments), [session])


def _answer(connection: Connection, act: Callable[[], Any], sessions: list[Session]) -> bool:
    """Send the result of a request or its error; return whether another request may follow."""
    has_memory = True
    try:
        status, content = "done", _ENCODER.encode(act())
    except DqaError as error:
        status, content = "failed", _encode_error(error)
    except MemoryError:
        status, content, has_memory = "failed", _encode_error(out_of_memory()), False
    except Exception:  # noqa: BLE001  (the parent raises it, with this traceback)
        status, content = "crashed", _ENCODER.encode(traceback.format_exc())
    is_usable = has_memory and not any(session.is_broken for session in sessions)
    _send(connection, status, content, is_usable=is_usable)
    return is_usable


def _send(connection: Connection, status: str, content: str, *, is_usable: bool = True) -> None:
    """Send a reply whose content is JSON."""
    connection.send_bytes(f'["{status}", {content}, {str(is_usable).lower()}]'.encode())


def _encode_error(error: DqaError) -> str:
    """Return the class of this project that an error has, its text, and the unknown name in it."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    if isinstance(error, UnknownReferenceError):
        return _ENCODER.encode([kind, error.problem, error.name])
    return _ENCODER.encode([kind, str(error), ""])


def _hex(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


def _plain(value: Any) -> object:  # noqa: ANN401  (a path or any dataclass)
    """Return a path or a record as JSON can hold it."""
    kind: Any = type(value)
    return str(value) if isinstance(value, Path) else _fields_of(kind)(value)


@cache
def _fields_of(kind: Any) -> Callable[[object], object]:  # noqa: ANN401  (any dataclass)
    """Return the function that returns the fields of a record in order."""
    return attrgetter(*(field.name for field in fields(kind)))


_ENCODER = json.JSONEncoder(default=_plain)
