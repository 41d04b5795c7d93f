"""The fork server: a process without threads that imports engines and forks workers."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from time import monotonic, sleep
from typing import NoReturn

from dqa.databases.isolation.pythons import Serving, silence

_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
_GONE = 0.4
"""Seconds within which a killed child has to be gone: nobody else gets a worker meanwhile."""


def main() -> None:
    """Serve the parent until it is gone.

    Its arguments are the number of a socket to it, and the module that workers serve by.
    """
    end = socket.socket(fileno=int(sys.argv[1]))
    serving: Serving = import_module(sys.argv[2])
    silence()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    libc = ctypes.CDLL(None)
    forgotten: set[int] = set()
    while True:
        said, descriptors, _, _ = socket.recv_fds(end, 1 << 16, 1)
        if not said:
            os._exit(0)  # and the kernel ends the children
        forgotten -= {number for number in forgotten if _has_ended(number)}
        serial, wanted, given = json.loads(said)
        says: object = None
        if wanted == "fork":
            says = _fork(serving, given, socket.socket(fileno=descriptors[0]), end, libc)
        elif wanted == "ended":
            says = _await_status(given)
        else:
            forgotten.add(given)
            continue
        end.sendall(json.dumps([serial, says]).encode())


def _fork(
    serving: Serving, prepared: str, theirs: socket.socket, end: socket.socket, libc: ctypes.CDLL
) -> tuple[int | None, str]:
    """Fork a worker and return its number, or None and why there is none."""
    with suppress(Exception):  # the worker imports them again, and tells its parent why it cannot
        serving.prepare(prepared)
    server = os.getpid()
    gc.freeze()  # what is collected in a child would be copied for it
    try:
        number = os.fork()
    except OSError as error:
        theirs.close()
        return None, str(error.strerror)
    if number == 0:
        _become_worker(serving, theirs, end, server, libc)
    theirs.close()
    return number, ""


def _become_worker(
    serving: Serving, ours: socket.socket, end: socket.socket, server: int, libc: ctypes.CDLL
) -> NoReturn:
    """Serve, and end without what Python would do at the end for the server."""
    code = 1
    try:
        libc.prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == server:  # or it has died before that was said
            end.close()
            serving.serve(ours)
            code = 0
    finally:
        os._exit(code)


def _has_ended(number: int) -> bool:
    try:
        return os.waitpid(number, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _await_status(number: int) -> int | None:
    """Return the exit code of a child that is about to end; None if it takes its time."""
    until = monotonic() + _GONE
    while True:
        try:
            ended, status = os.waitpid(number, os.WNOHANG)
        except ChildProcessError:
            return 0
        if ended:
            return os.waitstatus_to_exitcode(status)
        if monotonic() > until:
            return None
        sleep(0.001)
