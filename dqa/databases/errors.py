"""Map errors of databases to their causes and to errors for the caller.

Each engine maps its error codes to faults. If a fault is unclear, a trivial statement runs. If the
database answers this statement, the database works, and the failed statement is wrong. An unusual
statement is therefore never reported as an outage, and an outage is never reported as a wrong
statement.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from functools import cache
from pathlib import Path

from dqa.core import errors
from dqa.core.secrets import redact
from dqa.core.text import shortened

LONGEST = 1_900
"""The maximum number of characters of an engine's message, which may quote long values."""
_UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, SystemError),
    *(TypeError, ValueError, struct.error),
)
"""Exceptions of drivers for values that Python cannot represent: too large dates and numbers, text
that is not UTF-8, maps with lists as keys, deep nesting."""


class Fault(Enum):
    """The cause of a database's error."""

    STATEMENT = auto()
    """The statement is wrong."""
    NOT_UNDERSTOOD = auto()
    """The statement is wrong, or is written in another dialect."""
    REFUSED = auto()
    """The session or the role may not run the statement."""
    TIME = auto()
    """The statement was stopped at its limit."""
    MEMORY = auto()
    """The statement needs more memory than a statement may have."""
    UNCLEAR = auto()
    """Not known yet. If the database answers a trivial statement, the failed statement is wrong."""
    PASSING = auto()
    """The cause may be temporary, so the statement runs again. A second failure is `UNCLEAR`."""
    LOST = auto()
    """The server ended the connection. dqa handles this fault like `UNCLEAR`."""
    SERVER = auto()
    """The server is broken, full or unreachable, or rejects the login."""


@cache
def read_faults(engine: str) -> dict[str, Fault]:
    """Return the `Fault` for each error code of an engine, from ``faults.toml``."""
    import tomllib  # most workers end before an error

    text = Path(__file__).with_name("faults.toml").read_text("utf-8")
    known = tomllib.loads(text)[engine]
    return {code: Fault[name] for name, codes in known.items() for code in codes.split()}


class UnsettledError(errors.DatabaseUnavailableError):
    """A statement failed, and its error does not show the cause.

    Parameters
    ----------
    database
        The name of the database.
    problem
        The message of the database.
    may_pass
        Whether the cause may be temporary, so that the statement runs again.
    is_lost
        Whether the server closed the connection.
    """

    def __init__(
        self, database: str, problem: str, *, may_pass: bool = False, is_lost: bool = False
    ) -> None:
        super().__init__(str(failed(database, problem)))
        self.problem, self.may_pass, self.is_lost = problem, may_pass, is_lost


class UnreadableError(errors.StatementError):
    """A driver cannot read a value of a result. The server may still send the remaining rows."""


@contextmanager
def driver_reads() -> Iterator[None]:
    """Raise `UnreadableError` if a driver cannot read a value in this context.

    Use this context only for calls of a driver, because bugs of dqa raise the same exceptions.
    """
    try:
        yield
    except MemoryError as error:
        raise UnreadableError(str(out_of_memory())) from error
    except _UNREADABLE as error:
        problem = shortened(one_line(error), LONGEST)
        raise UnreadableError(
            f"The database's driver cannot read this result ({type(error).__name__}: {problem}). "
            "Select the value as text, or only a part of it."
        ) from error


def refused_script(engine: str, error: Exception) -> errors.DataError:
    """Return the error for a script that an engine refuses."""
    if isinstance(error, errors.DataError):  # the content was a situation, not a script
        return error
    return errors.DataError(f"{engine} rejects the script: {one_line(error)}.")


def out_of_memory() -> errors.StatementError:
    """Return the error for a statement that needs too much memory."""
    return errors.StatementError(
        "The statement needs more memory than the limit allows. Aggregate, filter or use LIMIT."
    )


def refused(problem: str) -> errors.RefusedStatementError:
    """Return the error for a statement that the session may not run."""
    return errors.RefusedStatementError(f"The statement was not run: {problem}.")


def failed(name: str, problem: str) -> errors.DatabaseUnavailableError:
    """Return the error for a database that cannot run statements."""
    return errors.DatabaseUnavailableError(f"Database '{name}' failed: {problem}.")


def one_line(error: object) -> str:
    """Return a driver's message as one line, without secrets and without the final full stop."""
    original = getattr(error, "orig", None) or error
    arguments: tuple[object, ...] = getattr(original, "args", ())
    # PyMySQL's errors consist of a number and a text.
    is_pair = len(arguments) > 1 and isinstance(arguments[0], int)
    return redact(" ".join(str(arguments[1] if is_pair else original).split())).rstrip(".")


def first_line(error: Exception) -> str:
    """Return the first line of an error. The other lines contain guesses and the statement."""
    return one_line(str(error).strip().partition("\n")[0]).rstrip("!")
