"""What `doctor` reports on a server: whether the role can write, and which limits are missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from dqa.core import database
from dqa.core.database import Limits
from dqa.core.errors import StatementError
from dqa.core.examination import Advice

Rows: TypeAlias = tuple[tuple[Any, ...], ...]
Ask: TypeAlias = Callable[[str], Rows]
"""Returns the rows of a statement; none if this role or version does not know them."""

READER = "dqa_reader"
"""The read-only role of docs/guard.md."""
NO_TIME_LIMIT = "a statement that its client has left behind runs without an end"
NO_DISK_LIMIT = "one query that sorts or joins may fill the server's disk"

_LIMITS = Limits(rows=10_000, bytes=4_000_000, seconds=30.0, cell=100_000)
_SIZES = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def advise_on_rights(role: str, rights: Iterable[str]) -> tuple[Advice, ...]:
    """Return the advice for a role with rights beyond reading; none for no such right."""
    listed = "; ".join(rights)
    if not listed:
        return ()
    return (
        Advice(
            "role",
            f"{role} can write: {listed}",
            "the guard and the read-only session keep it from writing; a role without the right "
            "is one more line of defence",
            "Connect as a role that may only read: docs/guard.md, 'A role that may only read', has "
            f"the statements that make {READER}.",
        ),
    )


def asker(run: Callable[[str, Limits], database.Rows]) -> Ask:
    """Return a function that asks a session; an outage and a time limit stay errors."""

    def ask(statement: str) -> Rows:
        try:
            return tuple(map(tuple, run(statement, _LIMITS).rows))
        except StatementError:  # another version, or not for this role
            return ()

    return ask


def bytes_of(text: str) -> int:
    """Return a size such as ``358.40MiB``, ``4096`` or ``64MB`` in bytes; 0 for another text."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgtKMGT]?)i?([bB]?)", text.strip())
    if match is None:
        return 0
    return int(float(match[1]) * _SIZES[(match[2].upper() + "B") if match[2] else ""])
