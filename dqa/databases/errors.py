"""Errors of statements: what a database reports, who is responsible, and what the caller gets.

Each engine maps its codes to faults. An unclear fault is the statement's if the database answers
another statement afterwards. So an odd statement is never an outage, and an outage is never a wrong
answer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, auto
from time import perf_counter

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    NotUnderstoodError,
    RefusedStatementError,
    StatementError,
    UnknownReferenceError,
    UsageError,
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
    """The cause has passed: try again; after that, unclear."""
    CONNECTION = auto()
    """The connection broke: try again if nothing had been sent; else, unclear."""
    SERVER = auto()
    """The server is broken, full or cannot be reached."""
    ACCESS = auto()
    """The user must correct the account, password or rights."""
    OURS = auto()
    """A bug of this project: the driver was used wrongly."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A database's report on a failed statement.

    Attributes
    ----------
    fault
        Its meaning.
    problem
        The message on one line without a full stop; a long one is shortened.
    name
        The unknown name.
    outage
        The message if the server is at fault; None for the usual words.
    is_sent
        Whether the statement had been sent, so that it may have broken the connection.
    """

    fault: Fault
    problem: str
    name: str | None = None
    outage: str | None = None
    is_sent: bool = True

    def __post_init__(self) -> None:
        """Shorten the message, which may repeat a value of any length."""
        object.__setattr__(self, "problem", brief(self.problem))


class UnsettledError(DatabaseUnavailableError):
    """A statement failed, and its error alone does not show the cause.

    Parameters
    ----------
    database
        The database's name.
    failure
        Its report.
    """

    def __init__(self, database: str, failure: Failure) -> None:
        super().__init__(failure.outage or str(failed(database, failure.problem)))
        self.failure = failure


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


def error_of(  # noqa: PLR0911
    failure: Failure, error: Exception, database: str, kind: Kind, limits: Limits
) -> DqaError:
    """Return the error of a failure; raise the driver's exception for a bug of this project.

    Parameters
    ----------
    failure
        The database's report.
    error
        The driver's exception.
    database, kind
        The database's name and kind.
    limits
        The limits of the statement.
    """
    problem = failure.problem
    match failure.fault:
        case Fault.OURS:
            raise error
        case Fault.UNKNOWN_NAME if failure.name:
            return UnknownReferenceError(problem, failure.name)
        case Fault.NOT_UNDERSTOOD:
            return NotUnderstoodError(f"{problem}.")
        case Fault.REFUSED:
            return refused(problem)
        case Fault.TIME:
            return timed_out(limits, kind)
        case Fault.MEMORY:
            return out_of_memory()
        case Fault.UNCLEAR | Fault.PASSING | Fault.CONNECTION:
            return UnsettledError(database, failure)
        case Fault.SERVER:
            return failed(database, problem)
        case Fault.ACCESS:
            return UsageError(f"Database '{database}' does not let this user in: {problem}.")
        case _:
            return StatementError(f"{problem}.")


class Attempts:
    """Runs the statements of a session, and finds the cause of a failure.

    A statement runs again, once, if its connection broke before it was sent or if the cause has
    passed. If it fails again, or the cause is unclear, a trivial statement decides: a database that
    answers it works, so the statement is at fault. After a statement that takes the whole server
    down no one answers. Such a statement is remembered; before it runs again the server is asked,
    and the statement is at fault for what happens next.

    Parameters
    ----------
    run_once
        Runs a statement; raises `UnsettledError` as `error_of` returns it.
    trivial
        A statement that every working database answers.
    renew
        Makes sure that the next statement has a new connection.
    """

    def __init__(
        self,
        run_once: Callable[[str, Limits], Rows],
        trivial: str,
        renew: Callable[[], object] = lambda: None,
    ) -> None:
        self._run_once = run_once
        self._trivial = trivial
        self._renew = renew
        self._suspects: set[str] = set()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; errors as `dqa.core.session.Session.run` has them."""
        until = perf_counter() + limits.seconds
        is_suspect = statement in self._suspects
        if is_suspect:
            self._require_answer(limits, until)
        left = limits
        while True:
            try:
                rows = self._run_once(statement, left)
            except UnsettledError as error:
                failure, unsettled = error.failure, error
            else:
                self._suspects.discard(statement)
                return rows
            is_broken = failure.fault is Fault.CONNECTION
            may_retry = failure.fault is Fault.PASSING or (is_broken and not failure.is_sent)
            if is_broken:
                self._renew()
            if is_suspect or not may_retry or left is not limits or perf_counter() >= until:
                break
            left = replace(limits, seconds=until - perf_counter())
        try:
            self._require_answer(limits, until)
        except DatabaseUnavailableError as away:
            if not is_suspect:
                self._suspects.add(statement)
                raise DatabaseUnavailableError(str(unsettled)) from away
        if not is_broken:
            raise StatementError(f"{failure.problem}.") from unsettled
        raise StatementError(
            "The connection to the database broke at this statement, and not at others: "
            f"{failure.problem}. Write one that needs less."
        ) from unsettled

    def _require_answer(self, limits: Limits, until: float) -> None:
        """Raise `DatabaseUnavailableError` if the database does not answer."""
        try:
            self._run_once(
                self._trivial, replace(limits, seconds=max(until - perf_counter(), _ASKING))
            )
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
