"""The meaning of Neo4j's status codes (``Neo.CLASS.CATEGORY.TITLE``) and of its driver's errors.

The classes do not show the cause: a negative length of a text is a `DatabaseError`. Other codes are
unclear, so a trivial statement decides.
https://neo4j.com/docs/status-codes/5/errors/all-errors/
"""

from __future__ import annotations

from neo4j import exceptions

from dqa.databases.faults import Fault

_BY_TITLE: dict[Fault, frozenset[str]] = {
    Fault.TIME: frozenset(
        {
            *("ExecutionTimeout", "ProcedureTimedOut", "TransactionTimedOut"),
            "TransactionTimedOutClientConfiguration",
        }
    ),
    Fault.MEMORY: frozenset(
        {
            *("MemoryPoolOutOfMemoryError", "OutOfMemoryError", "TransactionMemoryLimit"),
            "TransactionOutOfMemoryError",
        }
    ),
    Fault.ACCESS: frozenset(
        {"AuthenticationRateLimit", "CredentialsExpired", "TokenExpired", "Unauthorized"}
    ),
    Fault.REFUSED: frozenset(
        {
            *("AccessMode", "Forbidden", "ForbiddenDueToTransactionType"),
            *("ForbiddenOnReadOnlyDatabase", "NotALeader", "WriteOnReadOnlyAccessDatabase"),
        }
    ),
    Fault.CONNECTION: frozenset({"DatabaseUnavailable"}),
    Fault.PASSING: frozenset({"DeadlockDetected", "LockClientStopped", "Outdated"}),
}
_BY_ERROR: dict[type[Exception], Fault] = {
    exceptions.ServiceUnavailable: Fault.CONNECTION,
    exceptions.SessionExpired: Fault.CONNECTION,
    OSError: Fault.CONNECTION,
    exceptions.UnsupportedServerProduct: Fault.ACCESS,
    exceptions.ConfigurationError: Fault.ACCESS,
}


def fault_of(code: str) -> Fault:
    """Return the meaning of a status code."""
    _, _, category, title = (*code.split("."), "", "", "", "")[:4]
    for fault, titles in _BY_TITLE.items():
        if title in titles:
            return fault
    is_statement = category in {"Statement", "Schema", "Procedure"} and "Remote" not in title
    return Fault.STATEMENT if is_statement else Fault.UNCLEAR


def fault_of_driver(error: Exception) -> Fault:
    """Return the meaning of an exception that the driver itself raises."""
    return next(
        (fault for kind, fault in _BY_ERROR.items() if isinstance(error, kind)), Fault.UNCLEAR
    )
