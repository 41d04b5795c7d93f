"""Who is responsible for a failed statement, and the error that the caller gets.

Each engine maps its codes to faults. An unclear fault is the statement's if the database answers
another statement afterwards. So an odd statement is never an outage, and an outage is never a wrong
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from time import perf_counter

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    NotUnderstoodError,
    StatementError,
    UnknownReferenceError,
    UsageError,
)
from dqa.databases.failures import brief, failed, out_of_memory, refused, timed_out


class Fault(Enum):
    """The meaning of a database's error."""

    STATEMENT = "statement"
    """The statement is wrong."""
    NOT_UNDERSTOOD = "not understood"
    """The statement is wrong, perhaps of another dialect."""
    UNKNOWN_NAME = "unknown name"
    """The statement names something that does not exist."""
    REFUSED = "refused"
    """The session or the role may not run the statement."""
    TIME = "time"
    """The statement was stopped at its limit."""
    MEMORY = "memory"
    """The statement needs more memory than one may have."""
    UNCLEAR = "unclear"
    """The statement's fault if the database answers others, else the server's."""
    PASSING = "passing"
    """The cause has passed: try again; after that, unclear."""
    CONNECTION = "connection"
    """The connection broke: try again if nothing had been sent; else, unclear."""
    SERVER = "server"
    """The server is broken, full or cannot be reached."""
    ACCESS = "access"
    """The user must correct the account, password or rights."""
    OURS = "ours"
    """A bug of this project: the driver was used wrongly."""


_ASKING = 0.75
"""Least seconds for the answer to a trivial statement."""
_SUSPECTS = 1_000
"""Statements remembered that have broken connections."""


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

    @property
    def may_retry(self) -> bool:
        """Whether a second attempt is useful and harmless."""
        return self.fault is Fault.PASSING or (self.fault is Fault.CONNECTION and not self.is_sent)


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
        started = perf_counter()
        is_suspect = statement in self._suspects
        if is_suspect:
            self._require_answer(limits, 0.0)
        try:
            rows = self._run_once(statement, limits)
        except UnsettledError as error:
            unsettled = error
        else:
            self._suspects.discard(statement)
            return rows
        if unsettled.failure.fault is Fault.CONNECTION:
            self._renew()
        left = limits.seconds - (perf_counter() - started)
        if unsettled.failure.may_retry and not is_suspect and left > 0:
            try:
                return self._run_once(statement, limits.left(left))
            except UnsettledError as error:
                unsettled = error
            except DatabaseUnavailableError:
                self._suspect(statement)
                raise
        try:
            self._require_answer(limits, perf_counter() - started)
        except DatabaseUnavailableError as away:
            if not is_suspect:
                self._suspect(statement)
                raise DatabaseUnavailableError(str(unsettled)) from away
        raise _statement_error(unsettled) from unsettled

    def _require_answer(self, limits: Limits, taken: float) -> None:
        """Raise `DatabaseUnavailableError` if the database does not answer twice."""
        limits = limits.left(max(limits.seconds - taken, _ASKING))
        started = perf_counter()
        try:
            try:
                self._run_once(self._trivial, limits)
            except UnsettledError:
                # The connection may have broken earlier: ask on a new one.
                left = limits.seconds - (perf_counter() - started)
                if left <= 0:
                    raise
                self._renew()
                self._run_once(self._trivial, limits.left(left))
        except DqaError as error:
            raise DatabaseUnavailableError(str(error)) from error

    def _suspect(self, statement: str) -> None:
        if len(self._suspects) >= _SUSPECTS:
            self._suspects.clear()
        self._suspects.add(statement)


def _statement_error(unsettled: UnsettledError) -> StatementError:
    """Return the error of a statement that is at fault."""
    problem = unsettled.failure.problem
    if unsettled.failure.fault is not Fault.CONNECTION:
        return StatementError(f"{problem}.")
    return StatementError(
        f"The connection to the database broke at this statement, and not at others: {problem}. "
        "Write one that needs less."
    )
