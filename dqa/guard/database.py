"""A database behind the guard: what every backend's database is, and the way of every statement.

There is no other way to the driver: a statement is checked, approved if somebody wants to be
asked, run within its limits, and written down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    RefusedStatementError,
    StatementError,
)
from dqa.core.schema import DatabaseSchema
from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import check
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.translation import from_mysql
from dqa.guard.verdict import GuardVerdict
from dqa.guard.visible import visible_schema


class NotUnderstoodError(StatementError):
    """The database cannot read the statement or knows no such function; it may be of another."""


class GuardedDatabase(ABC):
    """A `Database` that runs what the guard allows; a backend says how, and reads the schema.

    Parameters
    ----------
    name
        What to call the database; never holds a password.

    Attributes
    ----------
    kind, dialect, language
        As `dqa.core.database.Database` has them; `dialect` is one of `guard.DIALECTS`.
    policy
        What of the database may be called and read.
    audit
        Who watches its statements; None for nobody.
    limits
        What a statement may cost whose caller does not say.
    """

    kind: Kind
    dialect: str
    language: str

    def __init__(self, name: str) -> None:
        self.name = name
        self.policy = DEFAULT
        self.audit: Audit | None = None
        self.limits = DEFAULT_LIMITS
        self._schema: DatabaseSchema | None = None
        self._closed = False

    @abstractmethod
    def _run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        Raises
        ------
        NotUnderstoodError
            The statement may be of another dialect.
        QueryError, DatabaseUnavailableError
            As `query` does.
        """

    @abstractmethod
    def _read_schema(self) -> DatabaseSchema:
        """Read the whole schema; `DatabaseUnavailableError` where that fails."""

    def _confined(self, statement: str) -> str:
        """Return an allowed statement as it runs, for backends that have to keep it to a part."""
        return statement

    def default_schema(self) -> str | None:
        """Return the schema that `schema` shows, as statements may name it; None without one."""
        return None

    def row_order(self, table: str) -> bytes | None:  # noqa: ARG002
        """Return the order of a table's rows, where no statement can tell it: see `row_order`."""
        return None

    def restrict(
        self,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        *,
        checked: bool = False,
    ) -> Self:
        """Set what may be read, who watches and what a statement may cost; return the database.

        For whoever opens it, before anybody uses it. A policy that limits columns and knows no
        schema gets the database's own.

        Parameters
        ----------
        policy, audit, limits
            See the attributes; None for the usual.
        checked
            Whether every name of the policy has to be in the database.

        Raises
        ------
        UsageError
            The policy is to be checked, and has a name that is not in the database.
        DatabaseUnavailableError
            The schema cannot be read.
        """
        if checked and policy is not None and policy.names_anything:
            policy.check([self._read_schema()], fold=self.dialect == "ladybug")
        self.policy = DEFAULT if policy is None else policy
        self.audit = audit
        self.limits = DEFAULT_LIMITS if limits is None else limits
        self._schema = None
        if self.policy.limits_columns and self.policy.schema is None:
            self.policy = replace(self.policy, schema=self._read_schema())
        return self

    def schema(self) -> DatabaseSchema:
        """Return what may be read, as the database describes itself; read once."""
        if self._schema is None:
            self._refuse_if_closed()
            self._schema = visible_schema(self._read_schema(), self.dialect, self.policy)
        return self._schema

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`.

        A statement that a relational database cannot read is run in translation, where it is one
        of MySQL's. Without `limits`, those hold with which the database was opened.
        """
        if self.audit is None:
            return self._answered(statement, limits or self.limits)
        started = perf_counter()
        try:
            rows = self._answered(statement, limits or self.limits)
        except RefusedStatementError as error:
            self._record(statement, started, allowed=False, reason=str(error))
            raise
        except BaseException as error:
            told = str(error) if isinstance(error, DqaError) else type(error).__name__
            self._record(statement, started, allowed=True, error=told)
            raise
        self._record(
            *(statement, started),
            allowed=True,
            rows=len(rows.rows),
            cut=rows.cut,
            translated=rows.translated,
        )
        return rows

    def close(self) -> None:
        """Release connections; the database cannot be used afterwards."""
        self._closed = True

    def _answered(self, statement: str, limits: Limits) -> Rows:
        verdict = check(statement, self.dialect, self.policy)
        problem: RefusedStatementError | NotUnderstoodError
        if verdict.allowed:
            self._require_approval(statement, verdict)
            try:
                return self._run(self._confined(statement), limits)
            except (RefusedStatementError, NotUnderstoodError) as error:
                problem = error
        else:
            problem = RefusedStatementError(f"The statement was not run: {verdict.reason}.")
        translated = None
        if self.kind == "relational":
            translated = from_mysql(statement, self.dialect, self.policy)
        if translated is None:
            raise _public(problem) from problem.__cause__
        self._require_approval(translated, check(translated, self.dialect, self.policy))
        try:
            return replace(self._run(translated, limits), translated=translated)
        except NotUnderstoodError:
            # Its author knows what was written and not what became of it.
            raise _public(problem) from problem.__cause__

    def _require_approval(self, statement: str, verdict: GuardVerdict) -> None:
        approve = self.audit.approve if self.audit is not None else None
        if approve is not None and not approve(statement, verdict, self.name):
            raise RefusedStatementError(
                "The statement was not run: whoever was asked did not approve it."
            )

    def _record(self, statement: str, started: float, **became: Any) -> None:  # noqa: ANN401
        if self.audit is not None and self.audit.sink is not None:
            seconds = perf_counter() - started
            self.audit.sink(
                AuditEntry(self.name, self.dialect, statement, seconds=seconds, **became)
            )

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")


def _public(error: RefusedStatementError | NotUnderstoodError) -> DqaError:
    return StatementError(str(error)) if isinstance(error, NotUnderstoodError) else error
