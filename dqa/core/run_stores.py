"""Names of tables of run stores and memories. Agents cannot read these tables."""

from __future__ import annotations

TABLE_PREFIX = "dqa_"
"""The prefix of the names of all tables of stores and memories."""

VERSION_TABLE = f"{TABLE_PREFIX}store_version"
"""The table with the version of a store."""

MEMORY_TABLE = f"{TABLE_PREFIX}memory"
"""The table with the version of a memory."""


def is_store_table(name: str) -> bool:
    """Return whether a table with this name belongs to a store or a memory."""
    return name.casefold().startswith(TABLE_PREFIX)
