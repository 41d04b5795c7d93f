"""A database behind the guard: the only way to a session.

A statement is checked, approved where a person has to approve it, run within its limits, and
recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import asdict, astuple, replace
from functools import reduce
from threading import Thread
from time import monotonic, perf_counter
from typing import Any, Self

from dqa.core import errors
from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows, decode_rows, timed_out
from dqa.core.journal import current_journal, replay, use_journal
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.core.situation import Schema
from dqa.core.spans import start_span
from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import GuardVerdict, check
from dqa.guard.describe import Form, answer
from dqa.guard.hints import advise, unknown_name
from dqa.guard.policy import DEFAULT, Policy, SchemaScope
from dqa.guard.visible import add_descriptions, names_anything, require_known, visible_schema

_POSITION = re.compile(r" at character \d+")
_HIDDEN_VALUE = (
    "The statement failed on a value that it met, or on the types of its arguments. The database's "
    "own words are not shown, because some rows are hidden; look at "
    "conversions, divisions, arguments and sub-queries of one row."
)
_REWRITTEN = "The database cannot run the statement as it has to be rewritten by its policy"
_INSERTED = 12
"""Characters of a rewritten statement that, in an error, are no coincidence."""
_FOR_HINTS = 0.5
"""Seconds beyond a statement's limit for what helps its author."""
_AT_ONCE = 0.1
"""Seconds that may pass before a statement gets less than its limit."""


class GuardedDatabase:
    """A `Database` that runs allowed statements only.

    Parameters
    ----------
    session
        Runs statements and reads the schema; it belongs to this object from now on.

    Attributes
    ----------
    kind, dialect, language, name
        As `dqa.core.database.Database` has them; the session's.
    policy
        What of the database may be called and read.
    audit
        What watches its statements; None for nothing.
    limits
        The limits of statements whose caller sets none.
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
        self._is_rewritten = False  # by conditions and values that the policy adds

    def _scoped(self, policy: Policy) -> Policy:
        """Return a policy within the schemas of the session, where statements can name others."""
        own = self._session.schemas
        scope = None if own is None else SchemaScope.of(own, self._session.search_path)
        return replace(policy, schema_scope=scope)

    @property
    def namespace(self) -> str | None:
        """The schema that `schema` shows, as statements may name it; see `Session`."""
        return self._session.namespace

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, where no statement can show it: see `row_order`."""
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
        """Set policy, audit and limits; return the database.

        The code that opens the database calls it before anything else uses it. A policy that limits
        tables and knows no schema gets the database's own.

        Parameters
        ----------
        policy, audit, limits
            See the attributes; None for the usual.
        checked
            Whether every name of the policy has to be in the database.

        Raises
        ------
        UsageError
            The policy is to be checked, and has a name that is not in the database; or a mask or
            a row filter cannot be used there.
        DatabaseUnavailableError
            The schema cannot be read.
        """
        if policy is not None and policy.hides and self.kind == "graph":
            raise errors.UsageError("Masks and row_filters are for tables; use denied_properties.")
        if checked and policy is not None and names_anything(policy):
            require_known(policy, [self._read_schema()], fold=self.dialect == "ladybug")
        self.policy = self._scoped(policy or DEFAULT)
        self.audit, self.limits = audit, limits or DEFAULT_LIMITS
        self._schema, self._described = None, {}
        is_needed = self.policy.needs_schema
        if self.kind == "graph":
            is_needed = self.policy.limits_graph and self.dialect == "ladybug"
        if is_needed and self.policy.schema is None:
            self.policy = replace(self.policy, schema=self._read_schema())
        self._is_rewritten = self.kind == "relational" and (
            self.policy.hides or self.policy.restricts_columns
        )
        if self._is_rewritten:
            from dqa.guard.tables import protected

            self.policy = protected(self.policy, self._session)
        return self

    def with_rows(self, row_filters: Mapping[str, str]) -> Self:
        """Return this database for a reader of other rows.

        It shares the connections; closing it closes nothing else.

        Parameters
        ----------
        row_filters
            In place of the policy's: a condition for each of the same tables.

        Raises
        ------
        UsageError
            They are for other tables, or one is not a condition that can be used.
        """
        from dqa.guard.tables import require_conditions

        other = copy(self)
        other.policy = replace(self.policy, row_filters=row_filters)
        if set(other.policy.row_filters) != set(self.policy.row_filters):
            tables = ", ".join(sorted(self.policy.row_filters))
            raise errors.UsageError(f"Give row filters of {tables}, and no others.")
        require_conditions(other.policy, self.dialect)
        other._described, other._closes_session = {}, False  # noqa: SLF001  (its own)
        return other

    def described(self, *scenarios: Schema) -> Self:
        """Return this database with the comments of scenarios, where it has none of its own.

        It is the same database, with the same connections, and closed with it.

        Parameters
        ----------
        scenarios
            Scenarios' tables; where several describe one, the first does.
        """
        if scenarios == self._descriptions:
            return self
        if scenarios not in self._described:
            other = copy(self)
            other._descriptions, other._schema, other._described = scenarios, None, {}  # noqa: SLF001
            self._described.setdefault(scenarios, other)
        return self._described[scenarios]

    def close(self) -> None:
        """Release connections; the database cannot be used afterwards."""
        if not self._closed:
            self._closed = True
            if self._closes_session:
                self._session.close()

    def _closed_error(self) -> errors.DatabaseUnavailableError:
        return errors.DatabaseUnavailableError(f"Database '{self.name}' is closed; open it again.")

    # Schema

    def schema(self) -> DatabaseSchema:
        """Return the visible schema; the database is read once."""
        if self._schema is None:
            if self._closed:
                raise self._closed_error()
            whole = reduce(add_descriptions, self._descriptions, self._read_schema())
            self._schema = visible_schema(whole, self.dialect, self.policy)
        return self._schema

    def _read_schema(self) -> DatabaseSchema:
        """Return all that there is, read once: of thousands of tables that takes seconds."""
        if self._whole is None:
            self._whole = self._session.read_schema()
        return self._whole

    def _schema_by(self, until: float) -> DatabaseSchema | None:
        """Return `schema`, or None where it is not read by then: reading it continues.

        Reading thousands of tables, or reading from a busy server, may take many seconds, and a
        hint may take no longer than the statement.
        """

        def read() -> None:
            with suppress(errors.DqaError):  # the next reader gets the error
                self._read_schema()

        if self._schema is None and self._whole is None:
            with suppress(RuntimeError):  # no thread can be started
                reading = Thread(target=read, name="dqa-schema", daemon=True)
                reading.start()
                reading.join(max(until - monotonic(), 0.0))
            if self._whole is None:
                return None
        return self.schema()

    # Statements

    def check(self, statement: str) -> GuardVerdict:
        """Return whether `query` would run a statement, which is not run, and if not, why."""
        verdicts = [verdict for _, verdict in self._meanings(statement, _FOR_HINTS)]
        return next((verdict for verdict in verdicts if verdict.allowed), verdicts[0])

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`.

        A statement that a relational database cannot read is run in translation, where it is one
        of MySQL's or has functions of other dialects. Without `limits`, those of the database hold.
        """
        limits, started = limits or self.limits, perf_counter()
        if current_journal() is not None:
            return self._replayed(statement, limits)
        # By OpenTelemetry's conventions for databases.
        about = {
            "db.operation.name": "query",
            "db.system.name": "postgresql" if self.dialect == "postgres" else self.dialect,
            "db.namespace": self._session.namespace or self.name,
        }
        content = {"db.query.text": lambda: statement}
        with start_span(f"query {self.name}", about, content, "client") as span:
            try:
                rows = self._answered(statement, limits)
            except BaseException as error:
                said = str(error) if isinstance(error, errors.DqaError) else type(error).__name__
                is_refused = isinstance(error, errors.RefusedStatementError)
                key = "reason" if is_refused else "error"
                self._record(statement, started, allowed=not is_refused, **{key: said})
                raise
            count = len(rows.rows)
            result = {"rows": count, "cut": rows.cut, "translated": rows.translated}
            self._record(statement, started, allowed=True, **result)
            if span:
                span.set({"db.response.returned_rows": count, "dqa.cut": rows.cut})
        return rows

    def _replayed(self, statement: str, limits: Limits) -> Rows:
        """Return the result of a statement that ran before a pause; run and note any other."""

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
        raise (errors.StatementError if is_unknown else kind)(reply["message"])

    def note_not_run(self, statement: str, reason: str) -> None:
        """Record a statement that the guard allows, and that a person did not let run."""
        self._record(statement, perf_counter(), allowed=False, reason=reason)

    def _record(self, statement: str, started: float, **result: Any) -> None:  # noqa: ANN401
        if self.audit is not None and self.audit.sink is not None:
            seconds = perf_counter() - started
            entry = AuditEntry(self.name, self.dialect, statement, seconds=seconds, **result)
            self.audit.sink(entry)

    def _answered(self, statement: str, limits: Limits) -> Rows:
        unread = (errors.RefusedStatementError, errors.NotUnderstoodError)
        problem: errors.RefusedStatementError | errors.NotUnderstoodError | None = None
        for text, verdict in self._meanings(statement, limits.seconds):
            if not verdict.allowed:
                problem = verdict.error()
                continue
            approve = self.audit.approve if self.audit is not None else None
            if approve is not None and not approve(text, verdict, self.name):
                raise errors.RefusedStatementError(
                    "The statement was not run: it was not approved."
                )
            until = monotonic() + limits.seconds + _FOR_HINTS
            try:
                rows = self._ran(text, verdict, limits, until)
            except errors.QueryError as error:
                explained = self._explained(error, text, verdict, until)
                if not isinstance(explained, unread):
                    if explained is error:
                        raise
                    raise explained from None if self._is_rewritten else error
                problem = problem or explained  # its author does not know the translations
                continue
            if self._is_rewritten:
                rows = self._with_own_names(rows, text, verdict.statement)
            return rows if text is statement else replace(rows, translated=text)
        if isinstance(problem, errors.RefusedStatementError):
            raise problem
        cause = None if problem is None else problem.__cause__
        raise advise(errors.StatementError(str(problem)), self.dialect) from cause

    def _meanings(self, statement: str, seconds: float) -> Iterator[tuple[str, GuardVerdict]]:
        """Yield a statement, then its translations, each with the verdict on it.

        A name with a dot or a cast may need the schema, which is read within some seconds.
        """
        verdict = check(statement, self.dialect, self.policy)
        is_final = verdict.allowed or self.kind == "graph" or self.policy.schema is not None
        if not is_final and ("." in statement or ":" in statement):
            schema = self._schema_by(monotonic() + seconds)
            if schema is not None:
                verdict = check(statement, self.dialect, replace(self.policy, schema=schema))
        yield statement, verdict
        if self.kind == "relational":
            from dqa.guard.translation import translations

            yield from translations(statement, self.dialect, self.policy)

    def _described_by(self, form: Form, limits: Limits, until: float) -> Rows:
        """Answer a describing statement from the schema, if it is read in time."""
        schema = self._schema_by(until)
        if schema is None:
            raise errors.StatementTimeoutError(
                f"The schema was not read within {limits.seconds:g} seconds; ask again."
            )
        return answer(form, schema, self.namespace or self.name)

    def _ran(self, statement: str, verdict: GuardVerdict, limits: Limits, until: float) -> Rows:  # noqa: ARG002
        """Run an allowed statement within the rest of its limits."""
        if self._closed:
            raise self._closed_error()
        if verdict.form is not None:
            return self._described_by(verdict.form, limits, until)
        left, own = until - _FOR_HINTS - monotonic(), limits
        if left < limits.seconds - _AT_ONCE:
            own = replace(limits, seconds=max(left, _AT_ONCE))
        try:
            return self._session.run(verdict.statement, own)
        except errors.StatementTimeoutError as error:
            raise timed_out(limits, self.kind) from error

    # Messages

    def _explained(
        self, error: errors.QueryError, statement: str, verdict: GuardVerdict, until: float
    ) -> errors.QueryError:
        """Return an error without hidden data; one about a name says what there is."""
        if not isinstance(error, errors.StatementError):
            return error
        if self._is_rewritten:
            error = self._without_hidden(error, statement, verdict.statement)
        if isinstance(error, errors.NotUnderstoodError):
            return error
        if isinstance(error, errors.UnknownReferenceError):
            return unknown_name(error, self._schema_by(until), statement)
        return advise(error, self.dialect)

    def _with_own_names(self, rows: Rows, statement: str, text: str) -> Rows:
        """Return rows with column names that show nothing of the policy."""
        columns = tuple(
            f"column_{number}" if _has_inserted(name, statement, text) else name
            for number, name in enumerate(rows.columns, start=1)
        )
        return replace(rows, columns=columns)

    def _without_hidden(
        self, error: errors.StatementError, statement: str, text: str
    ) -> errors.StatementError:
        """Return an error without hidden values and without the policy's additions.

        It has no cause: that would have the engine's own words.
        """
        if type(error) is errors.StatementError and self._reads_filtered(statement):
            return errors.StatementError(_HIDDEN_VALUE)
        said = error.problem if isinstance(error, errors.UnknownReferenceError) else str(error)
        problem = _POSITION.sub("", said)
        if _has_inserted(problem, statement, text):
            problem = _REWRITTEN
        if isinstance(error, errors.UnknownReferenceError):
            return errors.UnknownReferenceError(problem, error.name)
        return type(error)(problem)

    def _reads_filtered(self, statement: str) -> bool:
        """Whether an allowed statement reads a table with hidden rows."""
        from dqa.guard.parsing import parse

        filters = self.policy.row_filters
        tables = parse(statement, self.dialect, self.policy.functions).tables if filters else {}
        return any(node.name.casefold() in filters for node in tables.values())


def _has_inserted(message: str, statement: str, text: str) -> bool:
    """Whether a message has a piece of what the policy inserted into a statement."""
    message, written, ran = (" ".join(part.split()) for part in (message, statement, text))
    pieces = (message[i : i + _INSERTED] for i in range(len(message) - _INSERTED + 1))
    return any(piece in ran and piece not in written for piece in pieces)
