"""Run statements on a database behind the guard.

The guard checks a statement. If approval is required, the guard then asks a person. It runs the
statement within its limits, and records it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from copy import copy
from dataclasses import asdict, astuple, replace
from functools import reduce
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from dqa.core import errors
from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows, decode_rows
from dqa.core.journal import current_journal, replay, use_journal
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.core.spans import start_span
from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import GuardVerdict, check
from dqa.guard.hints import advise, unknown_name
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.scope import SchemaScope
from dqa.guard.visible import add_descriptions, answer, require_known, visible_schema

if TYPE_CHECKING:
    from dqa.core.situation import Schema

_POSITION = re.compile(r" at character \d+")
_HIDDEN_VALUE = (
    "The statement failed because of a value in the data or the type of an argument. The message "
    "of the database is not shown, because the policy hides some rows. Check conversions, "
    "divisions, arguments, and sub-queries that must return one row."
)
_REWRITTEN = (
    "The policy rewrites this statement, but the database cannot run the rewritten statement"
)
_INSERTED = 12
"""An error message that quotes this many characters of the policy's SQL is not shown."""
_FOR_HINTS = 0.5
"""The maximum number of seconds for reading the schema to improve an error message."""


class GuardedDatabase:
    """A `Database` that runs allowed statements only.

    Parameters
    ----------
    session
        The session that runs statements and reads the schema. This object owns and closes it.

    Attributes
    ----------
    kind, dialect, language, name
        The properties of the session; see `dqa.core.database.Database`.
    policy
        Which functions may be called and which data may be read.
    audit
        Approves and records statements; None for no audit.
    limits
        The default limits of a statement.
    """

    kind: Kind
    dialect: str
    language: str
    name: str

    def __init__(self, session: Session) -> None:
        self.kind, self.dialect = session.kind, session.dialect
        self.language, self.name = session.language, session.name
        self._session = session
        self.policy = self._scoped(DEFAULT)
        self.audit: Audit | None = None
        self.limits = DEFAULT_LIMITS
        self._whole: DatabaseSchema | None = None
        self._schema: DatabaseSchema | None = None
        self._descriptions: tuple[Schema, ...] = ()
        self._described: dict[tuple[Schema, ...], Self] = {}
        self._closed = False
        self._closes_session = True

    def _scoped(self, policy: Policy) -> Policy:
        """Return the policy limited to the schemas of the session."""
        own = self._session.schemas
        scope = None if own is None else SchemaScope.of(own, self._session.search_path)
        return replace(policy, schema_scope=scope, callables=None)

    @property
    def _is_rewritten(self) -> bool:
        """Whether the policy adds conditions and values to statements."""
        return self.kind == "relational" and bool(self.policy.restricted_names)

    @property
    def namespace(self) -> str | None:
        """The name of the visible schema in statements; see `Session`."""
        return self._session.namespace

    def row_order(self, table: str) -> bytes | None:
        """Return the stored order of a situation's rows; see `Session.row_order`."""
        if self._closed:
            raise self._closed_error()
        return self._session.row_order(table)

    def restrict(
        self,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        *,
        checked: bool = False,
    ) -> Self:
        """Set the policy, the audit and the limits, and return the database.

        Call this method right after opening the database. If the policy hides a part of a table and
        its attribute `schema` is None, the schema of the database is added to the policy.

        Parameters
        ----------
        policy, audit, limits
            See the attributes of the class. By default, nothing is restricted or recorded, and the
            limits are `DEFAULT_LIMITS`.
        checked
            Whether to check that every name of the policy exists in the database.

        Raises
        ------
        UsageError
            A name of a checked policy is not in the database, or the database cannot apply a part
            of the policy.
        DatabaseUnavailableError
            The schema cannot be read.
        """
        if policy is not None:
            policy.require_kind(self.kind)
        if checked and policy is not None:
            require_known(policy, [self._read_schema()], fold=self.dialect == "ladybug")
        self.policy = self._scoped(policy or DEFAULT)
        self.audit, self.limits = audit, limits or DEFAULT_LIMITS
        self._schema, self._described = None, {}
        is_sql = self.kind == "relational"
        is_folded = self.policy.limits_graph and self.dialect == "ladybug"
        if (self.policy.needs_schema if is_sql else is_folded) and self.policy.schema is None:
            self.policy = replace(self.policy, schema=self._read_schema())
        if self._is_rewritten:
            from dqa.guard.tables import protected

            self.policy = protected(self.policy, self._session)
        return self

    def with_rows(self, row_filters: Mapping[str, str]) -> Self:
        """Return a copy of this database with other row filters.

        The copy shares the connections. They stay open when the copy is closed.

        Parameters
        ----------
        row_filters
            Maps each table that has a row filter in the policy to the new condition.

        Raises
        ------
        UsageError
            The tables differ from the tables of the policy's row filters, or a condition cannot be
            used.
        """
        from dqa.guard.tables import require_conditions

        other = copy(self)
        other.policy = replace(self.policy, row_filters=row_filters)
        if set(other.policy.row_filters) != set(self.policy.row_filters):
            tables = ", ".join(sorted(self.policy.row_filters))
            raise errors.UsageError(
                f"Row filters must be given for exactly these tables: {tables}."
            )
        require_conditions(other.policy, self.dialect)
        other._described, other._closes_session = {}, False  # noqa: SLF001  (its own)
        return other

    def described(self, *scenarios: Schema) -> Self:
        """Return a copy of this database whose schema also contains the descriptions of scenarios.

        A description applies only to a table, label or type without a comment. The copy shares the
        connections. They are closed when the copy is closed.

        Parameters
        ----------
        scenarios
            The schemas of scenarios. Each table gets the description of the first schema that
            contains the table.
        """
        if scenarios == self._descriptions:
            return self
        if scenarios not in self._described:
            other = copy(self)
            other._descriptions, other._schema, other._described = scenarios, None, {}  # noqa: SLF001
            self._described.setdefault(scenarios, other)
        return self._described[scenarios]

    def close(self) -> None:
        """Release the connections. The database cannot be used afterwards."""
        if not self._closed:
            self._closed = True
            if self._closes_session:
                self._session.close()

    def _closed_error(self) -> errors.DatabaseUnavailableError:
        return errors.DatabaseUnavailableError(
            f"The database '{self.name}' is closed. Open it again."
        )

    # Schema

    def schema(self) -> DatabaseSchema:
        """Return the visible schema. Only the first call reads the schema from the database."""
        if self._schema is None:
            if self._closed:
                raise self._closed_error()
            whole = reduce(add_descriptions, self._descriptions, self._read_schema())
            self._schema = visible_schema(whole, self.dialect, self.policy)
        return self._schema

    def _read_schema(self) -> DatabaseSchema:
        """Return the whole schema. Only the first call reads it, which may take seconds."""
        if self._whole is None:
            self._whole = self._session.read_schema()
        return self._whole

    def _schema_within(self, seconds: float) -> DatabaseSchema:
        """Return `schema`; raise `StatementTimeoutError` if reading takes longer than `seconds`.

        After the error, reading continues in the background.
        """
        reading: Future[DatabaseSchema] = Future()

        def read() -> None:
            try:
                reading.set_result(self._read_schema())
            except Exception as error:  # noqa: BLE001  (raised again by the waiting caller)
                reading.set_exception(error)

        if self._whole is None:
            Thread(target=read, name="dqa-schema", daemon=True).start()
            try:
                reading.result(seconds)
            except TimeoutError:
                raise errors.StatementTimeoutError(
                    f"The schema was not read within {seconds:g} seconds; try again."
                ) from None
        return self.schema()

    def _schema_for_hints(self) -> DatabaseSchema | None:
        """Return `schema`, or None if reading it takes too long."""
        with suppress(Exception):  # a hint is optional: the error of the statement matters
            return self._schema_within(_FOR_HINTS)
        return None

    # Statements

    def check(self, statement: str) -> GuardVerdict:
        """Return whether `query` would run a statement, and if not, why. Nothing runs."""
        return self._judged(statement)

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`.

        Without `limits`, the limits of the database apply.
        """
        limits, started = limits or self.limits, perf_counter()
        if current_journal() is not None:
            return self._replayed(statement, limits)
        # These names follow OpenTelemetry's conventions for databases.
        about = {
            "db.operation.name": "query",
            "db.system.name": "postgresql" if self.dialect == "postgres" else self.dialect,
            "db.namespace": self._session.namespace or self.name,
        }
        with start_span(f"query {self.name}", about, "client") as span:
            try:
                rows = self._answered(statement, limits)
            except BaseException as error:
                message = str(error) if isinstance(error, errors.DqaError) else type(error).__name__
                is_refused = isinstance(error, errors.RefusedStatementError)
                key = "reason" if is_refused else "error"
                self._record(statement, started, allowed=not is_refused, **{key: message})
                raise
            count = len(rows.rows)
            self._record(statement, started, allowed=True, rows=count, cut=rows.cut)
            span.set({"db.response.returned_rows": count})
        return rows

    def _replayed(self, statement: str, limits: Limits) -> Rows:
        """Return the result that the journal recorded before a pause, or run the statement."""

        def act() -> dict[str, Any]:
            try:
                with use_journal(None):
                    return {"rows": astuple(self.query(statement, limits))}
            except errors.QueryError as error:  # a failure of the database is not recorded
                return {"error": type(error).__name__, "message": str(error)}

        reply = replay("statement", [self.name, statement, asdict(limits)], act)
        if "rows" in reply:
            return decode_rows(reply["rows"])
        kind = getattr(errors, reply["error"], errors.StatementError)
        is_unknown = kind is errors.UnknownReferenceError
        error = (errors.StatementError if is_unknown else kind)(reply["message"])
        if isinstance(error, errors.RefusedStatementError):
            error.statement = statement
        raise error

    def note_not_run(self, statement: str, reason: str) -> None:
        """Record a statement that the guard allowed and a person rejected."""
        self._record(statement, perf_counter(), allowed=False, reason=reason)

    def _record(self, statement: str, started: float, **result: Any) -> None:  # noqa: ANN401
        if self.audit is not None and self.audit.sink is not None:
            seconds = perf_counter() - started
            entry = AuditEntry(self.name, self.dialect, statement, seconds=seconds, **result)
            self.audit.sink(entry)

    def _judged(self, statement: str) -> GuardVerdict:
        """Return the verdict on a statement.

        Without a schema, the guard cannot know whether ``name`` in ``x.name`` or ``::name`` is a
        column or a type, or whether ``pg_name`` is a table of the user, and may refuse the
        statement. In this case, check the statement again with the schema of the database.
        """
        if self.dialect == "postgres" and self.policy.callables is None and "." in statement:
            from dqa.guard.tables import read_callables

            if self._closed:
                raise self._closed_error()
            self.policy = replace(self.policy, callables=read_callables(self._session))
        verdict = check(statement, self.dialect, self.policy)
        is_final = verdict.allowed or self.kind == "graph" or self.policy.schema is not None
        if is_final or not any(sign in statement.lower() for sign in (".", ":", "pg_")):
            return verdict
        if (schema := self._schema_for_hints()) is not None:
            verdict = check(statement, self.dialect, replace(self.policy, schema=schema))
        return verdict

    def _answered(self, statement: str, limits: Limits) -> Rows:
        """Check a statement, ask for approval, run the statement, and record it."""
        verdict = self._judged(statement)
        if not verdict.allowed:
            raise verdict.error(statement)
        approve = self.audit.approve if self.audit is not None else None
        if approve is not None and not approve(statement, verdict, self.name):
            raise GuardVerdict(False, "it was not approved").error(statement)
        try:
            rows = self._ran(statement, verdict, limits)
        except errors.RefusedStatementError as error:  # the database refuses it
            error.statement = statement
            raise
        except errors.StatementError as error:
            cause = None if self._is_rewritten else error
            raise self._explained(error, statement, verdict) from cause
        return self._with_own_names(rows, statement, verdict) if self._is_rewritten else rows

    def _ran(self, statement: str, verdict: GuardVerdict, limits: Limits) -> Rows:  # noqa: ARG002
        """Run an allowed statement. The schema answers DESCRIBE, SHOW and similar statements."""
        if self._closed:
            raise self._closed_error()
        if verdict.form is not None:
            schema = self._schema_within(limits.seconds)
            return answer(verdict.form, schema, self.namespace or self.name)
        return self._session.run(verdict.statement, limits)

    # Messages

    def _with_own_names(self, rows: Rows, statement: str, verdict: GuardVerdict) -> Rows:
        """Return rows with column names that reveal nothing about the policy.

        The names of visible columns, as in the result of ``SELECT *``, do not change.
        """
        known = self.policy.column_words
        columns = tuple(
            f"column_{number}"
            if name.casefold() not in known and _has_inserted(name, statement, verdict.statement)
            else name
            for number, name in enumerate(rows.columns, start=1)
        )
        return replace(rows, columns=columns)

    def _explained(
        self, error: errors.StatementError, statement: str, verdict: GuardVerdict
    ) -> errors.StatementError:
        """Return an error without hidden data. An error about an unknown name lists known names."""
        name, problem = None, str(error)
        if isinstance(error, errors.UnknownReferenceError):
            name, problem = error.name, error.problem
        if self._is_rewritten:
            if type(error) is errors.StatementError and self.policy.row_filters:
                return errors.StatementError(_HIDDEN_VALUE)
            problem = _POSITION.sub("", problem)
            if _has_inserted(problem, statement, verdict.statement):
                problem = _REWRITTEN
        if name is not None:
            return unknown_name(problem, name, self._schema_for_hints(), statement)
        return advise(problem, self.dialect)


def _has_inserted(message: str, statement: str, text: str) -> bool:
    """Return whether a message contains text that the policy inserted into a statement."""
    message, written, ran = (" ".join(part.split()) for part in (message, statement, text))
    pieces = (message[i : i + _INSERTED] for i in range(len(message) - _INSERTED + 1))
    return any(piece in ran and piece not in written for piece in pieces)
