"""Watching a database: a person may be asked before a statement runs, and all is written down.

`AuditedDatabase` stands before any `Database`; the one behind it keeps its guard and its limits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import TypeAlias

from dqa import guard
from dqa.core.database import DEFAULT_LIMITS, Database, Kind, Limits, Rows
from dqa.core.errors import DqaError, RefusedStatementError, UsageError
from dqa.core.schema import DatabaseSchema
from dqa.core.secrets import redact
from dqa.guard import translation

__all__ = ["Approval", "AuditEntry", "AuditedDatabase", "JsonLines", "Sink"]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One statement and what became of it.

    Attributes
    ----------
    database
        The database's name.
    dialect
        What the statement is written in.
    statement
        As it was given.
    allowed
        Whether it was let through, by the guard and by whoever was asked.
    reason
        Why it was not; empty where it was.
    rows
        Rows returned; None where it did not run to its end.
    cut
        Which limit ended the result, if one did.
    seconds
        From asking to result, approval included.
    error
        What went wrong while it ran; None where nothing did.
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


Approval: TypeAlias = Callable[[str, guard.Verdict, str], bool]
"""Asked with the statement, the guard's verdict and the database's name whether it may run."""
Sink: TypeAlias = Callable[[AuditEntry], object]
"""Gets every entry, as soon as it is known."""


class AuditedDatabase:
    """A `Database` whose statements are approved by `approve`, if given, and told to `sink`.

    Parameters
    ----------
    database
        The one that runs the statements; it is closed with this object.
    sink
        Gets every statement with its verdict, reason, row count and duration. What it raises
        reaches the caller: a statement that cannot be written down gives no rows.
    approve
        Asked before a statement that the guard allows runs; what it answers False to does not. A
        statement of MySQL's that will run in translation is shown translated.
    """

    def __init__(
        self,
        database: Database,
        sink: Sink | None = None,
        approve: Approval | None = None,
    ) -> None:
        self.kind: Kind = database.kind
        self.dialect = database.dialect
        self.language = database.language
        self.name = database.name
        self._database = database
        self._sink = sink
        self._approve = approve
        self._policy: guard.Policy = getattr(database, "policy", guard.DEFAULT)

    def schema(self) -> DatabaseSchema:
        """Return the schema of the database behind."""
        return self._database.schema()

    def query(self, statement: str, limits: Limits = DEFAULT_LIMITS) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`."""
        started = perf_counter()
        reason = self._refusal(statement)
        if reason is not None:
            self._tell(AuditEntry(self.name, self.dialect, statement, False, reason), started)
            raise RefusedStatementError(f"The statement was not run: {reason}.")
        try:
            rows = self._database.query(statement, limits)
        except RefusedStatementError as error:
            entry = AuditEntry(self.name, self.dialect, statement, False, str(error))
            self._tell(entry, started)
            raise
        except DqaError as error:
            entry = AuditEntry(self.name, self.dialect, statement, True, error=str(error))
            self._tell(entry, started)
            raise
        self._tell(
            AuditEntry(
                *(self.name, self.dialect, statement, True), rows=len(rows.rows), cut=rows.cut
            ),
            started,
        )
        return rows

    def close(self) -> None:
        """Close the database behind."""
        self._database.close()

    def _refusal(self, statement: str) -> str | None:
        """Return why a statement may not run, as far as that is known before it does."""
        verdict = guard.check(statement, self.dialect, self._policy)
        runs = statement
        if not verdict.allowed:
            translated = translation.from_mysql(statement, self.dialect, self._policy)
            if self.kind != "relational" or translated is None:
                return verdict.reason
            runs, verdict = translated, guard.check(translated, self.dialect, self._policy)
        if self._approve is not None and not self._approve(runs, verdict, self.name):
            return "whoever was asked did not approve it"
        return None

    def _tell(self, entry: AuditEntry, started: float) -> None:
        if self._sink is not None:
            timed = asdict(entry) | {"seconds": perf_counter() - started}
            self._sink(AuditEntry(**timed))


class JsonLines:
    """A sink that appends each entry to a file as one JSON line, without secrets.

    Raises
    ------
    UsageError
        The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"The audit file {path} cannot be written: {error.strerror}."
            ) from error
        self._lock = Lock()

    def __call__(self, entry: AuditEntry) -> None:
        """Append `entry`."""
        shown = {
            name: redact(value) if isinstance(value, str) else value
            for name, value in asdict(entry).items()
        }
        with self._lock:
            self._file.write(json.dumps(shown) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
