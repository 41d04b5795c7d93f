"""Watch a database: ask a person before a statement runs, and record every statement."""

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
        The database's name.
    dialect
        The dialect of the statement.
    statement
        As it was written.
    allowed
        Whether the guard, and the person who was asked, let it run.
    reason
        Why it did not run; empty where it was allowed.
    rows
        Rows returned; None where it did not run to its end.
    cut
        Which limit ended the result, if one did.
    seconds
        From request to result, approval included.
    error
        The error of its run; None where it succeeded.
    translated
        The statement as it ran, where it was written in another dialect.
    time, user
        When the statement was asked (ISO 8601, UTC), and the login that asked.
    question, decision, decider, model
        The decision that it belongs to; None outside of one.
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
    translated: str | None = None
    time: str = field(default_factory=utc_now)
    user: str = field(default_factory=user_name)
    question: str | None = field(default_factory=lambda: current_decision().question)
    decision: str | None = field(default_factory=lambda: current_decision().decision)
    decider: str | None = field(default_factory=lambda: current_decision().decider)
    model: str | None = field(default_factory=lambda: current_decision().model)
    version: str = field(default_factory=own_version)


Approval: TypeAlias = Callable[[str, GuardVerdict, str], bool]
"""Decides, by the statement, the guard's verdict and the database's name, whether it may run."""
Sink: TypeAlias = Callable[[AuditEntry], object]
"""Receives every entry, as soon as it is known."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What watches the statements of a database; one audit may watch several.

    Attributes
    ----------
    sink
        Receives every statement with its verdict, reason, row count and duration. Its errors
        reach the caller: a statement that cannot be recorded gives no rows.
    approve
        Called before a statement that the guard allows runs; False stops it. A statement that will
        run in translation is shown translated.
    """

    sink: Sink | None = None
    approve: Approval | None = None

    @classmethod
    def to_file(cls, path: Path | str, approve: Approval | None = None) -> Self:
        """Return an audit that appends to a file, one JSON line per statement; see `JsonLines`."""
        return cls(JsonLines(Path(path)), approve)


class JsonLines:
    """A sink that appends each entry to a file as one JSON line, without secrets.

    Each line is written with its own file handle, so several threads and processes may share the
    file, and nothing has to be closed.

    Raises
    ------
    AuditError
        The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            open_to_add(path).close()
        except OSError as error:
            raise AuditError(
                f"The audit file {path} cannot be written: {error.strerror}. Name a file in a "
                "folder that you may write to."
            ) from error

    def __call__(self, entry: AuditEntry) -> None:
        """Append `entry`; `AuditError`, which ends a run, if the file cannot be written."""
        try:
            with open_to_add(self._path) as file:
                add_line(file, json.dumps(redacted(asdict(entry))))
        except OSError as error:
            raise AuditError(
                f"The audit file {self._path} cannot be written: {error.strerror}. Without it no "
                "statement is answered; free the disk or name another file."
            ) from error
