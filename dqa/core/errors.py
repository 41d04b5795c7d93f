"""All error classes of this project.

::

    DqaError
    ├── UsageError               the user asked for something impossible; exit code 2
    │   ├── UnknownNameError     an unknown decider, model, database, scenario or question
    │   ├── MissingKeyError      a credential or an optional package is missing
    │   ├── UnrecordedRequestError   a cassette lacks the reply to a request
    │   └── AuditError           the audit file cannot be written, so no statement returns rows
    ├── PluginError              a registered plug-in cannot be loaded
    ├── DataError                invalid files or tables; exit code 2
    │   ├── ParseError           a file, with the line and the problem
    │   ├── OutcomesError        the statement of a scenario lacks outcomes of candidates
    │   └── SituationError       a situation breaks the rules of its scenario
    ├── QueryError               a statement was refused or failed; the model sees the error
    │   ├── RefusedStatementError    the guard refuses the statement
    │   │   └── NotApprovedError         a person refused the statement
    │   ├── StatementError           the database could not run the statement
    │   │   ├── NotUnderstoodError       the statement may be written in another dialect
    │   │   └── UnknownReferenceError    the statement uses an unknown name
    │   └── StatementTimeoutError    the statement took longer than its time limit
    ├── ModelError               a chat model gave no usable reply
    │   ├── UnparsableReplyError     the reply breaks the format; the model is asked again
    │   │   └── InvalidAnswerError       the answer does not name exactly one candidate
    │   └── MalformedReplyError      the provider sent an incomplete reply; the request is retried
    ├── CrashError               too many decisions ended in bugs; their traces show them
    ├── StoppedError             a person stopped the decision in a review
    ├── BudgetSpentError         a run has spent its tokens or its money
    │   └── OutOfBudgetError         a decision has spent its budget and uses the evidence so far
    └── InfrastructureError      a server, network or provider failed; not scored as an answer
        ├── DatabaseUnavailableError
        │   └── GameTakenError           another process has restarted the game
        ├── ModelUnavailableError
        │   └── RequestTooLongError      one request is too long for the model
        └── WorldUnavailableError        the referee of a world failed, or its process ended

A `QueryError` or an `UnparsableReplyError` goes back to the model, which can correct itself. A
`UsageError`, a `DataError` or an `InfrastructureError` reaches the user as one line that says how
to fix the problem. A `MalformedReplyError` is retried. A `BudgetSpentError` ends a decision as
`dqa.core.decision.Ending.BUDGET`, a `StoppedError` as `dqa.core.decision.Ending.STOPPED`. Any other
exception is a bug. It ends one decision as `dqa.core.decision.Ending.CRASHED`, with the traceback
in the trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_NAMES_SHOWN = 20


class DqaError(Exception):
    """The base class of all errors that this project raises on purpose."""

    exit_code = 1


class UsageError(DqaError):
    """The user asked for something impossible."""

    exit_code = 2


class UnknownNameError(UsageError):
    """An unknown name.

    Parameters
    ----------
    kind
        The kind of object, e.g. ``"decider"``.
    name
        The unknown name.
    known
        The known names.
    more
        Whether there are more names than those in `known`.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, more: bool = False) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        available = ", ".join(names[:_NAMES_SHOWN]) if names else "none"
        if more or len(names) > _NAMES_SHOWN:
            left = len(names) - _NAMES_SHOWN
            available += f" and more than {max(left, 0)} more" if more else f" and {left} more"
        super().__init__(f"There is no {kind} '{name}'. There are: {available}.{hint}")


class MissingKeyError(UsageError):
    """A credential or an optional package that the request needs is missing."""


class UnrecordedRequestError(UsageError):
    """A cassette that is being replayed lacks the reply to a request."""


class AuditError(UsageError):
    """The audit cannot record statements, so no statement returns rows."""


class PluginError(DqaError):
    """A registered plug-in cannot be loaded."""


class DataError(DqaError):
    """Files or tables are invalid."""

    exit_code = 2


class ParseError(DataError):
    """A file does not have the expected form.

    Parameters
    ----------
    file
        The invalid file.
    line
        The line, from 1; None for the whole file.
    problem
        The problem, and the expected form.
    """

    def __init__(self, file: Path | str, line: int | None, problem: str) -> None:
        where = f"{file}:{line}" if line is not None else str(file)
        super().__init__(f"{where}: {problem}")
        self.file = Path(file)
        self.line = line
        self.problem = problem


class OutcomesError(DataError):
    """A scenario's statement does not return exactly one number for every candidate."""


class SituationError(DataError):
    """A situation breaks the rules of its scenario (a cycle of flows, a missing home, ...)."""


class QueryError(DqaError):
    """A statement was refused or failed. The message is for the author of the statement."""


class RefusedStatementError(QueryError):
    """The guard refuses the statement.

    Attributes
    ----------
    statement
        The text of the refused statement.
    """

    statement: str = ""


class NotApprovedError(RefusedStatementError):
    """A person refuses the statement."""


class StatementError(QueryError):
    """The database could not run the statement."""


class NotUnderstoodError(StatementError):
    """The database cannot parse the statement. It may be written in another dialect."""


class UnknownReferenceError(StatementError):
    """The statement names something that the database lacks.

    A session raises this error. The guard adds the most similar visible name to the message.

    Parameters
    ----------
    problem
        The message of the database.
    name
        The unknown name.
    """

    def __init__(self, problem: str, name: str) -> None:
        super().__init__(f"{problem}.")
        self.problem = problem
        self.name = name


class StatementTimeoutError(QueryError):
    """The statement took longer than its limit and was stopped."""


class ModelError(DqaError):
    """A chat model gave no usable reply."""


class UnparsableReplyError(ModelError):
    """A reply violates the agent's format. The message tells the model what to change."""


class InvalidAnswerError(UnparsableReplyError):
    """An answer that does not name exactly one candidate.

    Parameters
    ----------
    problem
        The problem with the answer.
    advice
        The sentence that says which answers are valid.
    named
        The candidates that occur in the answer. An answer with a single candidate is also invalid
        if its other words reject this candidate.
    """

    def __init__(self, problem: str, advice: str, named: Iterable[str | int] = ()) -> None:
        super().__init__(f"{problem} {advice}")
        self.problem = problem
        self.advice = advice
        self.named = tuple(named)


class MalformedReplyError(ModelError):
    """The provider sent an incomplete reply or no reply."""


class BudgetSpentError(DqaError):
    """A run has spent its budget of tokens or money."""


class OutOfBudgetError(BudgetSpentError):
    """The budget of one decision is spent. The decision is based on the evidence so far."""


class StoppedError(DqaError):
    """A person stopped the decision in a review."""


class CrashError(DqaError):
    """Too many decisions ended in an unexpected exception."""


class InfrastructureError(DqaError):
    """A server, the network or a provider failed. The failure is not scored as a wrong answer."""


class DatabaseUnavailableError(InfrastructureError):
    """A database cannot be reached, or is no longer available."""


class GameTakenError(DatabaseUnavailableError):
    """Another process has restarted a game that this process still plays."""


class ModelUnavailableError(InfrastructureError):
    """A chat model cannot be reached, or its provider keeps failing."""


class RequestTooLongError(ModelUnavailableError):
    """A request is too long for the model; a shorter request may succeed."""


class WorldUnavailableError(InfrastructureError):
    """The referee of a world failed. The failure does not lower any player's score."""
