"""Every error this project raises, in one tree.

::

    DqaError
    ├── UsageError               the user asked for something that cannot be; exit code 2
    │   ├── UnknownNameError     a decider, model, database, scenario or question nobody registered
    │   ├── MissingKeyError      a credential or an optional package is not there
    │   ├── UnrecordedRequestError   a cassette holds no reply to what was asked
    │   └── AuditError           a statement cannot be written down, so it gives no rows
    ├── PluginError              a registered plug-in cannot be loaded
    ├── DataError                files or tables that cannot be what they claim to be
    │   ├── ParseError           a file, with its line and what was expected
    │   └── SituationError       a world that breaks the rules its scenario needs
    ├── QueryError               what a model (or person) wrote cannot run; shown to the model
    │   ├── RefusedStatementError    the guard will not let it run
    │   │   └── NotApprovedError         a person who was asked will not
    │   ├── StatementError           the database refused it
    │   │   ├── NotUnderstoodError       it may be of another dialect
    │   │   └── UnknownReferenceError    it names what is not there
    │   └── StatementTimeoutError    it took longer than its limit
    ├── ModelError               a chat model gave no usable reply
    │   ├── UnparsableReplyError     the reply breaks the format; the model is asked again
    │   │   └── InvalidAnswerError       the answer does not name exactly one candidate
    │   └── MalformedReplyError      the provider sent half a reply, or none; it is asked again
    ├── CrashError               bugs stopped a run; each is in the trace of its decision
    ├── StoppedError             a person who was asked ended the run
    ├── BudgetSpentError         the tokens or the money of a run are spent; what is decided is kept
    │   └── OutOfBudgetError         those of one decision are: it is made by what was seen
    └── InfrastructureError      a server, network or provider failed; never scored as an answer
        ├── DatabaseUnavailableError
        │   └── GameTakenError           another process plays the game by now
        ├── ModelUnavailableError
        │   └── RequestTooLongError      one request is longer than the model takes
        └── WorldUnavailableError        what referees a world failed, or its process ended

The three audiences: a `QueryError` or `UnparsableReplyError` goes back to the model as
something it can act on; `UsageError`, `DataError` and `InfrastructureError` reach the user as one
line that says how to mend it; any other exception is a bug, ends one decision as
`dqa.core.decision.Ending.CRASHED`, and keeps its traceback there.
`MalformedReplyError` and `BudgetSpentError` stay between the models and the deciders: the first is
retried, the second ends a run as `dqa.core.decision.Ending.BUDGET`. A `StoppedError` goes through a
decider and ends its decision as `dqa.core.decision.Ending.STOPPED`.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_NAMES_SHOWN = 20


class DqaError(Exception):
    """Root of every error that this project raises on purpose."""

    exit_code = 1


class UsageError(DqaError):
    """The user asked for something that cannot be done as asked."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that nobody registered.

    Parameters
    ----------
    kind
        What was looked for, e.g. ``"decider"``.
    name
        The name that was given.
    known
        The names there are.
    more
        Whether there are others than those.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, more: bool = False) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        there_are = ", ".join(names[:_NAMES_SHOWN]) if names else "none"
        if more or len(names) > _NAMES_SHOWN:
            left = len(names) - _NAMES_SHOWN
            there_are += f" and more than {max(left, 0)} more" if more else f" and {left} more"
        super().__init__(f"There is no {kind} '{name}'. There are: {there_are}.{hint}")


class MissingKeyError(UsageError):
    """A credential or an optional package that the request needs is not there."""


class UnrecordedRequestError(UsageError):
    """A cassette is replayed and holds no reply to what is asked."""


class AuditError(UsageError):
    """A statement cannot be written down: it gives no rows, and its author can mend nothing."""


class PluginError(DqaError):
    """A registered plug-in cannot be loaded."""


class DataError(DqaError):
    """Files or tables are not what they have to be."""


class ParseError(DataError):
    """A file that cannot be read as what it claims to be.

    Parameters
    ----------
    file
        The file at fault.
    line
        1-based line, or None where the whole file is at fault.
    problem
        What was found and what was expected.
    """

    def __init__(self, file: Path | str, line: int | None, problem: str) -> None:
        where = f"{file}:{line}" if line is not None else str(file)
        super().__init__(f"{where}: {problem}")
        self.file = Path(file)
        self.line = line
        self.problem = problem


class SituationError(DataError):
    """A world that breaks what its scenario needs (a cycle of flows, a missing home, ...)."""


class QueryError(DqaError):
    """A statement that did not give rows; its message is written for the one who wrote it."""


class RefusedStatementError(QueryError):
    """The guard does not let the statement run."""


class NotApprovedError(RefusedStatementError):
    """A person who was asked does not let the statement run."""


class StatementError(QueryError):
    """The database could not run the statement."""


class NotUnderstoodError(StatementError):
    """The database cannot read the statement or knows no such function; it may be of another."""


class UnknownReferenceError(StatementError):
    """The statement names what the database does not have.

    A session raises it; whoever asked is told what was most likely meant, of what may be read.

    Parameters
    ----------
    problem
        What the database said.
    name
        The name that it does not know.
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
    """A reply that breaks the agent's format; the message tells the model what to change."""


class InvalidAnswerError(UnparsableReplyError):
    """An answer that does not name exactly one candidate.

    Parameters
    ----------
    problem
        What is wrong with what was said.
    advice
        What may be said.
    named
        The candidates that it mentions: none, one among other words, or several.
    """

    def __init__(self, problem: str, advice: str, named: Iterable[str | int] = ()) -> None:
        super().__init__(f"{problem} {advice}")
        self.problem = problem
        self.advice = advice
        self.named = tuple(named)


class MalformedReplyError(ModelError):
    """What the provider sent is no reply, or only the beginning of one."""


class BudgetSpentError(DqaError):
    """The tokens or the money that a run may spend are spent."""


class OutOfBudgetError(BudgetSpentError):
    """What one decision may cost is spent, and it is to be made by what was seen so far."""


class StoppedError(DqaError):
    """A person who was asked to approve something ended the run instead."""


class CrashError(DqaError):
    """Too many decisions ended in an exception that nobody expects."""


class InfrastructureError(DqaError):
    """A server, the network or a provider failed: says nothing about any answer."""


class DatabaseUnavailableError(InfrastructureError):
    """A database cannot be reached or went away."""


class GameTakenError(DatabaseUnavailableError):
    """Another process has begun a game again, which this one still plays."""


class ModelUnavailableError(InfrastructureError):
    """A chat model cannot be reached, or its provider keeps failing."""


class RequestTooLongError(ModelUnavailableError):
    """A request is longer than the model takes; a shorter one may be answered."""


class WorldUnavailableError(InfrastructureError):
    """What referees a world failed or went away; says nothing about whoever played."""
