"""The meaning of Neo4j's status codes (``Neo.CLASS.CATEGORY.TITLE``) and of its driver's errors.

The classes do not show the cause: a negative length of a text is a `DatabaseError`. Other codes are
unclear, so a trivial statement decides.
https://neo4j.com/docs/status-codes/5/errors/all-errors/
"""

from __future__ import annotations

from neo4j import exceptions

from dqa.databases.errors import Fault

_TITLES: dict[Fault, str] = {
    Fault.TIME: "ExecutionTimeout ProcedureTimedOut TransactionTimedOut "
    "TransactionTimedOutClientConfiguration",
    Fault.MEMORY: "MemoryPoolOutOfMemoryError OutOfMemoryError TransactionMemoryLimit "
    "TransactionOutOfMemoryError",
    Fault.ACCESS: "AuthenticationRateLimit CredentialsExpired TokenExpired Unauthorized",
    Fault.REFUSED: "AccessMode Forbidden ForbiddenDueToTransactionType NotALeader "
    "ForbiddenOnReadOnlyDatabase WriteOnReadOnlyAccessDatabase",
    Fault.CONNECTION: "DatabaseUnavailable",
    Fault.PASSING: "DeadlockDetected LockClientStopped Outdated",
}
_FAULTS = {title: fault for fault, titles in _TITLES.items() for title in titles.split()}


def fault_of(code: str) -> Fault:
    """Return the meaning of a status code."""
    _, _, category, title = (*code.split("."), "", "", "", "")[:4]
    is_statement = category in {"Statement", "Schema", "Procedure"} and "Remote" not in title
    return _FAULTS.get(title, Fault.STATEMENT if is_statement else Fault.UNCLEAR)


def fault_of_driver(error: Exception) -> Fault:
    """Return the meaning of an exception that the driver itself raises."""
    if isinstance(error, (exceptions.ServiceUnavailable, exceptions.SessionExpired, OSError)):
        return Fault.CONNECTION
    if isinstance(error, (exceptions.UnsupportedServerProduct, exceptions.ConfigurationError)):
        return Fault.ACCESS
    return Fault.UNCLEAR
