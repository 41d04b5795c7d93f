"""The extras and servers that some benchmarks need."""

from __future__ import annotations

import os
from importlib.util import find_spec

EXTRAS = {"duckdb": "duckdb", "games": "pyspiel", "household": "textworld", "shop": "bm25s"}
"""For each extra, the name of a module that it installs."""
SERVERS = ("postgres", "mysql", "neo4j")


def server_url(name: str) -> str:
    """Return the URL of a test server; empty if it is not set."""
    return os.environ.get(f"DQA_TEST_{name.upper()}_URL", "")


def has(module: str) -> bool:
    """Return whether a module is installed."""
    return find_spec(module) is not None


def require(*extras: str) -> None:
    """End the program with a message if an extra is not installed."""
    for extra in extras:
        if not has(EXTRAS[extra]):
            raise SystemExit(f'error: install the extra: pip install -e ".[{extra}]"')
