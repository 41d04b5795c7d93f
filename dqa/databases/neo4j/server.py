"""Connect to a Neo4j server, and convert its values and errors."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import neo4j
import neo4j.graph
import neo4j.spatial
import neo4j.time
import neo4j.vector
import numpy as np
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, UnsupportedServerProduct
from sqlalchemy import URL

from dqa.core import errors
from dqa.databases.errors import Fault, read_faults
from dqa.databases.servers import parse_url


def fault_of(code: str) -> Fault:
    """Return the `Fault` for a status code."""
    _, _, category, title = (*code.split("."), "", "", "", "")[:4]
    is_statement = category in {"Statement", "Schema", "Procedure"} and "Remote" not in title
    return read_faults("neo4j").get(title, Fault.STATEMENT if is_statement else Fault.UNCLEAR)


TAG = "dqa_situation"
"""The label of the nodes that are tags. These nodes do not have the label of the namespace, so
statements cannot read them."""
ORDER = "order_"
"""The prefix of tag properties that store the order of a table's rows."""
FAILURES = (Neo4jError, DriverError, OSError)
"""The exceptions of the driver."""
_MARK = "dqa"
"""The key in a transaction's metadata whose value is the mark of the session."""
_END = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, metaData "
    f"WHERE metaData.{_MARK} STARTS WITH $mark "
    "TERMINATE TRANSACTIONS id YIELD message RETURN message"
)
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_CONNECTING = 10.0
"""If a host does not answer within this number of seconds, it is unreachable."""
_STALE = 30.0
"""A connection that was idle for this number of seconds is tested before its next use."""
_FOR_THE_USER = (
    *("AuthenticationRateLimit", "CredentialsExpired", "DatabaseNotFound", "Security.Forbidden"),
    *("Security.Unauthorized", "Statement.AccessMode"),
)
"""The ends of status codes for problems that the user can fix."""
_POSITION = re.compile(r" \(line \d+, column \d+ \(offset: \d+\)\)")


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of the URL of a Neo4j database.

    Attributes
    ----------
    uri
        The scheme, host, port and routing context, in the form that the driver accepts.
    user, password
        The login; empty for a server without authentication.
    database
        The name of the database; None for the user's default database.
    namespace
        The namespace of the situation to open; None for the whole database.
    """

    uri: str
    user: str = ""
    password: str = field(default="", repr=False)
    database: str | None = None
    namespace: str | None = None

    @classmethod
    def parse(cls, location: str) -> Address:
        """Parse a URL; raise `UsageError` if it is malformed.

        The message does not quote the URL.
        """
        url = parse_url(location)
        if url.drivername not in _SCHEMES or not url.host:
            raise errors.UsageError(
                "The Neo4j URL cannot be read; write bolt://user:password@host:7687/database."
            )
        namespace = url.query.get("namespace")
        context = url.difference_update_query(["namespace"]).query
        uri = URL.create(url.drivername, host=url.host, port=url.port, query=context)
        return cls(
            uri=uri.render_as_string(),
            user=url.username or "",
            password=str(url.password or ""),
            database=(url.database or "").strip("/") or None,
            namespace=None if namespace is None else str(namespace),
        )

    @property
    def name(self) -> str:
        """The name of the database in results and messages."""
        return self.named(None)

    def named(self, namespace: str | None) -> str:
        """Return the name of the database, with the namespace if there is one, for messages."""
        return "/".join(part for part in (self.uri, self.database, namespace) if part)


class Server:
    """An open driver for the database at an address.

    Raises
    ------
    UsageError
        The driver rejects the address.
    """

    def __init__(self, address: Address) -> None:
        # Without a handler, the driver would print its retries to standard error.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        self.address = address
        self._session: neo4j.Session | None = None
        try:
            self.driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password) if address.user else None,
                connection_timeout=_CONNECTING,
                liveness_check_timeout=_STALE,
                max_transaction_retry_time=_CONNECTING,
                notifications_min_severity="WARNING",
                warn_notification_severity="OFF",
                telemetry_disabled=True,
                user_agent="dqa",
            )
        except (DriverError, ValueError, OSError) as error:
            raise self.failure(error) from error

    @contextmanager
    def reading(
        self, seconds: float, fetch: int = 1_000, mark: str = ""
    ) -> Iterator[neo4j.Transaction]:
        """Begin a read-only transaction with a time limit, at which the server ends it.

        Parameters
        ----------
        seconds
            The time limit of the transaction.
        fetch
            The number of rows that the server sends at a time.
        mark
            The identifier with which `end_marked` finds the transaction.
        """
        self._session = session = self.driver.session(
            database=self.address.database,
            default_access_mode=neo4j.READ_ACCESS,
            fetch_size=fetch,
            connection_acquisition_timeout=max(seconds, 1.0),
        )
        try:
            metadata = {_MARK: mark} if mark else None
            yield session.begin_transaction(timeout=seconds, metadata=metadata)
        finally:
            with suppress(*FAILURES):
                session.close()

    def leave(self) -> None:
        """Break the connection of the latest transaction. Any thread may call this method."""
        session = self._session
        if session is not None and (connection := session._connection):  # noqa: SLF001  (no public way)
            connection.kill()  # type: ignore[no-untyped-call]

    def end_marked(self, mark: str) -> None:
        """End the transactions whose mark begins with `mark`, if the user may do so."""
        with suppress(*FAILURES), self.reading(_CONNECTING) as transaction:
            transaction.run(_END, mark=mark).consume()

    def writing(self) -> neo4j.Session:
        """Return a session that may write, for loading."""
        return self.driver.session(database=self.address.database)

    def write(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Run a statement that writes and return its rows; run it again after a deadlock."""
        with self.writing() as session:
            return session.execute_write(lambda tx: tx.run(statement, parameters).data())

    def rows(
        self,
        statement: str,
        seconds: float = 60.0,
        **parameters: Any,  # noqa: ANN401
    ) -> list[dict[str, Any]]:
        """Run one of dqa's own statements and return its rows as dictionaries.

        Raises
        ------
        StatementTimeoutError
            The statement took more than `seconds`.
        UsageError, DatabaseUnavailableError
            See `failure`.
        """
        try:
            with self.reading(seconds) as transaction:
                return transaction.run(statement, parameters).data()
        except FAILURES as error:
            raise self.failure(error) from error

    def close(self) -> None:
        """Close all connections."""
        self.driver.close()

    def failure(self, error: Exception) -> errors.DqaError:
        """Translate a driver's error during connecting or loading to an error of dqa."""
        where, problem = f"Neo4j at {self.address.name}", first_line(error)
        code = str(getattr(error, "code", None) or "")
        if fault_of(code) is Fault.TIME:
            return errors.StatementTimeoutError(
                f"{where} took too long to answer. Check the load of the server, and try again."
            )
        if code.endswith(_FOR_THE_USER):
            user = self.address.user or "(none: the URL has no user and password)"
            return errors.UsageError(
                f"{where} refuses the login of user {user}: {problem}. Check the "
                "user, the password and the database in the URL, and the rights of the user."
            )
        if isinstance(error, (UnsupportedServerProduct, ConfigurationError)):
            return errors.UsageError(
                f"{where} does not work with this driver: {problem}. Neo4j 5.13 or later is needed."
            )
        if code.startswith(("Neo.ClientError.Schema", "Neo.ClientError.Statement")):
            return errors.DataError(f"{where} refuses a statement: {problem}.")
        if code:
            return errors.DatabaseUnavailableError(f"{where} failed: {problem}.")
        return errors.DatabaseUnavailableError(
            f"{where} cannot be reached: {problem.rstrip(':.')}. Is the server running, and is "
            "this its Bolt port?"
        )


def first_line(error: Exception) -> str:
    """Return the first line of an error, without positions in the text that the guard wrote."""
    text = str(getattr(error, "message", None) or error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return _POSITION.sub("", line).strip().rstrip(".")


_TIMES = (neo4j.time.Date, neo4j.time.Time, neo4j.time.DateTime, neo4j.time.Duration)
_LAST_YEAR = 9_999


def values_of(record: neo4j.Record) -> list[Any]:
    """Return the values of a record, including values that the driver could not read.

    The record itself raises an exception if such a value is accessed.
    """
    return list(tuple.__iter__(record))


def converter(hidden: str | None) -> Callable[[Any], Any]:
    """Return a function that converts the driver's values to lists, maps and plain values.

    A node or relationship becomes a dictionary with its label or type and its properties in
    alphabetical order. Several labels become a list. A path becomes a dictionary of its nodes
    and its relationships. Internal ids and the label `hidden` are omitted.
    """

    def convert(value: Any) -> Any:  # noqa: ANN401, PLR0911  (one return per kind of value)
        if isinstance(value, _TIMES):  # first, because a duration is also a tuple
            zone = getattr(value, "tzinfo", None)
            name = getattr(zone, "key", None) or getattr(zone, "zone", None)
            return value.iso_format() + (f"[{name}]" if name and name != "UTC" else "")
        match value:
            case neo4j.graph.Node():
                labels = sorted(label for label in value.labels if label != hidden)
                return labelled(labels[0] if len(labels) == 1 else labels, value)
            case neo4j.graph.Relationship():
                return labelled(value.type, value)
            case neo4j.graph.Path():
                return {"_NODES": convert(value.nodes), "_RELS": convert(value.relationships)}
            case neo4j.spatial.Point():
                return {"srid": value.srid, **dict(zip("xyz", value, strict=False))}
            case neo4j.vector.Vector():
                return value.to_native()
            case dict():
                return {key: convert(value[key]) for key in value}
            case list() | tuple():
                return [convert(item) for item in value]
        # The driver returns `raw_data` for a value that Python cannot represent, and for a list or
        # map that contains such a value.
        unread = getattr(value, "raw_data", value)
        if unread is value:
            return value
        return _unread(unread.tag, unread.fields) if hasattr(unread, "tag") else convert(unread)

    def labelled(label: str | list[str], entity: neo4j.graph.Entity) -> dict[str, Any]:
        return {"_LABEL": label, **{key: convert(entity[key]) for key in sorted(entity)}}

    return convert


def _unread(tag: bytes, fields: Sequence[Any]) -> str:
    """Return a date or time of any year in the format of the server."""
    if tag == b"D":
        return _moment(fields[0], "D")
    if tag in {b"d", b"I", b"i"}:
        seconds, nanoseconds, *zone = fields
        offset = zone[0] if tag == b"I" else 0
        hours, minutes = divmod(abs(offset) // 60, 60)
        shift = f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}" if zone else ""
        name = f"[{zone[0]}]" if tag == b"i" else ""
        return f"{_moment(seconds + offset, 's')}.{nanoseconds:09}{shift}{name}"
    return f"{tag.decode(errors='replace')}({', '.join(map(str, fields))})"


def _moment(count: int, unit: Literal["D", "s"]) -> str:
    """Return the day or second that is `count` units after 1970-01-01, in ISO 8601."""
    text = str(np.array(count, f"M8[{unit}]"))
    sign = "-" if text.startswith("-") else ""
    year, _, rest = text.removeprefix("-").partition("-")
    return f"{sign or ('+' if int(year) > _LAST_YEAR else '')}{year.zfill(4)}-{rest}"
