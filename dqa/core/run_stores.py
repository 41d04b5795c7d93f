"""By which names a database is known to hold runs or a memory: their tables begin alike."""

from __future__ import annotations

TABLE_PREFIX = "dqa_"
"""Of every table of a store or a memory: a team's database may hold others."""

VERSION_TABLE = f"{TABLE_PREFIX}store_version"
"""What a store's schema keeps its version in; where it is, there is a store."""

MEMORY_TABLE = f"{TABLE_PREFIX}memory"
"""What a memory keeps its version in; where it is, there is a memory."""


MEMORY_LABELS = frozenset(
    {MEMORY_TABLE, "MemoryBatch", "GoalType", "ObservationType", "StateAction", "MemoryVersion"}
)
"""Labels of the nodes of a memory in a graph; the first is of what keeps its version."""


def is_store_table(name: str) -> bool:
    """Whether a table is a store's or a memory's, by its name in a database that holds one."""
    return name.casefold().startswith(TABLE_PREFIX)
