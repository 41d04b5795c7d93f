"""A read-only Neo4j database, or one situation in it.

Three lines keep a statement from writing: the guard; the transaction, which the server opens for
reading only; and the server's own plan, which must be one that reads, asked for once a statement:
it stops what changes no data but the server, as killing a connection does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter
from typing import Any
from uuid import uuid4

from neo4j import GqlStatusObject
from neo4j.exceptions import DriverError, Neo4jError

from dqa.core.database import Kind, Limits, Rows
from dqa.core.errors import DataError, UsageError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema
from dqa.core.session import Session
from dqa.databases.failures import refused, timed_out, unanswered
from dqa.databases.faults import Attempts, Failure, Fault, error_of
from dqa.databases.leaving import ENDING, OverdueError
from dqa.databases.neo4j.advice import examine
from dqa.databases.neo4j.codes import fault_of, fault_of_driver
from dqa.databases.neo4j.describing import read_schema, schema_of_tag
from dqa.databases.neo4j.server import Reading, Server, first_line
from dqa.databases.neo4j.values import converter, values_of
from dqa.databases.rows import collect

_PAGE = 1_000
"""Most rows fetched at a time."""
_KEPT = 4_096
"""Statements remembered."""
_FAILURES = (Neo4jError, DriverError, OSError)
_PROFILE = re.compile(
    r"((?>(?:\s|/\*.*?\*/|//[^\n]*\n|\bcypher\b|\bexplain\b|[0-9]+|\w+\s*=\s*\w+)*))profile\b",
    re.IGNORECASE | re.DOTALL,
)
"""What excludes EXPLAIN, and what may stand before it."""
_HARMLESS = re.compile(
    r"(?:explain\s+)?(?:call\s+dbms\.components\(\s*\)(?:\s*yield\s[\w\s,*]+)?"
    r"(?:\s*return\s[\w\s,*.]+)?$|show\s+(?:current\s+user|databases?)\b)",
    re.IGNORECASE,
)
"""What only reads, and whose plan the server takes for a change of the schema."""
_UNKNOWN = {"01N50": "label", "01N51": "relationship type", "01N52": "property"}
"""What the server warns of, by its status: a name that is not in the database."""
_CUT = frozenset({"rows", "bytes"})


@dataclass(frozen=True, slots=True)
class GraphNamespace:
    """A loaded situation's label, and what its tag says of its schema and of its rows' order."""

    label: str
    schema: Mapping[str, Any]


class _UnsentError(Exception):
    """The server was away before a statement was sent."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Neo4jSession(Session):
    """A read-only Neo4j database.

    Parameters
    ----------
    server
        The open server; it belongs to this object from now on.
    namespace
        The situation to show; None for the whole database.
    """

    kind: Kind = "graph"
    dialect = "neo4j"
    language = "Cypher (Neo4j 5)"

    def __init__(self, server: Server, namespace: GraphNamespace | None = None) -> None:
        label = namespace.label if namespace else None
        super().__init__()
        self.name = server.address.named(label)
        self.probe = server.address.probe
        self.namespace = label
        self._server = server
        self._situation = namespace
        self._convert = converter(lambda name: name != label)
        self._reading: dict[str, str] = {}
        self._attempts = Attempts(self._run_once, "RETURN 1")
        self._mark = f"dqa-{uuid4().hex}"
        self._numbers = count()
        self._is_announced = False

    def read_schema(self) -> DatabaseSchema:
        """Return what the tag says of a situation, or what the whole database has."""
        if self._situation is not None:
            return schema_of_tag(self._situation.schema)
        return read_schema(self._server.rows)

    def examine(self) -> Examination:
        """Return what the server says of itself, of the user and of its limits."""
        return examine(self._told)

    def close(self) -> None:
        """Close all connections."""
        self._server.close()

    def end_statements(self, mark: str, seconds: float) -> bool:
        """End transactions of another session."""
        return self._server.end_marked(mark, seconds)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has let through.

        Once more, where the server was away before it was sent: after a failure the driver has
        dropped the connections of before, so the second time is on a new one.
        """
        if not self._is_announced:
            self._is_announced = True
            self.announce(self._mark)
        return self._attempts.run(statement, limits)

    def _told(self, statement: str) -> list[dict[str, Any]]:
        """Return the rows of a statement of our own; none where the user may not know them."""
        try:
            return self._server.rows(statement)
        except (UsageError, DataError):
            return []

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        mark = f"{self._mark}-{next(self._numbers)}-"
        is_sent = False
        try:
            with self._server.reading(limits.seconds, min(limits.rows + 1, _PAGE), mark) as reading:
                is_sent = True
                return self._rows(reading, statement, limits)
        except OverdueError as error:
            if self._server.end_marked(mark, ENDING):
                raise timed_out(limits, self.kind) from error
            raise unanswered(self.name, limits) from error
        except _FAILURES as error:
            failure = replace(self._failure(error), is_sent=is_sent)
            if failure.fault is Fault.ACCESS:
                raise self._server.failure(error) from error
            raise error_of(failure, error, self.name, self.kind, limits) from error

    def _rows(self, reading: Reading, statement: str, limits: Limits) -> Rows:
        started = perf_counter()
        if statement not in self._reading:
            self._require_reading(statement, reading.run)
        result = reading.run(statement)
        rows = collect(
            list(result.keys()),
            map(values_of, result),
            limits,
            started,
            self._convert,
            failures=_FAILURES,
            stop=reading.leave,
        )
        if not (rows.rows or rows.cut) and (plan := result.consume().plan):
            return self._explained(plan, limits, started)
        if rows.cut in _CUT and rows.total is None:
            reading.leave()  # a rollback would read all that is on its way
        return replace(rows, warning=self._reading.get(statement, ""))

    def _explained(self, plan: Mapping[str, Any], limits: Limits, started: float) -> Rows:
        """Return the plan that EXPLAIN asks for, which the server tells beside the rows."""
        told = str(plan.get("args", {}).get("string-representation", ""))
        if self._situation is not None:
            told = told.replace(self._situation.label, "…")
        lines = ([line] for line in told.splitlines())
        return collect(["plan"], lines, limits, started, failures=_FAILURES, stop=lambda: None)

    def _require_reading(self, statement: str, run: Callable[..., Any]) -> None:
        told = run(f"EXPLAIN {_unprofiled(statement)}").consume()
        kind = told.query_type
        if kind != "r" and not (kind == "s" and _HARMLESS.match(statement)):
            raise refused("it does more than read data")
        if len(self._reading) >= _KEPT:
            self._reading.clear()
        self._reading[statement] = _warning(statement, told.gql_status_objects)

    def _failure(self, error: Exception) -> Failure:
        problem = first_line(error)
        if self._situation is not None:
            problem = problem.replace(self._situation.label, "…")
        if isinstance(error, Neo4jError):
            return Failure(fault_of(error.code or ""), problem)
        outage = str(self._server.failure(error))
        return Failure(fault_of_driver(error), problem, outage=outage)


def _warning(statement: str, told: Sequence[GqlStatusObject]) -> str:
    """Return which of the names that a statement's author wrote are not in the database.

    Those in backticks were written by the guard.
    """
    unknown: list[str] = []
    for status in told:
        position = status.position
        if status.gql_status in _UNKNOWN and position is not None:
            name = re.match(r"\w+", statement[position.offset - len("EXPLAIN ") :])
            if name is not None:
                unknown.append(f"there is no {_UNKNOWN[status.gql_status]} {name[0]}")
    return "; ".join(dict.fromkeys(unknown))


def _unprofiled(statement: str) -> str:
    """Return a statement without PROFILE, which its plan does not depend on."""
    match = _PROFILE.match(statement)
    return statement if match is None else match[1] + statement[match.end() :]
