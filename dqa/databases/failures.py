"""Errors of statements in the same words on every database."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager

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
_LONGEST, _HEAD, _TAIL = 2_000, 1_000, 500
"""Characters of an engine's message, and of its ends if it is longer."""

_UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, SystemError),
    *(TypeError, ValueError, struct.error),
)
"""Exceptions of drivers for values that Python lacks: dates and numbers that are too large, text
that is not UTF-8, maps with lists as keys, deep nesting."""


class UnreadableError(StatementError):
    """A driver cannot read a result; the rest of it may still be on its way."""


@contextmanager
def driver_reads() -> Iterator[None]:
    """Turn a driver's exception for an unreadable value into the statement's error.

    Call only a driver within this context: bugs of this project raise the same exceptions.
    """
    try:
        yield
    except MemoryError as error:
        raise UnreadableError(str(out_of_memory())) from error
    except _UNREADABLE as error:
        raise UnreadableError(
            f"The database's driver cannot read this result ({type(error).__name__}: "
            f"{brief(one_line(error))}). Return the value as text, or a part of it."
        ) from error


def refused_script(engine: str, error: Exception) -> DataError:
    """Return the error of an engine that refuses a script."""
    return DataError(f"{engine} refuses the script: {one_line(error)}.")


def timed_out(limits: Limits, kind: Kind) -> StatementTimeoutError:
    """Return the error of a statement that took too long."""
    return StatementTimeoutError(
        f"The statement was stopped after {limits.told:g} seconds. "
        f"Write one that reads less: {_READ_LESS[kind]}, compute fewer alternatives at once. "
        "EXPLAIN before it shows the plan."
    )


def out_of_memory() -> StatementError:
    """Return the error of a statement that took too much memory."""
    return StatementError(
        "The statement needs more memory than it may have; aggregate, filter or use LIMIT."
    )


def crashed(how: str) -> StatementError:
    """Return the error of a statement that crashed the engine; `how` is the system's report."""
    return StatementError(
        f"The statement crashed the database engine ({how}). Write it in another way: with fewer "
        "conversions, with arguments of the types that a function expects, with smaller values."
    )


def with_version(problem: str, engine: str) -> str:
    """Return the problem of a statement that another version may understand."""
    return f"{problem}; this is {engine}"


def refused(problem: str) -> RefusedStatementError:
    """Return the error of a statement that the session may not run."""
    return RefusedStatementError(f"The statement was not run: {problem}.")


def failed(name: str, problem: str) -> DatabaseUnavailableError:
    """Return the error of a database that cannot run statements."""
    return DatabaseUnavailableError(f"Database '{name}' failed: {problem}.")


def unanswered(name: str, limits: Limits) -> DatabaseUnavailableError:
    """Return the error of a server that neither ends a statement nor answers otherwise."""
    return DatabaseUnavailableError(
        f"Database '{name}' does not answer: the statement did not end within "
        f"{limits.told:g} seconds, nor did an attempt to end it."
    )


def brief(problem: str) -> str:
    """Return a message without the middle if it is too long: engines repeat long values."""
    if len(problem) <= _LONGEST:
        return problem
    return f"{problem[:_HEAD]}... [{len(problem)} characters] ...{problem[-_TAIL:]}"


def one_line(error: object) -> str:
    """Return a driver's message on one line, without secrets and without a full stop."""
    original = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = getattr(original, "args", ())
    # PyMySQL's errors are pairs of a number and a text.
    is_pair = len(arguments) > 1 and isinstance(arguments[0], int)
    return redact(" ".join(str(arguments[1] if is_pair else original).split())).rstrip(".")
