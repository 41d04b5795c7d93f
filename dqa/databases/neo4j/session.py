"""A read-only Neo4j database, or one situation in it.

Three protections prevent a statement from writing: the guard, a read-only transaction, and a check
that the server's plan only reads. The plan also reveals statements that change the server but not
the data, such as statements that end a connection.
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
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, quote_name
from dqa.core.session import Examination
from dqa.databases.doctor import examine_neo4j
from dqa.databases.engine_session import Connection, EngineSession, Result
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
"""The maximum number of seconds for reading one label or one relationship type."""
_SAMPLE = 10_000
_BASE = re.compile(r"__\w+__|_Bloom_\w+_")
"""Matches labels that tools such as graph builders add to nodes."""
_PROPERTIES = (
    f"LIMIT {_SAMPLE} UNWIND CASE keys(x) WHEN [] THEN [null] ELSE keys(x) END AS name "
    "WITH *, CASE WHEN name IS NOT NULL THEN valueType(x[name]) END AS type "
    "RETURN name, collect(DISTINCT type) AS types, "
)
_Rows: TypeAlias = Callable[..., list[dict[str, Any]]]


def schema_of_tag(schema: Mapping[str, Any]) -> DatabaseSchema:
    """Return the schema in the tag of a situation."""

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

    Names are in alphabetical order. The labels that mark namespaces and tags are omitted.

    Parameters
    ----------
    rows
        Runs a statement within a number of seconds and returns rows as dictionaries.
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
    """Return a label with the properties of its nodes; None if no node has the label."""
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
    """Yield a relationship type once for each pair of labels that it connects, with properties.

    The properties are those of the relationships between the two labels. An empty string in place
    of a label means nodes without a label.
    """
    found, comment = _sampled(
        rows,
        f"MATCH (a)-[x:{quote_name(kind)}]->(b)",
        "WITH a, x, b",
        "labels(a) AS sources, labels(b) AS targets",
    )
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in found:
        sources, targets = (
            _without_base(set(row[end]) - hidden) or [""] for end in ("sources", "targets")
        )
        for pair in product(sources, targets):
            pairs.setdefault(pair, []).append(row)
    if comment and not found:
        pairs = {("", ""): []}
    for (source, target), own in sorted(pairs.items()):
        yield EdgeInfo(kind, source, target, _fields(own), comment)


def _sampled(rows: _Rows, match: str, passed: str, ends: str) -> tuple[list[dict[str, Any]], str]:
    """Return the properties of nodes or relationships, and a comment if only some were read."""
    try:
        (counted,) = rows(f"{match} RETURN count(x) AS count", _SECONDS)
        found = rows(f"{match} {passed} {_PROPERTIES}{ends}", _SECONDS)
    except StatementTimeoutError:
        return [], "could not be read in time"
    count = counted["count"]
    return found, f"a sample of {_SAMPLE:,} of {count:,}" if count > _SAMPLE else ""


def _without_base(labels: Iterable[str]) -> list[str]:
    """Remove the labels that tools add; keep all labels if tools added all of them."""
    found = sorted(labels)
    return [label for label in found if not _BASE.fullmatch(label)] or found


def _fields(rows: Iterable[Mapping[str, Any]]) -> tuple[Field, ...]:
    """Return the properties, each with the types of all its values."""
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
    """Return the key property of each label that has a key constraint on a single property."""
    found = rows(
        "SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties, type, entityType "
        "WHERE entityType = 'NODE' AND size(properties) = 1 "
        "AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY'] "
        "RETURN labels, properties ORDER BY labels, properties"
    )
    return {row["labels"][0]: row["properties"][0] for row in reversed(found)}


_PAGE = 1_000
"""The number of rows that the server sends at a time."""
_HARMLESS = re.compile(r"(explain\s+)?show\s+(current\s+user|databases?)\b", re.IGNORECASE)
"""Matches statements that only read, although the server classifies them as schema changes."""
_UNKNOWN = {"01N50": "label", "01N51": "relationship type", "01N52": "property"}
"""The kind of an unknown name, by the status code of the server's warning."""


class Neo4j(EngineSession):
    """A Neo4j database, or one situation in it.

    Parameters
    ----------
    address
        The address of the database.
    tag
        The properties of the tag node of the situation; None for the whole database.
    database
        The name of the database.
    """

    kind: Kind = "graph"
    dialect = "neo4j"
    language = "Cypher (Neo4j 5)"
    errors = FAILURES
    is_server = True
    trivial = "RETURN 1"

    def __init__(self, address: Address, tag: Mapping[str, Any] | None, database: str) -> None:
        label: str | None = None if tag is None else tag["place"]
        path = (database,) if label is None else ()
        super().__init__(address.named(label), namespace=label, search_path=path)
        self._address, self._tag, self._label = address, tag, label
        self.convert = converter(label)
        self._mark = f"dqa-{uuid4().hex}"
        self._numbers = count()
        self._has_begun = self._has_ended = False  # states of the transaction

    def connect(self) -> Server:
        """Return a driver, which connects at the first statement."""
        return Server(self._address)

    def identify(self, driver: Server) -> str:  # noqa: ARG002
        """Return the mark of this session's transactions."""
        return self._mark

    def prepare(self, connection: Connection, limits: Limits) -> None:
        """Store the limits, which are sent together with the statement."""
        connection.limits = limits
        self._has_begun = self._has_ended = False

    @contextmanager
    def execute(self, connection: Connection, statement: str) -> Iterator[Result]:
        """Run a statement in a read-only transaction."""
        server, limits, started = connection.driver, connection.limits, perf_counter()
        mark = f"{self._mark}-{next(self._numbers)}-"
        # The server checks its own time limit only every two seconds.
        timer = Timer(limits.seconds, self.end_statements, (mark,))
        timer.daemon = True
        timer.start()
        try:
            with server.reading(limits.seconds, min(limits.rows + 1, _PAGE), mark) as transaction:
                self._has_begun = True
                warning = self._require_reading(statement, transaction)
                result = transaction.run(statement)
                names, is_empty = result.keys(), result.peek() is None
                plan = result.consume().plan if is_empty else None
                if plan:  # the server does not send the plan of an EXPLAIN as rows
                    text = str(plan.get("args", {}).get("string-representation", ""))
                    yield Result(["plan"], ([line] for line in self._shown(text).splitlines()))
                    return
                yield Result(names, () if is_empty else self._rows(result), warning)
                if not (is_empty or self._has_ended):
                    server.leave()  # a rollback would read all remaining rows
        except Neo4jError as error:
            if perf_counter() - started >= limits.seconds:
                raise timed_out(limits, self.kind) from error
            raise
        finally:
            timer.cancel()

    def _rows(self, result: Iterable[Record]) -> Iterator[list[Any]]:
        yield from map(values_of, result)
        self._has_ended = True

    def end_statements(self, mark: str) -> None:
        """End the transactions whose mark begins with `mark`."""
        with closing(Server(self._address)) as other:
            other.end_marked(mark)

    def failure(self, error: Exception) -> tuple[Fault, str]:
        """Classify an error by its status code."""
        fault = fault_of(getattr(error, "code", None) or "")
        if fault is Fault.UNCLEAR and not self._has_begun:
            fault = Fault.PASSING
        return fault, self._shown(first_line(error))

    def describe(self, driver: Server) -> DatabaseSchema:
        """Return the schema of the situation or of the whole database."""
        if self._tag is not None:
            return schema_of_tag(json.loads(self._tag["schema"]))
        return read_schema(driver.rows)

    def row_order(self, table: str) -> bytes:
        """Return the order of a table's rows in the loaded situation, as `pack_order` stores it.

        Raises
        ------
        DataError
            The session reads the whole database, or the situation lacks the table.
        """
        order = None if self._tag is None else self._tag.get(ORDER + table)
        if order is None:
            raise DataError(
                f"{self._address.name} does not store the order of the rows of '{table}'."
            )
        return bytes(order)

    def examine(self) -> Examination:
        """Return the server's version, the user, and advice about the server's settings."""
        with closing(self.connect()) as server:

            def ask(statement: str) -> tuple[tuple[Any, ...], ...]:
                try:
                    return tuple(tuple(row.values()) for row in server.rows(statement))
                except (UsageError, DataError):  # the user lacks the right
                    return ()

            return examine_neo4j(ask)

    def _require_reading(self, statement: str, transaction: Transaction) -> str:
        """Refuse a statement whose plan does more than read.

        Otherwise return the server's warning.
        """
        planned = transaction.run(f"EXPLAIN {statement}").consume()
        kind = planned.query_type
        if kind != "r" and not (kind == "s" and _HARMLESS.match(statement)):
            raise refused("it does more than read data; write a query that only reads")
        return _warning(statement, planned.gql_status_objects)

    def _shown(self, text: str) -> str:
        """Return a text of the server without the label of the namespace."""
        return text.replace(self._label, "…") if self._label else text


def _warning(statement: str, statuses: Sequence[GqlStatusObject]) -> str:
    """Return a warning if a statement uses names that do not exist in the database.

    Names in backticks are ignored, because the guard may have added them.
    """
    unknown: list[str] = []
    for status in statuses:
        position = status.position
        if status.gql_status in _UNKNOWN and position is not None:
            name = re.match(r"\w+", statement[position.offset - len("EXPLAIN ") :])
            if name is not None:
                unknown.append(f"there is no {_UNKNOWN[status.gql_status]} {name[0]}")
    return "; ".join(dict.fromkeys(unknown))
