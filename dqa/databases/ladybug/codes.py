"""The meaning of LadybugDB's errors: it has no codes, but a message begins with its kind."""

from __future__ import annotations

import re

from dqa.databases.faults import Fault

_FAULTS: tuple[tuple[re.Pattern[str], Fault], ...] = (
    (re.compile("write query inside a read-only transaction"), Fault.REFUSED),
    (re.compile("execute write operations in a read-only database"), Fault.REFUSED),
    (re.compile("Assertion failed|UNREACHABLE"), Fault.STATEMENT),
    (re.compile("std::bad_alloc|bad allocation|^Buffer manager exception"), Fault.MEMORY),
    (re.compile("^Interrupted"), Fault.TIME),
    (re.compile("^IO exception"), Fault.UNCLEAR),
    (re.compile("^(Checkpoint|Storage) exception"), Fault.SERVER),
    (re.compile("^Transaction manager exception"), Fault.PASSING),
)


def fault_of(problem: str) -> Fault:
    """Return the meaning of a message; most are about the statement."""
    return next((fault for words, fault in _FAULTS if words.search(problem)), Fault.STATEMENT)
