"""Whose fault it is that a statement failed, and the error that it becomes.

Each backend has a table of what its database's codes mean (`codes.py`), and here is what follows
from that, the same for all of them. What is not known to be the server's is the statement's where
the database answers another one afterwards: no statement is an outage because it is odd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from threading import Lock
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
    """What a database's error means: the statement's fault, the server's, or ours."""

    STATEMENT = "statement"
    """The statement's: its author is told."""
    NOT_UNDERSTOOD = "not understood"
    """The statement's, which may be of another dialect."""
    UNKNOWN_NAME = "unknown name"
    """The statement's: it names what is not there."""
    REFUSED = "refused"
    """The statement's: it wants what the session or the user may not do."""
    TIME = "time"
    """The statement's: it was stopped at its limit."""
    MEMORY = "memory"
    """The statement's: it needs more memory than there is for one."""
    UNCLEAR = "unclear"
    """The statement's where the database goes on answering, else the server's."""
    PASSING = "passing"
    """What came between is over: a second attempt is worth it, after which it is as unclear."""
    CONNECTION = "connection"
    """The connection broke: as unclear, unless nothing had been sent, which may be sent again."""
    SERVER = "server"
    """The server's, whatever is asked: it is broken, full, or not to be reached."""
    ACCESS = "access"
    """Neither's: whoever runs this has to mend user, password or rights."""
    OURS = "ours"
    """Ours: the driver was used as it must not be."""


_ASKING = 0.75
"""Seconds at least that a database has to answer something trivial."""
_SUSPECTS = 1_000
"""Statements remembered that have broken connections."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a database said of a statement.

    Attributes
    ----------
    fault
        What it means.
    problem
        What it said, on one line and without the full stop; of what is too long its ends.
    name
        The name that it does not know.
    outage
        What to say where the server is at fault; None for the usual words.
    is_sent
        Whether the statement had been sent by then, so that it may be what broke a connection.
    """

    fault: Fault
    problem: str
    name: str | None = None
    outage: str | None = None
    is_sent: bool = True

    def __post_init__(self) -> None:
        """Keep of what it said what can be told: it may be as long as a value."""
        object.__setattr__(self, "problem", brief(self.problem))

    @property
    def is_over(self) -> bool:
        """Whether a second attempt is worth it, and harms nobody."""
        return self.fault is Fault.PASSING or (self.fault is Fault.CONNECTION and not self.is_sent)


class UnsettledError(DatabaseUnavailableError):
    """A statement failed, and it takes more than its error to know whose fault that was.

    Parameters
    ----------
    database
        What to call the database.
    failure
        What it said.
    """

    def __init__(self, database: str, failure: Failure) -> None:
        super().__init__(failure.outage or str(failed(database, failure.problem)))
        self.failure = failure


def error_of(
    failure: Failure, error: Exception, database: str, kind: Kind, limits: Limits
) -> DqaError:
    """Return what a failure becomes; one that is ours is raised as it is, for it is a bug.

    Parameters
    ----------
    failure
        What the database said.
    error
        The driver's exception.
    database
        What to call the database.
    kind
        What it is.
    limits
        What the statement might have cost.
    """
    fault, problem = failure.fault, failure.problem
    if fault is Fault.UNKNOWN_NAME and failure.name:
        return UnknownReferenceError(problem, failure.name)
    simple: dict[Fault, Callable[[], DqaError]] = {
        Fault.NOT_UNDERSTOOD: lambda: NotUnderstoodError(f"{problem}."),
        Fault.REFUSED: lambda: refused(problem),
        Fault.TIME: lambda: timed_out(limits, kind),
        Fault.MEMORY: out_of_memory,
        Fault.UNCLEAR: lambda: UnsettledError(database, failure),
        Fault.PASSING: lambda: UnsettledError(database, failure),
        Fault.CONNECTION: lambda: UnsettledError(database, failure),
        Fault.SERVER: lambda: failed(database, problem),
        Fault.ACCESS: lambda: UsageError(
            f"Database '{database}' does not let this user in: {problem}."
        ),
    }
    if fault is Fault.OURS:
        raise error
    return simple.get(fault, lambda: StatementError(f"{problem}."))()


class Attempts:
    """Runs statements of one session, and settles whose fault it was where one failed.

    A statement is run again, once, where its connection broke before it was sent or what came
    between is over. Where it fails again, or what it met is unclear, a trivial statement decides:
    the database that answers that is well, so the statement is at fault. One that was sent when its
    connection broke may have broken it. A statement that takes the whole server down leaves
    nobody to ask; it is remembered. When it comes again the server is asked first, and what it does
    then is its own fault: no statement is an outage twice.

    Parameters
    ----------
    run_once
        Runs a statement; raises `UnsettledError` as `error_of` returns it.
    trivial
        A statement that any server answers which is well.
    renew
        Makes sure that the next statement has a new connection.
    """

    def __init__(
        self,
        run_once: Callable[[str, Limits], Rows],
        trivial: str,
        renew: Callable[[], None] = lambda: None,
    ) -> None:
        self._run_once = run_once
        self._trivial = trivial
        self._renew = renew
        self._suspects: dict[str, None] = {}
        self._lock = Lock()

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement; errors as `dqa.core.session.Session.run` has them."""
        started = perf_counter()
        is_suspect = statement in self._suspects
        if is_suspect:
            self._ask_trivially(limits, 0.0)
        try:
            rows = self._run_once(statement, limits)
        except UnsettledError as error:
            unsettled = error
        else:
            self._suspects.pop(statement, None)
            return rows
        if unsettled.failure.fault is Fault.CONNECTION:
            self._renew()
        left = limits.seconds - (perf_counter() - started)
        if unsettled.failure.is_over and not is_suspect and left > 0:
            try:
                return self._run_once(statement, limits.left(left))
            except UnsettledError as error:
                unsettled = error
            except DatabaseUnavailableError:
                self._suspect(statement)
                raise
        try:
            self._ask_trivially(limits, perf_counter() - started)
        except DatabaseUnavailableError as away:
            if not is_suspect:
                self._suspect(statement)
                raise DatabaseUnavailableError(str(unsettled)) from away
        raise _blamed(unsettled) from unsettled

    def _ask_trivially(self, limits: Limits, taken: float) -> None:
        """Raise `DatabaseUnavailableError` where the database does not answer, asked twice."""
        limits = limits.left(max(limits.seconds - taken, _ASKING))
        started = perf_counter()
        try:
            try:
                self._run_once(self._trivial, limits)
            except UnsettledError:
                # On a connection that had broken before, that took no time; else nobody is there.
                left = limits.seconds - (perf_counter() - started)
                if left <= 0:
                    raise
                self._renew()
                self._run_once(self._trivial, limits.left(left))
        except DqaError as error:
            raise DatabaseUnavailableError(str(error)) from error

    def _suspect(self, statement: str) -> None:
        with self._lock:
            if len(self._suspects) >= _SUSPECTS:
                del self._suspects[next(iter(self._suspects))]
            self._suspects[statement] = None


def _blamed(unsettled: UnsettledError) -> StatementError:
    """Return the error of a statement whose fault it was."""
    problem = unsettled.failure.problem
    if unsettled.failure.fault is not Fault.CONNECTION:
        return StatementError(f"{problem}.")
    return StatementError(
        f"The connection to the database broke at this statement, and not at others: {problem}. "
        "Write one that needs less."
    )
