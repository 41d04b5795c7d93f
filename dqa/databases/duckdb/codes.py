"""What DuckDB's exceptions mean: its driver has a class for each kind."""

from __future__ import annotations

import re

import duckdb

from dqa.databases.faults import Fault

CLASSES: dict[str, Fault] = {
    "InterruptException": Fault.TIME,
    "OutOfMemoryException": Fault.MEMORY,
    "PermissionException": Fault.REFUSED,
    "TransactionException": Fault.REFUSED,
    "ParserException": Fault.NOT_UNDERSTOOD,
    "CatalogException": Fault.NOT_UNDERSTOOD,
    "BinderException": Fault.STATEMENT,
    "ConstraintException": Fault.STATEMENT,
    "ConversionException": Fault.STATEMENT,
    "DependencyException": Fault.STATEMENT,
    "InvalidInputException": Fault.STATEMENT,
    "InvalidTypeException": Fault.STATEMENT,
    "NotImplementedException": Fault.STATEMENT,
    "OutOfRangeException": Fault.STATEMENT,
    "SequenceException": Fault.STATEMENT,
    "SerializationException": Fault.STATEMENT,
    "SyntaxException": Fault.STATEMENT,  # of an argument, as a pattern
    "TypeMismatchException": Fault.STATEMENT,
    # A bug of the engine's that this statement meets, after which it takes no others.
    "FatalException": Fault.STATEMENT,
    "InternalException": Fault.STATEMENT,
    "ResourceInUseException": Fault.PASSING,
    "ConnectionException": Fault.UNCLEAR,
    "HTTPException": Fault.REFUSED,
    "IOException": Fault.UNCLEAR,
    # The standard's families under which newer versions may raise what is not here.
    "DataError": Fault.STATEMENT,
    "IntegrityError": Fault.STATEMENT,
    "NotSupportedError": Fault.STATEMENT,
    "ProgrammingError": Fault.STATEMENT,
    "InternalError": Fault.UNCLEAR,
    "OperationalError": Fault.UNCLEAR,
    "DatabaseError": Fault.UNCLEAR,
    "Error": Fault.UNCLEAR,
}
_NO_FUNCTION = "No function matches"
_DAMAGED = re.compile("[Cc]hecksum|Corrupt database|[Cc]ould not read|No such file")
_INVALIDATED = "database has been invalidated"


def fault_of(error: duckdb.Error) -> Fault:
    """Return what an exception means."""
    said = str(error)
    if _INVALIDATED in said:
        return Fault.PASSING  # another statement's, after which the database is opened anew
    if isinstance(error, duckdb.BinderException) and _NO_FUNCTION in said:
        return Fault.NOT_UNDERSTOOD
    if isinstance(error, duckdb.IOException) and _DAMAGED.search(said):
        return Fault.SERVER
    kinds = (kind.__name__ for kind in type(error).__mro__)
    return next(CLASSES[name] for name in kinds if name in CLASSES)


def may_end_database(error: duckdb.Error) -> bool:
    """Whether the engine may take no other statement until the database is opened anew."""
    ends = isinstance(error, (duckdb.FatalException, duckdb.InternalException))
    return ends or _INVALIDATED in str(error)
