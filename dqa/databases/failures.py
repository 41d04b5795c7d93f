"""What to tell the author of a statement that failed, in the same words on every database."""

from __future__ import annotations

from dqa.core.database import Kind, Limits
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    RefusedStatementError,
    StatementError,
    StatementTimeoutError,
)
from dqa.core.secrets import redact

_READ_LESS: dict[Kind, str] = {
    "relational": "filter earlier, join on keys, bound recursion",
    "graph": "connect the patterns, filter earlier, bound path lengths",
}


def refused_script(engine: str, error: Exception) -> DataError:
    """Return the error of an engine that refuses a script."""
    return DataError(f"{engine} refuses the script: {one_line(error)}.")


def timed_out(limits: Limits, kind: Kind) -> StatementTimeoutError:
    """Return the error of a statement that took too long."""
    return StatementTimeoutError(
        f"The statement was stopped after {limits.seconds:g} seconds. "
        f"Write one that reads less: {_READ_LESS[kind]}."
    )


def out_of_memory() -> StatementError:
    """Return the error of a statement that took too much memory."""
    return StatementError(
        "The statement needs more memory than it may have; aggregate, filter or use LIMIT."
    )


def refused(problem: str) -> RefusedStatementError:
    """Return the error of a statement that the session may not run."""
    return RefusedStatementError(f"The statement was not run: {problem}.")


def failed(name: str, problem: str) -> DatabaseUnavailableError:
    """Return the error of a database that cannot go on."""
    return DatabaseUnavailableError(f"Database '{name}' failed: {problem}.")


def unanswered(name: str, limits: Limits) -> DatabaseUnavailableError:
    """Return the error of a server that neither ends a statement nor says that it will."""
    return DatabaseUnavailableError(
        f"Database '{name}' does not answer: the statement did not come back within "
        f"{limits.seconds:g} seconds, nor did an attempt to end it."
    )


def broken(problem: str) -> StatementError:
    """Return the error of a statement during which its server broke the connection."""
    return StatementError(
        f"The server broke the connection while this statement ran: {problem}. It was not run "
        "again; write one that needs less."
    )


def gone(name: str, problem: str) -> DatabaseUnavailableError:
    """Return the error of a server that broke the connection and cannot be reached any more."""
    return DatabaseUnavailableError(f"Database '{name}' broke the connection: {problem}.")


def one_line(error: object) -> str:
    """Return what a driver says on one line, without secrets and the full stop."""
    original = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = getattr(original, "args", ())
    # PyMySQL's errors are pairs of a number and a text.
    is_pair = len(arguments) > 1 and isinstance(arguments[0], int)
    return redact(" ".join(str(arguments[1] if is_pair else original).split())).rstrip(".")
