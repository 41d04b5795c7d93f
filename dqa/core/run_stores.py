"""Names of the tables of run stores and memories, which agents cannot read."""

from __future__ import annotations

TABLE_PREFIX = "dqa_"
"""The beginning of the names of all tables of a store or a memory."""

VERSION_TABLE = f"{TABLE_PREFIX}store_version"
"""The table with the version of a store; every store has it."""

MEMORY_TABLE = f"{TABLE_PREFIX}memory"
"""The table with the version of a memory; every memory has it."""


def is_store_table(name: str) -> bool:
    """Whether a name is that of a table of a store or a memory."""
    return name.casefold().startswith(TABLE_PREFIX)
