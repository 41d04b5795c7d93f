"""What SQLite's result codes mean: the last eight bits are the primary one.

https://www.sqlite.org/rescode.html
"""

from __future__ import annotations

import sqlite3

from dqa.databases.faults import Fault

CODES: dict[int, Fault] = {
    sqlite3.SQLITE_IOERR_NOMEM: Fault.MEMORY,
    **dict.fromkeys(
        (
            *(sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ),
            *(sqlite3.SQLITE_IOERR_LOCK, sqlite3.SQLITE_IOERR_RDLOCK),
            *(sqlite3.SQLITE_IOERR_FSTAT, sqlite3.SQLITE_IOERR_ACCESS),
            *(sqlite3.SQLITE_IOERR_CHECKRESERVEDLOCK, sqlite3.SQLITE_IOERR_SHMOPEN),
            *(sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMLOCK),
            sqlite3.SQLITE_IOERR_SHMMAP,
        ),
        Fault.SERVER,
    ),
}
"""Extended codes that mean something else than their primary one: what reads the file itself."""

PRIMARY: dict[int, Fault] = {
    **dict.fromkeys(
        (
            *(sqlite3.SQLITE_OK, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_TOOBIG),
            *(sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_EMPTY),
            *(sqlite3.SQLITE_NOTFOUND, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_RANGE),
            *(sqlite3.SQLITE_NOTICE, sqlite3.SQLITE_WARNING, sqlite3.SQLITE_ROW),
            sqlite3.SQLITE_DONE,
        ),
        Fault.STATEMENT,
    ),
    sqlite3.SQLITE_INTERNAL: Fault.UNCLEAR,
    sqlite3.SQLITE_PERM: Fault.REFUSED,
    sqlite3.SQLITE_AUTH: Fault.REFUSED,
    sqlite3.SQLITE_READONLY: Fault.REFUSED,
    sqlite3.SQLITE_INTERRUPT: Fault.TIME,
    sqlite3.SQLITE_NOMEM: Fault.MEMORY,
    sqlite3.SQLITE_BUSY: Fault.PASSING,
    sqlite3.SQLITE_LOCKED: Fault.PASSING,
    sqlite3.SQLITE_SCHEMA: Fault.PASSING,
    sqlite3.SQLITE_PROTOCOL: Fault.PASSING,
    # A statement's temporary storage, where the file itself can be read.
    sqlite3.SQLITE_IOERR: Fault.UNCLEAR,
    sqlite3.SQLITE_FULL: Fault.UNCLEAR,
    sqlite3.SQLITE_CANTOPEN: Fault.UNCLEAR,
    sqlite3.SQLITE_CORRUPT: Fault.SERVER,
    sqlite3.SQLITE_NOTADB: Fault.SERVER,
    sqlite3.SQLITE_NOLFS: Fault.SERVER,
    sqlite3.SQLITE_MISUSE: Fault.OURS,
}


def fault_of(code: int) -> Fault:
    """Return what a result code means; 0 is what the driver itself says, of the statement."""
    known = CODES.get(code)
    return known if known is not None else PRIMARY.get(code & 0xFF, Fault.UNCLEAR)
