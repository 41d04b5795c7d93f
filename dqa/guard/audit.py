"""Ask a person before a statement runs, and record every statement."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self, TypeAlias

from dqa.core.distribution import own_version
from dqa.core.errors import AuditError
from dqa.core.files import add_line, open_to_add
from dqa.core.provenance import current_decision, user_name, utc_now
from dqa.core.secrets import redacted
from dqa.guard.check import GuardVerdict


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One statement and its result.

    Attributes
    ----------
    database
        The name of the database.
    dialect
        The dialect of the statement.
    statement
        The statement as its author wrote it.
    allowed
        Whether the guard allowed the statement and no person rejected it.
    reason
        The reason why the statement did not run; empty if it was allowed.
    rows
        The number of rows that the statement returned; None if it did not finish.
    cut
        The limit that cut the result; None if the result is complete.
    seconds
        The seconds from the request to the result, including the time for the approval.
    error
        The error of the statement; None if it succeeded.
    time, user
        The time of the request (ISO 8601, UTC), and the login name of the user.
    question, decision, decider, model
        The question, the decision, the decider and the model for which the statement ran; None
        outside of a decision.
    version
        The version of dqa.
    """

    database: str
    dialect: str
    statement: str
    allowed: bool
    reason: str = ""
    rows: int | None = None
    cut: str | None = None
    seconds: float = 0.0
    error: str | None = None
    time: str = field(default_factory=utc_now)
    user: str = field(default_factory=user_name)
    question: str | None = field(default_factory=lambda: current_decision().question)
    decision: str | None = field(default_factory=lambda: current_decision().decision)
    decider: str | None = field(default_factory=lambda: current_decision().decider)
    model: str | None = field(default_factory=lambda: current_decision().model)
    version: str = field(default_factory=own_version)


Approval: TypeAlias = Callable[[str, GuardVerdict, str], bool]
"""A function of a statement, its verdict and the database's name. It returns whether the statement
may run."""
Sink: TypeAlias = Callable[[AuditEntry], object]
"""A function that receives the entry of each finished statement."""


@dataclass(frozen=True, slots=True)
class Audit:
    """Records the statements of one or more databases, and asks for their approval.

    Attributes
    ----------
    sink
        Receives an entry for every statement. An error of the sink reaches the caller, so a
        statement that cannot be recorded returns no rows.
    approve
        Called before an allowed statement runs; if it returns False, the statement does not run.
    """

    sink: Sink | None = None
    approve: Approval | None = None

    @classmethod
    def to_file(cls, path: Path | str, approve: Approval | None = None) -> Self:
        """Return an audit that appends one JSON line per statement to a file (see `JsonLines`)."""
        return cls(JsonLines(Path(path)), approve)


class JsonLines:
    """A sink that appends each entry to a file as one JSON line, without secrets.

    The sink opens the file anew for each line. Several threads and processes may therefore share
    the file, and the sink need not be closed.

    Raises
    ------
    AuditError
        The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self(None)

    def __call__(self, entry: AuditEntry | None) -> None:
        """Append `entry`, or nothing for None; raise `AuditError` if the file cannot be written."""
        try:
            with open_to_add(self._path) as file:
                if entry is not None:
                    add_line(file, json.dumps(redacted(asdict(entry))))
        except OSError as error:
            raise AuditError(
                f"The audit file {self._path} cannot be written: {error.strerror}. Statements "
                "that cannot be recorded return no rows. Free disk space, or choose another file."
            ) from error
