"""Locations of memories: SQLite files, and databases on servers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from dqa.core.errors import UsageError
from dqa.databases.servers import has_scheme
from dqa.databases.store_locations import StoreLocation, store_address

_HINT: Final = (
    "Create a memory with 'dqa memory build --world WORLD --games N --memory FILE', or name a "
    "different memory with --set ldm2.memory=FILE."
)
_STAYS: Final = (
    "Tuples that were already added stay in the memory. To add the rest, run the same command "
    "again when the server answers."
)


def locate(location: str | Path) -> StoreLocation:
    """Return the location of a memory. Raise `UsageError` if it cannot store a memory."""
    text = os.fspath(location)
    if has_scheme(text, ("bolt", "neo4j")):
        raise UsageError(
            "A memory is stored in a SQL database, not in a graph database. Name a file, or the "
            "URL of a SQL database."
        )
    return StoreLocation(*store_address(text, "memory"), "memory", _HINT, _STAYS)
