"""What runs in a worker process: one session, and its statements one after another."""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dqa.core.database import LimitsLeft
from dqa.core.errors import DqaError
from dqa.databases.failures import out_of_memory
from dqa.databases.isolation.bounds import arm, disarm, harden, limit_memory
from dqa.databases.isolation.wire import (
    ClosedError,
    Wire,
    pack_error,
    pack_examination,
    pack_rows,
)
from dqa.databases.opening import find_named

if TYPE_CHECKING:
    from dqa.core.session import Session


def prepare(namespaces: str) -> None:
    """Import what workers would import late, which open databases with this class."""
    for late in find_named(namespaces).imported_late:
        import_module(late)


def serve(end: socket.socket) -> None:
    """Open what the parent says and answer it, until it goes away; never raises."""
    harden()
    wire = Wire(end, trusts=True)
    # The parent may have gone, or has killed what it no longer waits for.
    with suppress(ClosedError):
        session = _open(wire)
        if session is not None:
            try:
                _answer(wire, session)
            finally:
                arm(0.0)  # a server may not answer that either
                session.close()


def _open(wire: Wire) -> Session | None:
    try:
        folder, environment, opening = wire.receive()
        # The parent's of now, and not those of when the process was made that this was forked from.
        os.environ.clear()
        os.environ.update(environment)
        if folder is not None:
            os.chdir(folder)
        session: Session = opening.open()
        limit_memory()
    except DqaError as error:
        wire.send(("failed", pack_error(error), True))
    except MemoryError:
        wire.send(("failed", pack_error(out_of_memory()), True))
    except ClosedError:
        raise
    except Exception:  # noqa: BLE001  (the parent raises it where it can be seen)
        wire.send(("crashed", traceback.format_exc(), True))
    else:
        session.announce = lambda mark: wire.send(("announced", mark, False))
        facts = session.kind, session.dialect, session.language, session.name
        place = session.namespace, session.schemas, session.search_path
        file = None if session.file is None else str(session.file)
        probe = None if session.probe is None else tuple(session.probe)
        sources = tuple(map(tuple, session.sources))
        wire.send(("done", (*facts, *place, file, probe, sources), False))
        return session
    return None


def _answer(wire: Wire, session: Session) -> None:
    """Answer requests; end where nothing that follows could be trusted."""
    does: dict[str, Callable[..., Any]] = {
        "run": lambda statement, *limits: pack_rows(session.run(statement, LimitsLeft(*limits))),
        "schema": lambda: (session.read_schema(), session.namespace),
        "order": session.row_order,
        "examine": lambda: pack_examination(session.examine()),
        "end": session.end_statements,
    }
    is_last = False
    while not is_last:
        wanted, seconds, *given = wire.receive()
        arm(seconds)
        try:
            says = ("done", does[wanted](*given))
        except DqaError as error:
            says = ("failed", pack_error(error))
        except MemoryError:
            says = ("failed", pack_error(out_of_memory()))
            is_last = True
        except Exception:  # noqa: BLE001  (the parent raises it where it can be seen)
            says = ("crashed", traceback.format_exc())
        disarm()
        is_last = is_last or session.is_broken
        try:
            wire.send((*says, is_last))
        except MemoryError:  # before the first byte: there is no room to put it into a message
            wire.send(("failed", pack_error(out_of_memory()), True))
            is_last = True
