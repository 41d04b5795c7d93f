"""Errors of statements: what a database reports, who is responsible, and what the caller gets.

Each engine maps its codes to faults. An unclear one is the statement's if the database answers
another statement afterwards. So an odd statement is never an outage, and an outage is never a wrong
answer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto
from time import perf_counter

from dqa.core.database import Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    RefusedStatementError,
    StatementError,
)
from dqa.core.secrets import redact

_LONGEST, _HEAD, _TAIL = 2_000, 1_000, 500
"""Characters of an engine's message, and of its ends if it is longer."""
_ASKING = 0.75
"""Least seconds for the answer to a trivial statement."""
_UNREADABLE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, SystemError),
    *(TypeError, ValueError, struct.error),
)
"""Exceptions of drivers for values that Python lacks: dates and numbers that are too large, text
that is not UTF-8, maps with lists as keys, deep nesting."""


class Fault(Enum):
    """The meaning of a database's error."""

    STATEMENT = auto()
    """The statement is wrong."""
    NOT_UNDERSTOOD = auto()
    """The statement is wrong, perhaps of another dialect."""
    UNKNOWN_NAME = auto()
    """The statement names something that does not exist."""
    REFUSED = auto()
    """The session or the role may not run the statement."""
    TIME = auto()
    """The statement was stopped at its limit."""
    MEMORY = auto()
    """The statement needs more memory than one may have."""
    UNCLEAR = auto()
    """The statement's fault if the database answers others, else the server's."""
    PASSING = auto()
    """The cause has passed, or nothing had been sent: try again; after that, unclear."""
    SERVER = auto()
    """The server is broken, full or cannot be reached, or lets the user in no longer."""


def read_faults(codes: Mapping[Fault, str]) -> dict[str, Fault]:
    """Return faults by code, from texts that list the codes of each."""
    return {code: fault for fault, listed in codes.items() for code in listed.split()}


class UnsettledError(DatabaseUnavailableError):
    """A statement failed, and its error alone does not show the cause.

    Parameters
    ----------
    database
        The database's name.
    problem
        Its report.
    may_pass
        Whether to run the statement again.
    """

    def __init__(self, database: str, problem: str, *, may_pass: bool = False) -> None:
        super().__init__(str(failed(database, problem)))
        self.problem, self.may_pass = problem, may_pass


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


class Attempts:
    """Runs the statements of a session, and finds the cause of a failure.

    A statement runs once more if the cause of its failure may have passed. If it fails again, or
    the cause is unclear, a trivial statement decides: a database that answers it works, so the
    statement is at fault. After a statement that takes the whole server down no one answers. Such a
    statement is remembered; if the server answers before it runs again, it is at fault for what
    happens next.

    Parameters
    ----------
    run_once
        Runs a statement; raises `UnsettledError` for an unclear failure.
    trivial
        A statement that every working database answers.
    """

    def __init__(self, run_once: Callable[[str, Limits], Rows], trivial: str) -> None:
        self._run_once, self._trivial = run_once, trivial
        self._suspects: set[str] = set()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; errors as `dqa.core.session.Session.run` has them."""
        until = perf_counter() + limits.seconds
        is_suspect = statement in self._suspects
        if is_suspect:
            self._require_answer(limits, until)
        try:
            return self._run_once(statement, limits)
        except UnsettledError as error:
            unsettled = error
        seconds = until - perf_counter()
        if unsettled.may_pass and not is_suspect and seconds > 0:
            try:
                return self._run_once(statement, replace(limits, seconds=seconds))
            except UnsettledError as error:
                unsettled = error
            except DatabaseUnavailableError:
                pass  # the failure before may be the cause
        try:
            self._require_answer(limits, until)
        except DatabaseUnavailableError as away:
            if not is_suspect:
                self._suspects.add(statement)
                raise DatabaseUnavailableError(str(unsettled)) from away
        raise StatementError(f"{unsettled.problem}.") from unsettled

    def _require_answer(self, limits: Limits, until: float) -> None:
        """Raise `DatabaseUnavailableError` if the database does not answer."""
        seconds = max(until - perf_counter(), _ASKING)
        try:
            self._run_once(self._trivial, replace(limits, seconds=seconds))
        except DqaError as error:
            raise DatabaseUnavailableError(str(error)) from error


def refused_script(engine: str, error: Exception) -> DataError:
    """Return the error of an engine that refuses a script."""
    if isinstance(error, DataError):  # of a situation
        return error
    return DataError(f"{engine} refuses the script: {one_line(error)}.")


def out_of_memory() -> StatementError:
    """Return the error of a statement that took too much memory."""
    return StatementError(
        "The statement needs more memory than it may have; aggregate, filter or use LIMIT."
    )


def refused(problem: str) -> RefusedStatementError:
    """Return the error of a statement that the session may not run."""
    return RefusedStatementError(f"The statement was not run: {problem}.")


def failed(name: str, problem: str) -> DatabaseUnavailableError:
    """Return the error of a database that cannot run statements."""
    return DatabaseUnavailableError(f"Database '{name}' failed: {problem}.")


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


def first_line(error: Exception) -> str:
    """Return the first line of an error: guesses and the statement follow."""
    return one_line(str(error).strip().partition("\n")[0]).rstrip("!")
