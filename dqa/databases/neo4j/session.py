"""A read-only Neo4j database, or one situation in it.

Three lines of defence keep a statement from writing: the guard; the transaction, which the server
opens for reading only; and the server's plan, which must be one that reads. The plan also stops
statements that change no data but the server, such as killing a connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count, product
from threading import Timer
from time import perf_counter
from typing import Any, TypeAlias
from uuid import uuid4

from neo4j import GqlStatusObject, Transaction
from neo4j.exceptions import ConfigurationError, Neo4jError, UnsupportedServerProduct

from dqa.core.database import Kind, Limits, Rows, timed_out
from dqa.core.errors import DataError, DqaError, StatementTimeoutError, UsageError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, quote_name
from dqa.core.session import Session
from dqa.databases.doctor import examine_neo4j
from dqa.databases.errors import Attempts, Failure, Fault, error_of, refused
from dqa.databases.neo4j.server import (
    FAILURES,
    ORDER,
    TAG,
    Server,
    converter,
    fault_of,
    first_line,
    values_of,
)
from dqa.databases.rows import collect

_SECONDS = 10.0
"""Seconds for reading the nodes of a label or the relationships of a type."""
_SAMPLE = 10_000
_BASE = re.compile(r"__\w+__|_Bloom_\w+_")
"""Labels that graph builders and browsers give to nodes in addition to their own."""
_PROPERTIES = (
    f"LIMIT {_SAMPLE} UNWIND CASE keys(x) WHEN [] THEN [null] ELSE keys(x) END AS name "
    "WITH *, CASE WHEN name IS NOT NULL THEN valueType(x[name]) END AS type "
    "RETURN name, collect(DISTINCT type) AS types, "
)
_Rows: TypeAlias = Callable[..., list[dict[str, Any]]]


def schema_of_tag(schema: Mapping[str, Any]) -> DatabaseSchema:
    """Return the schema that a tag describes."""

    def fields(part: Mapping[str, Any]) -> tuple[Field, ...]:
        return tuple(Field(name, kind) for name, kind in part["properties"])

    return DatabaseSchema(
        nodes=tuple(NodeInfo(n["label"], fields(n), n["key"]) for n in schema["nodes"]),
        edges=tuple(
            EdgeInfo(e["label"], e["source"], e["target"], fields(e)) for e in schema["edges"]
        ),
    )


def read_schema(rows: _Rows) -> DatabaseSchema:
    """Return the labels and relationship types of a database, with their properties.

    Names are in alphabetical order. The labels of this project's situations are left out.

    Parameters
    ----------
    rows
        Runs a statement within so many seconds and returns rows by column.
    """
    hidden = {TAG, *(row["name"] for row in rows(f"MATCH (t:{TAG}) RETURN t.place AS name"))}
    labels = {row["name"] for row in rows("CALL db.labels() YIELD label AS name RETURN name")}
    types = rows("CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name")
    keys = _keys(rows)
    nodes = (_node(rows, label, keys.get(label)) for label in sorted(labels - hidden))
    kinds = sorted(row["name"] for row in types)
    return DatabaseSchema(
        nodes=tuple(node for node in nodes if node is not None),
        edges=tuple(edge for kind in kinds for edge in _edges(rows, kind, hidden)),
    )


def _node(rows: _Rows, label: str, key: str | None) -> NodeInfo | None:
    """Return a label that some node has, with the properties of nodes that it is the name of."""
    found, comment = _sampled(
        rows, f"MATCH (x:{quote_name(label)})", "WITH x", "labels(x) AS labels"
    )
    if not (found or comment):
        return None
    own = [row for row in found if label in _without_base(row["labels"])]
    if found and not own:
        comment = "on nodes that have other labels, too"
    return NodeInfo(label, _fields(own), key, comment)


def _edges(rows: _Rows, kind: str, hidden: set[str]) -> Iterable[EdgeInfo]:
    """Yield a type with each pair of labels that it joins; an empty label for a node without."""
    found, comment = _sampled(
        rows,
        f"MATCH (a)-[x:{quote_name(kind)}]->(b)",
        "WITH a, x, b",
        "labels(a) AS sources, labels(b) AS targets",
    )
    pairs: set[tuple[str, str]] = set()
    for row in found:
        sources, targets = (
            _without_base(set(row[end]) - hidden) or [""] for end in ("sources", "targets")
        )
        pairs.update(product(sources, targets))
    if comment and not found:
        pairs = {("", "")}
    fields = _fields(found)
    for source, target in sorted(pairs):
        yield EdgeInfo(kind, source, target, fields, comment)


def _sampled(rows: _Rows, match: str, passed: str, ends: str) -> tuple[list[dict[str, Any]], str]:
    """Return the properties of nodes or relationships, and a comment unless all were read."""
    try:
        (counted,) = rows(f"{match} RETURN count(x) AS count", _SECONDS)
        found = rows(f"{match} {passed} {_PROPERTIES}{ends}", _SECONDS)
    except StatementTimeoutError:
        return [], "could not be read in time"
    count = counted["count"]
    return found, f"a sample of {_SAMPLE:,} of {count:,}" if count > _SAMPLE else ""


def _without_base(labels: Iterable[str]) -> list[str]:
    """Return the labels of a node without those that a tool gives to every node."""
    found = sorted(labels)
    return [label for label in found if not _BASE.fullmatch(label)] or found


def _fields(rows: Iterable[Mapping[str, Any]]) -> tuple[Field, ...]:
    """Return the properties in rows, with all types of each."""
    properties: dict[str, set[str]] = {}
    for row in rows:
        if row["name"] is not None:
            types = {kind.replace(" NOT NULL", "") for kind in row["types"]}
            properties.setdefault(row["name"], set()).update(types)
    return tuple(
        Field(name, " | ".join(sorted(types, key=lambda kind: (kind.startswith("LIST"), kind))))
        for name, types in sorted(properties.items())
    )


def _keys(rows: _Rows) -> dict[str, str]:
    """Return the property that a constraint on one property makes the key of its label."""
    found = rows(
        "SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties, type, entityType "
        "WHERE entityType = 'NODE' AND size(properties) = 1 "
        "AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY'] "
        "RETURN labels, properties ORDER BY labels, properties"
    )
    return {row["labels"][0]: row["properties"][0] for row in reversed(found)}


_PAGE = 1_000
"""Most rows fetched at a time."""
_REMEMBERED = 4_096
"""Statements whose plan is remembered."""
_PROFILE = re.compile(
    r"((?>(?:\s|/\*.*?\*/|//[^\n]*\n|\bcypher\b|\bexplain\b|[0-9]+|\w+\s*=\s*\w+)*))profile\b",
    re.IGNORECASE | re.DOTALL,
)
"""PROFILE, which excludes EXPLAIN, and the text that may precede it."""
_HARMLESS = re.compile(
    r"(?:explain\s+)?(?:call\s+dbms\.components\(\s*\)(?:\s*yield\s[\w\s,*]+)?"
    r"(?:\s*return\s[\w\s,*.]+)?$|show\s+(?:current\s+user|databases?)\b)",
    re.IGNORECASE,
)
"""Statements that only read, although the server plans them as a change of the schema."""
_UNKNOWN = {"01N50": "label", "01N51": "relationship type", "01N52": "property"}
"""The server's warnings of a name that is not in the database, by status."""


class Neo4jSession(Session):
    """A read-only Neo4j database.

    Parameters
    ----------
    server
        The open server; it belongs to this object from now on.
    tag
        The properties of the tag of the situation to show; None for the whole database.
    """

    kind: Kind = "graph"
    dialect = "neo4j"
    language = "Cypher (Neo4j 5)"

    def __init__(self, server: Server, tag: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.namespace = None if tag is None else tag["place"]
        self.name = server.address.named(self.namespace)
        self._server = server
        self._tag = tag
        self._convert = converter(self.namespace)
        self._warnings: dict[str, str] = {}
        self._attempts = Attempts(self._run_once, "RETURN 1")
        self._mark = f"dqa-{uuid4().hex}"
        self._numbers = count()
        self._is_announced = False

    def read_schema(self) -> DatabaseSchema:
        """Return the schema in a situation's tag, or the schema of the whole database."""
        if self._tag is not None:
            return schema_of_tag(json.loads(self._tag["schema"]))
        return read_schema(self._server.rows)

    def examine(self) -> Examination:
        """Return the server's version, the user, and advice about the server's settings."""
        return examine_neo4j(self._ask)

    def row_order(self, table: str) -> bytes:
        """Return the order of the rows of a loaded table, as `pack_order` returns it.

        Raises
        ------
        DataError
            This is not a loaded situation, or it has no such table.
        """
        order = None if self._tag is None else self._tag.get(ORDER + table)
        if order is None:
            raise DataError(f"Database '{self.name}' stores no order of the rows of '{table}'.")
        return bytes(order)

    def close(self) -> None:
        """Close all connections."""
        self._server.close()

    def end_statements(self, mark: str) -> None:
        """End transactions of another session."""
        self._server.end_marked(mark)

    def run(self, statement: str, limits: Limits) -> Rows:
        """Run a statement that the guard has allowed."""
        if not self._is_announced:
            self._is_announced = True
            self.announce(self._mark)
        return self._attempts.run(statement, limits)

    def _ask(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        """Return the rows of a statement of this project; none if the user lacks the right."""
        try:
            return tuple(tuple(row.values()) for row in self._server.rows(statement))
        except (UsageError, DataError):
            return ()

    def _run_once(self, statement: str, limits: Limits) -> Rows:
        started, is_sent = perf_counter(), False
        fetch = min(limits.rows + 1, _PAGE)
        mark = f"{self._mark}-{next(self._numbers)}-"
        # The server looks at its own time limit every two seconds only.
        timer = Timer(limits.seconds, self._server.end_marked, (mark,))
        timer.daemon = True
        timer.start()
        try:
            with self._server.reading(limits.seconds, fetch, mark) as (transaction, leave):
                is_sent = True
                self._require_reading(statement, transaction)
                result = transaction.run(statement)
                rows = collect(
                    *(list(result.keys()), map(values_of, result), limits, started, self._convert),
                    failures=FAILURES,
                    stop=leave,
                )
                if not (rows.rows or rows.cut) and (plan := result.consume().plan):
                    return self._explained(plan, limits, started)
                if rows.cut in {"rows", "bytes"} and rows.total is None:
                    leave()  # a rollback would read all rows that are on their way
                return replace(rows, warning=self._warnings.get(statement, ""))
        except FAILURES as error:
            if isinstance(error, Neo4jError) and perf_counter() - started >= limits.seconds:
                raise timed_out(limits, self.kind) from error
            raise self._error(error, limits, is_sent=is_sent) from error
        finally:
            timer.cancel()

    def _explained(self, plan: Mapping[str, Any], limits: Limits, started: float) -> Rows:
        """Return the plan that EXPLAIN asks for, which the server does not send as rows."""
        text = self._without_label(str(plan.get("args", {}).get("string-representation", "")))
        return collect(["plan"], ([line] for line in text.splitlines()), limits, started)

    def _require_reading(self, statement: str, transaction: Transaction) -> None:
        """Refuse a statement whose plan does more than read; remember its warning."""
        if statement in self._warnings:
            return
        match = _PROFILE.match(statement)
        plain = statement if match is None else match[1] + statement[match.end() :]
        planned = transaction.run(f"EXPLAIN {plain}").consume()
        kind = planned.query_type
        if kind != "r" and not (kind == "s" and _HARMLESS.match(statement)):
            raise refused("it does more than read data")
        if len(self._warnings) >= _REMEMBERED:
            self._warnings.clear()
        self._warnings[statement] = _warning(statement, planned.gql_status_objects)

    def _without_label(self, text: str) -> str:
        return text if self.namespace is None else text.replace(self.namespace, "…")

    def _error(self, error: Exception, limits: Limits, *, is_sent: bool) -> DqaError:
        code = getattr(error, "code", None) or ""
        fault = fault_of(code)
        if fault is Fault.UNCLEAR and not is_sent:
            fault = Fault.PASSING
        failure = Failure(fault, self._without_label(first_line(error)))
        is_ours = isinstance(error, (UnsupportedServerProduct, ConfigurationError))
        if failure.fault is Fault.SERVER or is_ours:
            return self._server.failure(error)
        return error_of(failure, self.name, self.kind, limits)


def _warning(statement: str, statuses: Sequence[GqlStatusObject]) -> str:
    """Return which names of a statement's author are not in the database.

    The guard has written the names in backticks.
    """
    unknown: list[str] = []
    for status in statuses:
        position = status.position
        if status.gql_status in _UNKNOWN and position is not None:
            name = re.match(r"\w+", statement[position.offset - len("EXPLAIN ") :])
            if name is not None:
                unknown.append(f"there is no {_UNKNOWN[status.gql_status]} {name[0]}")
    return "; ".join(dict.fromkeys(unknown))
