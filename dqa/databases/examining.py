"""Asking a server about its roles and settings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from dqa.core import database
from dqa.core.database import Limits
from dqa.core.errors import StatementError

Rows: TypeAlias = tuple[tuple[Any, ...], ...]
Ask: TypeAlias = Callable[[str], Rows]
"""Returns the rows of a statement of our own; none where the role may not know them."""

READER = "dqa_reader"
"""What docs/guard.md calls the role that may only read."""
DOCUMENTED = (
    "Connect as a role that may only read: docs/guard.md, 'A role that may only read', has the "
    f"statements that make {READER}."
)
_LIMITS = Limits(rows=10_000, bytes=4_000_000, seconds=30.0, cell=100_000)
_ENDLESS = 1 << 50
"""Bytes that no machine has."""
_SIZES = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def asker(run: Callable[[str, Limits], database.Rows]) -> Ask:
    """Return what asks a session; an outage and a time limit are raised as ever."""

    def ask(statement: str) -> Rows:
        try:
            return tuple(map(tuple, run(statement, _LIMITS).rows))
        except StatementError:  # of another version, or not for this role's eyes
            return ()

    return ask


def bytes_of(text: str) -> int:
    """Return a size such as ``358.40MiB``, ``4096`` or ``64MB`` in bytes; 0 where it is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgtKMGT]?)i?([bB]?)", text.strip())
    if match is None:
        return 0
    return int(float(match[1]) * _SIZES[(match[2].upper() + "B") if match[2] else ""])


def shown_size(size: int) -> str:
    """Return a size in bytes as people write it."""
    if size >= _ENDLESS:
        return "without a limit"
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _SIZES[unit]:
            return f"{size / _SIZES[unit]:.4g} {unit}"
    return f"{size} bytes"
