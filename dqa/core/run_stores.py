"""By which names a database is known to hold runs: a store's tables begin alike."""

from __future__ import annotations

TABLE_PREFIX = "dqa_"
"""Of every table of a store: a team's database may hold others."""

VERSION_TABLE = f"{TABLE_PREFIX}store_version"
"""What a store's schema keeps its version in; where it is, there is a store."""


def is_store_table(name: str) -> bool:
    """Whether a table is a store's, by its name in a database that holds one."""
    return name.casefold().startswith(TABLE_PREFIX)
