"""What runs in a fresh Python that is a worker."""

from __future__ import annotations

import socket
import sys
from importlib import import_module

from dqa.databases.isolation.pythons import Serving, silence


def main() -> None:
    """Serve a parent that listens on this machine.

    Standard input has the port, a password, and the module to serve by.
    """
    port, password, module = sys.stdin.readline().split()
    end = socket.create_connection(("127.0.0.1", int(port)))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.sendall(bytes.fromhex(password))
    silence()
    serving: Serving = import_module(module)
    serving.serve(end)
