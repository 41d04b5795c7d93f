"""A read-only Neo4j database, or one situation in it.

Three lines of defence keep a statement from writing: the guard; the transaction, which the server
opens for reading only; and the server's plan, which must be one that reads. The plan also stops
statements that change no data but the server, such as killing a connection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count, product
from threading import Timer
from time import perf_counter
from typing import Any, TypeAlias
from uuid import uuid4

from neo4j import GqlStatusObject, Record, Transaction
from neo4j.exceptions import Neo4jError

from dqa.core.database import Kind, Limits, timed_out
from dqa.core.errors import DataError, StatementTimeoutError, UsageError
from dqa.core.examination import Examination
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, quote_name
from dqa.databases.doctor import examine_neo4j
from dqa.databases.engine_session import Connection, EngineSettings, Result
from dqa.databases.errors import Fault, refused
from dqa.databases.neo4j.server import (
    FAILURES,
    ORDER,
    TAG,
    Address,
    Server,
    converter,
    fault_of,
    first_line,
    values_of,
)

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


class Neo4j(EngineSettings):
    """A Neo4j database, or one situation in it.

    Parameters
    ----------
    address
        Where it is.
    tag
        The properties of the tag of the situation to show; None for the whole database.
    """

    kind: Kind = "graph"
    dialect = "neo4j"
    language = "Cypher (Neo4j 5)"
    errors = FAILURES
    is_server = True
    trivial = "RETURN 1"

    def __init__(self, address: Address, tag: Mapping[str, Any] | None = None) -> None:
        self._address, self._tag = address, tag
        self._namespace: str = "" if tag is None else tag["place"]
        self.convert = converter(self._namespace)
        self._warnings: dict[str, str] = {}
        self._mark = f"dqa-{uuid4().hex}"
        self._numbers = count()
        self._has_begun = self._has_ended = False  # of the statement

    def connect(self) -> Server:
        """Return an open driver, which connects for the first statement."""
        return Server(self._address)

    def identify(self, driver: Server) -> str:  # noqa: ARG002
        """Return the mark of all transactions of this session."""
        return self._mark

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Remember the limits, which the server gets with the statement."""
        connection.limits = limits
        self._has_begun = self._has_ended = False

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run a statement in a transaction that only reads."""
        server, limits, started = connection.driver, connection.limits, perf_counter()
        mark = f"{self._mark}-{next(self._numbers)}-"
        # The server looks at its own time limit every two seconds only.
        timer = Timer(limits.seconds, self.end, (mark,))
        timer.daemon = True
        timer.start()
        try:
            with server.reading(limits.seconds, min(limits.rows + 1, _PAGE), mark) as transaction:
                self._has_begun = True
                warning = self._require_reading(statement, transaction)
                result = transaction.run(statement)
                names, is_empty = result.keys(), result.peek() is None
                plan = result.consume().plan if is_empty else None
                if plan:  # of an EXPLAIN, which the server does not send as rows
                    text = str(plan.get("args", {}).get("string-representation", ""))
                    yield Result(["plan"], ([line] for line in self._shown(text).splitlines()))
                    return
                yield Result(names, () if is_empty else self._rows(result), warning)
                if not (is_empty or self._has_ended):
                    server.leave()  # a rollback would read all rows that are on their way
        except Neo4jError as error:
            if perf_counter() - started >= limits.seconds:
                raise timed_out(limits, self.kind) from error
            raise
        finally:
            timer.cancel()

    def _rows(self, result: Iterable[Record]) -> Iterator[list[Any]]:
        yield from map(values_of, result)
        self._has_ended = True

    def interrupt(self, connection: Connection) -> Callable[[], object]:
        """Return what breaks the connection of a transaction."""
        leave: Callable[[], object] = connection.driver.leave
        return leave

    def end(self, mark: str) -> None:
        """End the transactions whose mark begins so."""
        with closing(Server(self._address)) as other:
            other.end_marked(mark)

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Explain an error by its code."""
        fault = fault_of(getattr(error, "code", None) or "")
        if fault is Fault.UNCLEAR and not self._has_begun:
            fault = Fault.PASSING
        return fault, self._shown(first_line(error))

    def describe(self, driver: Server) -> DatabaseSchema:
        """Return the schema in a situation's tag, or the schema of the whole database."""
        if self._tag is not None:
            return schema_of_tag(json.loads(self._tag["schema"]))
        return read_schema(driver.rows)

    def row_order(self, table: str) -> bytes:
        """Return the order of the rows of a loaded table, as `pack_order` returns it.

        Raises
        ------
        DataError
            This is not a loaded situation, or it has no such table.
        """
        order = None if self._tag is None else self._tag.get(ORDER + table)
        if order is None:
            raise DataError(f"{self._address.name} stores no order of the rows of '{table}'.")
        return bytes(order)

    def examine(self, run: object) -> Examination:  # noqa: ARG002
        """Return the server's version, the user, and advice about the server's settings."""
        with closing(self.connect()) as server:

            def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
                try:
                    return tuple(tuple(row.values()) for row in server.rows(statement))
                except (UsageError, DataError):  # the user lacks the right
                    return ()

            return examine_neo4j(ask)

    def _require_reading(self, statement: str, transaction: Transaction) -> str:
        """Refuse a statement whose plan does more than read; return its warning."""
        if statement in self._warnings:
            return self._warnings[statement]
        match = _PROFILE.match(statement)
        plain = statement if match is None else match[1] + statement[match.end() :]
        planned = transaction.run(f"EXPLAIN {plain}").consume()
        kind = planned.query_type
        if kind != "r" and not (kind == "s" and _HARMLESS.match(statement)):
            raise refused("it does more than read data")
        if len(self._warnings) >= _REMEMBERED:
            self._warnings.clear()
        warning = _warning(statement, planned.gql_status_objects)
        self._warnings[statement] = warning
        return warning

    def _shown(self, text: str) -> str:
        """Return a text of the server without the situation's label."""
        return text.replace(self._namespace, "…") if self._namespace else text


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
