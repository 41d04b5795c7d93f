"""What `doctor` asks a server: a table of checks per engine, each a statement and its advice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dqa.core import database
from dqa.core.database import Limits
from dqa.core.errors import StatementError
from dqa.core.examination import Advice

Rows: TypeAlias = tuple[tuple[Any, ...], ...]
Ask: TypeAlias = Callable[[str], Rows]
"""Returns the rows of a statement; none if this role or version does not know them."""

READER = "dqa_reader"
"""The read-only role of docs/guard.md."""
DOCUMENTED = (
    "Connect as a role that may only read: docs/guard.md, 'A role that may only read', has the "
    f"statements that make {READER}."
)
NO_TIME_LIMIT = "a statement that its client has left behind runs without an end"
NO_DISK_LIMIT = "one query that sorts or joins may fill the server's disk"
ONE_MORE_DEFENCE = "the guard and the read-only session keep it from writing; a role without the "
ONE_MORE_DEFENCE += "right is one more line of defence"

_LIMITS = Limits(rows=10_000, bytes=4_000_000, seconds=30.0, cell=100_000)
_ENDLESS = 1 << 50
_SIZES = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


def _always(*_: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that `doctor` looks for.

    Attributes
    ----------
    topic
        Whether it is about the role or about a setting.
    statement
        Its rows are the findings.
    found, why, fix
        The texts of an `Advice`, formatted with the columns of a row and the caller's names.
    is_found
        Whether a row is a finding.
    writes
        Whether a finding means that the role can write.
    """

    topic: Literal["role", "setting"]
    statement: str
    found: str
    why: str
    fix: str
    is_found: Callable[..., bool] = _always
    writes: bool = False


def run_checks(ask: Ask, checks: Iterable[Check], **names: str) -> tuple[tuple[Advice, ...], bool]:
    """Return the advice of all checks, and whether the role can write."""
    advice, writes = [], False
    for check in checks:
        for row in filter(lambda row: check.is_found(*row), ask(check.statement)):
            found, why, fix = (
                text.format(*row, **names) for text in (check.found, check.why, check.fix)
            )
            advice.append(Advice(check.topic, found, why, fix))
            writes = writes or check.writes
    return tuple(advice), writes


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
