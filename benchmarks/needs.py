"""The needs of benchmarks besides the package, and how to install them."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple


class Need(NamedTuple):
    """A need: its description, whether it is met, and how to meet it."""

    description: str
    is_met: bool
    remedy: str


EXTRAS = {
    "choix": ("choix", "test"),
    "duckdb": ("duckdb", "duckdb"),
    "games": ("pyspiel", "games"),
    "household": ("textworld", "household"),
    "playwright": ("playwright", "dev"),
    "ray": ("ray", "ray"),
    "shop": ("bm25s", "shop"),
}
"""By need, the module that shows it, and the extra that installs it."""
RELEASES = {"release": "DQA_RELEASE_DIR", "dellma-release": "DQA_DELLMA_DIR"}
SERVERS = ("postgres", "mysql", "neo4j")


def find_need(name: str) -> Need:
    """Return the need with a name: of an extra, a published data set or a server."""
    if name in EXTRAS:
        module, extra = EXTRAS[name]
        remedy = f'pip install -e ".[{extra}]"'
        return Need(f"extra {extra} ({module})", find_spec(module) is not None, remedy)
    variable = RELEASES.get(name) or f"DQA_TEST_{name.upper()}_URL"
    value = os.environ.get(variable, "")
    if name in RELEASES:
        return Need(f"data in {variable}", Path(value or "?").is_dir(), f"set {variable}")
    remedy = f"set {variable}; docker/README.md says how to start a server"
    return Need(f"server in {variable}", bool(value), remedy)


def require(*names: str) -> None:
    """End the program with one line if a need is not met."""
    for need in map(find_need, names):
        if not need.is_met:
            raise SystemExit(f"error: this benchmark needs {need.description}: {need.remedy}.")
