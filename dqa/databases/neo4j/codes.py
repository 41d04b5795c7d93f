"""What Neo4j's status codes mean: ``Neo.CLASS.CATEGORY.TITLE``.

Its classes say who may try again, and not whose fault it was: a negative length of a text and a bad
unit of time are a `DatabaseError`. https://neo4j.com/docs/status-codes/5/errors/all-errors/
"""

from __future__ import annotations

from neo4j import exceptions

from dqa.databases.faults import Fault

CODES: dict[str, Fault] = {
    "Cluster.NotALeader": Fault.REFUSED,  # only what writes is for a leader
    "Cluster.ReplicationFailure": Fault.SERVER,
    "Cluster.Routing": Fault.SERVER,
    "Database.DatabaseLimitReached": Fault.STATEMENT,
    "Database.DatabaseNotFound": Fault.UNCLEAR,  # this one, or one that the statement names
    "Database.UnableToStartDatabase": Fault.SERVER,
    "Database.Unknown": Fault.SERVER,
    "Fabric.AccessMode": Fault.REFUSED,
    "General.DatabaseUnavailable": Fault.CONNECTION,
    "General.ForbiddenOnReadOnlyDatabase": Fault.REFUSED,
    "General.IndexCorruptionDetected": Fault.SERVER,
    "General.MemoryPoolOutOfMemoryError": Fault.MEMORY,
    "General.OutOfMemoryError": Fault.MEMORY,
    "General.SchemaCorruptionDetected": Fault.SERVER,
    "General.StorageDamageDetected": Fault.SERVER,
    "General.TransactionMemoryLimit": Fault.MEMORY,
    "General.TransactionOutOfMemoryError": Fault.MEMORY,
    "General.UpgradeRequired": Fault.SERVER,
    "General.WriteOnReadOnlyAccessDatabase": Fault.REFUSED,
    "Procedure.ProcedureTimedOut": Fault.TIME,
    "Request.NoThreadsAvailable": Fault.SERVER,
    "Request.ResourceExhaustion": Fault.SERVER,
    "Routing.DbmsInPanic": Fault.SERVER,
    "Security.AuthenticationRateLimit": Fault.ACCESS,
    "Security.CredentialsExpired": Fault.ACCESS,
    "Security.TokenExpired": Fault.ACCESS,
    "Security.Unauthorized": Fault.ACCESS,
    "Security.AuthorizationExpired": Fault.PASSING,
    "Security.AuthProviderFailed": Fault.SERVER,
    "Security.AuthProviderTimeout": Fault.SERVER,
    "Security.Forbidden": Fault.REFUSED,
    "Security.ModifiedConcurrently": Fault.PASSING,
    "Statement.AccessMode": Fault.REFUSED,
    "Statement.ExecutionTimeout": Fault.TIME,
    "Statement.RemoteExecutionFailed": Fault.UNCLEAR,
    "Statement.RemoteExecutionTransientError": Fault.UNCLEAR,
    "Transaction.ForbiddenDueToTransactionType": Fault.REFUSED,
    "Transaction.LockClientStopped": Fault.PASSING,
    "Transaction.Terminated": Fault.UNCLEAR,  # somebody has ended it, who had reasons
    "Transaction.TransactionLogError": Fault.SERVER,
    "Transaction.TransactionStartFailed": Fault.UNCLEAR,
    "Transaction.TransactionTimedOut": Fault.TIME,
    "Transaction.TransactionTimedOutClientConfiguration": Fault.TIME,
}
"""Codes by category and title that mean something else than their category does."""

CATEGORIES: dict[str, Fault] = {
    "ChangeDataCapture": Fault.STATEMENT,
    "Cluster": Fault.STATEMENT,
    "Database": Fault.STATEMENT,  # what names another database
    "Fabric": Fault.UNCLEAR,
    "General": Fault.UNCLEAR,
    "Procedure": Fault.STATEMENT,
    "Request": Fault.OURS,  # a message that is none
    "Routing": Fault.SERVER,
    "Schema": Fault.STATEMENT,
    "Statement": Fault.STATEMENT,
    "Transaction": Fault.UNCLEAR,
}
TRANSIENT: dict[str, Fault] = {"Transaction": Fault.PASSING}
"""What a `TransientError` of a category means instead: as a deadlock."""


def fault_of(code: str) -> Fault:
    """Return what a status code means."""
    _, kind, category, title = (*code.split("."), "", "", "", "")[:4]
    known = CODES.get(f"{category}.{title}")
    if known is not None:
        return known
    if kind == "TransientError" and category in TRANSIENT:
        return TRANSIENT[category]
    return CATEGORIES.get(category, Fault.UNCLEAR)


DRIVER: dict[type[Exception], Fault] = {
    exceptions.ServiceUnavailable: Fault.CONNECTION,
    exceptions.SessionExpired: Fault.CONNECTION,
    exceptions.ConnectionPoolError: Fault.SERVER,
    exceptions.UnsupportedServerProduct: Fault.ACCESS,
    exceptions.ConfigurationError: Fault.ACCESS,
    exceptions.BrokenRecordError: Fault.STATEMENT,
    exceptions.ResultFailedError: Fault.CONNECTION,
    exceptions.ResultError: Fault.OURS,
    exceptions.SessionError: Fault.OURS,
    exceptions.TransactionError: Fault.OURS,
    exceptions.DriverError: Fault.UNCLEAR,
    OSError: Fault.CONNECTION,
}
"""What the driver's own exceptions mean; of several classes the first."""


def fault_of_driver(error: Exception) -> Fault:
    """Return what an exception of the driver's own means."""
    return next((fault for kind, fault in DRIVER.items() if isinstance(error, kind)), Fault.OURS)
