"""What LadybugDB's errors mean: it has no codes, but each message begins with what it is."""

from __future__ import annotations

import re

from dqa.databases.faults import Fault

BEGINNINGS: dict[str, Fault] = {
    "Binder exception": Fault.STATEMENT,
    "Buffer manager exception": Fault.MEMORY,
    "Catalog exception": Fault.STATEMENT,
    "Checkpoint exception": Fault.SERVER,
    "Connection exception": Fault.STATEMENT,  # what cannot be prepared
    "Conversion exception": Fault.STATEMENT,
    "Copy exception": Fault.STATEMENT,
    "Extension exception": Fault.STATEMENT,
    "Internal exception": Fault.STATEMENT,
    "Interrupted": Fault.TIME,
    "IO exception": Fault.UNCLEAR,
    "Not implemented": Fault.STATEMENT,
    "Overflow exception": Fault.STATEMENT,
    "Parser exception": Fault.STATEMENT,
    "Runtime exception": Fault.STATEMENT,
    "Storage exception": Fault.SERVER,
    "Transaction manager exception": Fault.PASSING,
}
_MORE = (
    (re.compile("write query inside a read-only transaction"), Fault.REFUSED),
    (re.compile("execute write operations in a read-only database"), Fault.REFUSED),
    (re.compile("Assertion failed|UNREACHABLE"), Fault.STATEMENT),
    (re.compile("std::bad_alloc|bad allocation"), Fault.MEMORY),
)


def fault_of(problem: str) -> Fault:
    """Return what a message means."""
    for words, fault in _MORE:
        if words.search(problem):
            return fault
    begins = problem.partition(":")[0].rstrip(".")
    return BEGINNINGS.get(begins, Fault.STATEMENT)
