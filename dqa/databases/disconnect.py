"""The sockets of connections to servers."""

from __future__ import annotations

import select
import socket
import sys
from contextlib import suppress


def has_news(descriptor: int) -> bool:
    """Whether an idle connection's socket has something to read, so that it has broken."""
    if sys.platform == "win32":
        return bool(select.select([descriptor], [], [], 0.0)[0])
    looking = select.poll()
    looking.register(descriptor, select.POLLIN)
    return bool(looking.poll(0))


def shut(descriptor: int) -> None:
    """Shut a connection from another thread, so that waiting for it ends with an error."""
    # A copy of the descriptor: the driver continues to own the original.
    with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
        copy.shutdown(socket.SHUT_RDWR)
