"""A database behind the guard: the only way to a session.

A statement is checked, approved where a person has to approve it, run within its limits, and
recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import reduce
from threading import Thread
from time import monotonic, perf_counter
from typing import Any, Self

from dqa.core.database import DEFAULT_LIMITS, Kind, Limits, Rows
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    NotUnderstoodError,
    QueryError,
    RefusedStatementError,
    StatementError,
    UnknownReferenceError,
    UsageError,
)
from dqa.core.journal import current_journal
from dqa.core.parts import add_descriptions
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.core.situation import Schema
from dqa.core.spans import Span, start_span
from dqa.guard.audit import Audit, AuditEntry
from dqa.guard.check import check
from dqa.guard.describe import answer
from dqa.guard.hidden import without_inserted
from dqa.guard.hints import unknown_name, with_hints
from dqa.guard.opening import filtered_otherwise, protected
from dqa.guard.policy import DEFAULT, Policy
from dqa.guard.replay import query_once
from dqa.guard.scope import SchemaScope
from dqa.guard.tables import reads_filtered
from dqa.guard.translation import translations
from dqa.guard.verdict import GuardVerdict, not_run
from dqa.guard.visible import visible_schema

_SYSTEMS: Mapping[str, str] = {
    "oracle": "oracle.db",
    "postgres": "postgresql",
    "tsql": "microsoft.sql_server",
}
"""What OpenTelemetry calls a database system, where its dialect has another name."""
_DESCRIBING = frozenset({"desc", "describe", "explain", "pragma", "show"})
_PLACE = re.compile(r" at character \d+")
_UNTOLD = (
    "The statement failed on a value that it met, or on the types of its arguments. The database's "
    "own words are not shown, because not all rows of what it reads may be read; look at "
    "conversions, divisions, arguments and sub-queries of one row."
)
_TELLING = 0.5
"""Seconds beyond a statement's limit in which what helps its author has to be found."""
_AT_ONCE = 0.1
"""Seconds that may pass before a statement is given less than its limit."""


class GuardedDatabase:
    """A `Database` that runs what the guard allows.

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
        Who watches its statements; None for nobody.
    limits
        What a statement may cost whose caller does not say.
    """

    kind: Kind
    dialect: str
    language: str

    name: str

    def __init__(self, session: Session) -> None:
        self.kind, self.dialect = session.kind, session.dialect
        self.language, self.name = session.language, session.name
        self._session = session
        self._holds_store = False
        self.policy = self._scoped(DEFAULT)
        self.audit: Audit | None = None
        self.limits = DEFAULT_LIMITS
        self._schema: DatabaseSchema | None = None
        self._whole: DatabaseSchema | None = None
        self._told: tuple[Schema, ...] = ()
        self._as_described: dict[tuple[Schema, ...], Self] = {}
        self._closed = False
        self._closes_session = True

    def _scoped(self, policy: Policy) -> Policy:
        """Return a policy within the schemas of the session, where statements can name others."""
        policy = replace(policy, holds_store=self._holds_store)
        own = self._session.schemas
        if own is None:
            return policy
        scope = SchemaScope.of(own, self._session.search_path)
        return replace(policy, schema_scope=scope)

    def hide_store(self) -> None:
        """Let no policy show tables of a run store or labels of a memory, unless it names them.

        For whoever opens it, before `restrict`.
        """
        self._holds_store = True

    @property
    def namespace(self) -> str | None:
        """The schema that `schema` shows, as statements may name it; see `Session`."""
        return self._session.namespace

    def row_order(self, table: str) -> bytes | None:
        """Return the order of a table's rows, where no statement can tell it: see `row_order`."""
        self._refuse_if_closed()
        return self._session.row_order(table)

    def restrict(
        self,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        *,
        checked: bool = False,
    ) -> Self:
        """Set what may be read, who watches and what a statement may cost; return the database.

        For whoever opens it, before anybody uses it. A policy that limits or masks columns or
        leaves out rows, and knows no schema, gets the database's own.

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
            raise UsageError(
                "The policy has masks or row_filters, which are for tables; of a graph, use "
                "denied_properties, properties and labels instead."
            )
        if checked and policy is not None and policy.names_anything:
            policy.check([self._read_schema()], fold=self.dialect == "ladybug")
        self.policy = self._scoped(DEFAULT if policy is None else policy)
        self.audit = audit
        self.limits = DEFAULT_LIMITS if limits is None else limits
        self._schema = None
        self._as_described = {}
        if self.kind == "graph":
            is_needed = self.policy.limits_graph and self.dialect == "ladybug"
        else:
            is_needed = self.policy.needs_schema
        if is_needed and self.policy.schema is None:
            self.policy = replace(self.policy, schema=self._read_schema())
        if self._is_rewritten:
            self.policy = protected(self.policy, self._session)
        return self

    def with_rows(self, row_filters: Mapping[str, str]) -> Self:
        """Return this database as another reader sees it, who may read other rows of its tables.

        It has the same connections, and what was found when the database was opened; closing it
        closes nothing but itself.

        Parameters
        ----------
        row_filters
            In place of the policy's: a condition for each of the same tables.

        Raises
        ------
        UsageError
            They are for other tables, or one is no condition that can be used.
        """
        other = copy(self)
        other.policy = filtered_otherwise(self.policy, row_filters, self.dialect)
        other._as_described, other._closes_session = {}, False  # noqa: SLF001  (its own)
        return other

    def described(self, *told: Schema) -> Self:
        """Return this database as it reads with what scenarios say, where it has no comment.

        It is the same one, with the same connections, and closed with it: what is said for one
        question is not read by another.

        Parameters
        ----------
        told
            Scenarios' tables; where several describe one, the first does.
        """
        if told == self._told:
            return self
        found = self._as_described.get(told)
        if found is None:
            made = copy(self)
            made._told, made._schema, made._as_described = told, None, {}  # noqa: SLF001  (its own)
            found = self._as_described.setdefault(told, made)
        return found

    def schema(self) -> DatabaseSchema:
        """Return what may be read, as the database describes itself; read once."""
        if self._schema is None:
            self._refuse_if_closed()
            whole = reduce(add_descriptions, self._told, self._read_schema())
            self._schema = visible_schema(whole, self.dialect, self.policy)
        return self._schema

    def _schema_by(self, until: float) -> DatabaseSchema | None:
        """Return `schema`, or None where it is not read by then: reading it goes on.

        What a query says of it may take no longer than the query: of thousands of tables, or of a
        server that is busy with the statement before, it may be read for many seconds.
        """
        if self._schema is None and self._whole is None:
            with suppress(RuntimeError):  # no thread is to be had
                reading = Thread(target=self._read_ahead, name="dqa-schema", daemon=True)
                reading.start()
                reading.join(max(until - monotonic(), 0.0))
            if self._whole is None:
                return None
        return self.schema()

    def _read_ahead(self) -> None:
        with suppress(DqaError):  # whoever reads it next is told
            self._read_schema()

    def _read_schema(self) -> DatabaseSchema:
        """Return all that there is, read once: of thousands of tables that takes seconds."""
        if self._whole is None:
            self._whole = self._session.read_schema()
        return self._whole

    def check(self, statement: str) -> GuardVerdict:
        """Return whether `query` would run a statement, which is not run, and if not, why."""
        verdict = self._verdict(statement)
        if not verdict.allowed:
            for translated in self._translations(statement):
                return check(translated, self.dialect, self.policy)
        return verdict

    def _verdict(self, statement: str, seconds: float = _TELLING) -> GuardVerdict:
        """Return the verdict on a statement; with the schema, if it may not run without."""
        verdict = check(statement, self.dialect, self.policy)
        if verdict.allowed or self.kind == "graph" or self.policy.schema is not None:
            return verdict
        if "." not in statement and ":" not in statement:
            return verdict
        schema = self._schema_by(monotonic() + seconds)
        if schema is None:
            return verdict
        return check(statement, self.dialect, replace(self.policy, schema=schema))

    def query(self, statement: str, limits: Limits | None = None) -> Rows:
        """Run one read-only statement; see `dqa.core.database.Database.query`.

        A statement that a relational database cannot read is run in translation, where it is one
        of MySQL's or has functions of other dialects. Without `limits`, those hold with
        which the database was opened.
        """
        allowed = limits or self.limits
        journal = current_journal()
        if journal is None:
            return self._watched(statement, allowed)
        return query_once(journal, self.name, statement, allowed, self._watched)

    def note_not_run(self, statement: str, reason: str) -> None:
        """Write down a statement that the guard allows, and that a person did not let run."""
        self._record(statement, perf_counter(), allowed=False, reason=reason)

    def _watched(self, statement: str, limits: Limits) -> Rows:
        """Run a statement, measured and written down where somebody wants that."""
        with self._span(statement) as span:
            rows = self._audited(statement, limits)
            if span:
                span.set({"db.response.returned_rows": len(rows.rows), "dqa.cut": rows.cut})
        return rows

    def _span(self, statement: str) -> Span:
        """Return the span of a statement, by OpenTelemetry's conventions for databases."""
        span = start_span(
            f"query {self.name}",
            {
                "db.operation.name": "query",
                "db.system.name": _SYSTEMS.get(self.dialect, self.dialect),
                "db.namespace": self.namespace or self.name,
            },
            "client",
        )
        span.when_entered("db.query.text", lambda: statement)
        return span

    def _audited(self, statement: str, limits: Limits) -> Rows:
        if self.audit is None:
            return self._answered(statement, limits)
        started = perf_counter()
        try:
            rows = self._answered(statement, limits)
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
        if not self._closed:
            self._closed = True
            if self._closes_session:
                self._session.close()

    def _answered(self, statement: str, limits: Limits) -> Rows:
        verdict = self._verdict(statement, limits.seconds)
        problem: RefusedStatementError | NotUnderstoodError
        if verdict.allowed:
            self._require_approval(statement, verdict)
            try:
                return self._run(statement, verdict.statement, limits)
            except (RefusedStatementError, NotUnderstoodError) as error:
                problem = error
        else:
            problem = not_run(verdict.reason)
        for translated in self._translations(statement):
            verdict = check(translated, self.dialect, self.policy)
            self._require_approval(translated, verdict)
            try:
                rows = self._run(translated, verdict.statement, limits)
                return replace(rows, translated=translated)
            except NotUnderstoodError:
                continue  # its author knows what was written, and not the translation
        raise self._public(problem, statement) from problem.__cause__

    def _translations(self, statement: str) -> Iterator[str]:
        """Yield what a statement may mean in SQL, as this database allows it."""
        if self.kind == "relational":
            yield from translations(statement, self.dialect, self.policy)

    def _run(self, statement: str, text: str, limits: Limits) -> Rows:
        """Run the text of an allowed statement; an unknown name is told with what there is."""
        self._refuse_if_closed()
        until = monotonic() + limits.seconds + _TELLING
        try:
            described = self._described(text)
            if described is not None:
                return described
            rows = self._ran(statement, text, limits, until)
            return self._named(rows, statement, text) if self._is_rewritten else rows
        except StatementError as error:
            problem = self._without_hidden(error, statement, text) if self._is_rewritten else error
        if isinstance(problem, UnknownReferenceError):
            raise self._unknown(
                problem.problem, problem.name, statement, until
            ) from problem.__cause__
        if isinstance(problem, NotUnderstoodError):
            raise problem
        raise self._with_hints(problem, statement, until) from problem.__cause__

    def _described(self, text: str) -> Rows | None:
        """Return the answer to a statement that describes the database; None for any other."""
        first = text.split(maxsplit=1)[0].lower()
        if self.kind == "graph" or first not in _DESCRIBING:
            return None
        return answer(text, self.dialect, self.schema(), self.namespace or self.name)

    @property
    def _is_rewritten(self) -> bool:
        """Whether the text that runs can have conditions and values that the policy adds."""
        return self.kind == "relational" and (self.policy.hides or self.policy.restricts_columns)

    def _named(self, rows: Rows, statement: str, text: str) -> Rows:
        """Return rows whose columns are not called by what the policy adds."""
        columns = tuple(
            name if without_inserted(name, statement, text) == name else f"column_{number}"
            for number, name in enumerate(rows.columns, start=1)
        )
        return replace(rows, columns=columns)

    def _without_hidden(self, error: StatementError, statement: str, text: str) -> StatementError:
        """Return an error without what the policy adds to a statement, and without hidden values.

        It has no cause: that would have the engine's own words.
        """
        is_value = type(error) is StatementError
        if is_value and reads_filtered(statement, self.dialect, self.policy):
            return StatementError(_UNTOLD)
        if isinstance(error, UnknownReferenceError):
            problem = without_inserted(_PLACE.sub("", error.problem), statement, text)
            return UnknownReferenceError(problem, error.name)
        problem = without_inserted(_PLACE.sub("", str(error)), statement, text)
        return type(error)(problem)

    def _ran(self, statement: str, text: str, limits: Limits, until: float) -> Rows:  # noqa: ARG002
        """Run the text of a statement, which is for backends that look into it."""
        left = until - _TELLING - monotonic()
        if left >= limits.seconds - _AT_ONCE:
            return self._session.run(text, limits)
        return self._session.run(text, limits.left(max(left, _AT_ONCE)))

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

    def _unknown(self, problem: str, name: str, statement: str, until: float) -> StatementError:
        """Return the error of a name that is not there, with what there is."""
        schema = self._schema_by(until)
        if schema is None:
            return StatementError(f"{problem}. What there is could not be read in time; ask again.")
        return unknown_name(problem, name, schema, statement, self.dialect)

    def _with_hints(self, error: QueryError, statement: str, until: float) -> QueryError:
        if self.kind != "relational":
            return error
        return with_hints(error, statement, self.dialect, lambda: self._schema_by(until))

    def _public(
        self, error: RefusedStatementError | NotUnderstoodError, statement: str
    ) -> DqaError:
        """Return an error that no translation has helped, as the author is told it."""
        if isinstance(error, RefusedStatementError):
            return error
        return self._with_hints(StatementError(str(error)), statement, monotonic() + _TELLING)
