"""A Neo4j server: where it is, its driver, and what its failures mean."""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import neo4j
from neo4j import exceptions

from dqa.core.errors import (
    DatabaseUnavailableError,
    DataError,
    DqaError,
    StatementTimeoutError,
    UsageError,
)
from dqa.core.session import Probe
from dqa.databases.leaving import GRACE, OverdueError, has_answered, is_there
from dqa.databases.servers import POOL
from dqa.databases.watchdog import WATCHDOG

MARK = "dqa"
"""The key of a transaction's metadata that says whose it is."""
_END = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, metaData "
    f"WHERE metaData.{MARK} STARTS WITH $mark "
    "TERMINATE TRANSACTIONS id YIELD message RETURN message"
)
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")

_FORM = "bolt://user:password@host:7687/database"
_PORT = 7687
_HELLO = bytes.fromhex("6060b017 00000005") + bytes(12)
"""How Bolt begins: a client names the versions that it knows, and the server one of them or 0."""
_OLDEST = "5.7"
"""The first server that can be told which notifications to send."""
_CONNECTING = 10.0
"""Seconds until a host that does not answer counts as unreachable."""
_ENDING = 60.0
"""Seconds in which a server may end what was left behind; nobody waits for that."""
_STALE = 30.0
"""Seconds after which an idle connection is tried before it is used."""
_OLD = ("Notification", "rotocol", "handshake")
"""Words of the driver's for a server that it knows too little in common with."""
_RIGHT = "does not allow {who} to do this: {says}. Grant the right, or name another user."
_MEANINGS = {
    "AuthenticationRateLimit": "lets {who} wait some seconds after so many failed attempts.",
    "CredentialsExpired": "asks {who} for a new password first; set one there.",
    "Security.Forbidden": _RIGHT,
    "Statement.AccessMode": _RIGHT,
    "Security.Unauthorized": "does not let {who} in: wrong user name or password in the URL.",
    "DatabaseNotFound": "has no such database; create it, or name another after the host.",
}
"""What the user can mend, by the end of the server's code."""
_POSITION = re.compile(r" \(line \d+, column \d+ \(offset: \d+\)\)")


@dataclass(frozen=True, slots=True)
class Address:
    """A location, taken apart so that the password is in nothing that is shown.

    Attributes
    ----------
    uri
        Scheme, host, port and routing context: what the driver is given.
    user, password
        Empty where the server asks for none.
    database
        The database's name; None for the user's default one.
    namespace
        The situation to open; None for the whole database.
    """

    uri: str
    user: str = ""
    password: str = field(default="", repr=False)
    database: str | None = None
    namespace: str | None = None

    @classmethod
    def parse(cls, location: str) -> Address:
        """Take a URL apart; `UsageError`, which never quotes it, where that cannot be done."""
        try:
            parts = urlsplit(location)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
            parts = urlsplit("")
        if parts.scheme not in SCHEMES or not host:
            raise UsageError(
                f"The Neo4j URL cannot be read; write {_FORM}, with %40 for an @ within the "
                "password."
            )
        context = dict(parse_qsl(parts.query))
        namespace = context.pop("namespace", None) or context.pop("place", None)
        if context and parts.scheme.startswith("bolt"):
            raise UsageError(
                "A bolt URL takes no parameter but 'namespace', and this one has "
                f"{sorted(context)}."
            )
        where = f"[{host}]" if ":" in host else host
        uri = f"{parts.scheme}://{where}" + (f":{port}" if port else "")
        return cls(
            uri=f"{uri}?{urlencode(context)}" if context else uri,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=unquote(parts.path.strip("/")) or None,
            namespace=namespace,
        )

    @property
    def probe(self) -> Probe | None:
        """How to see that the server is there; None where several share the work."""
        parts = urlsplit(self.uri)
        if not parts.scheme.startswith("bolt") or parts.hostname is None:
            return None
        hello = _HELLO if parts.scheme == "bolt" else _tls_hello(parts.hostname)
        return Probe(parts.hostname, parts.port or _PORT, hello)

    @property
    def name(self) -> str:
        """What to call the database in results and messages."""
        return self.named(None)

    def named(self, namespace: str | None) -> str:
        """Return what to call a namespace of the database, or all of it."""
        return "/".join(part for part in (self.uri, self.database, namespace) if part)


def _tls_hello(host: str) -> bytes:
    """Return how a client begins an encrypted connection."""
    sent = ssl.MemoryBIO()
    connection = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname=host)
    with suppress(ssl.SSLWantReadError):
        connection.do_handshake()
    return sent.read()


def parse_address(location: str) -> Address:
    """Take a URL apart; see `Address.parse`."""
    return Address.parse(location)


@dataclass(frozen=True, slots=True)
class Reading:
    """A transaction that cannot write.

    Attributes
    ----------
    transaction
        It, as the driver gives it.
    leave
        Breaks its connection, from any thread and without waiting.
    """

    transaction: neo4j.Transaction
    leave: Callable[[], None]

    def run(self, statement: str, **given: object) -> neo4j.Result:
        """Run a statement."""
        return self.transaction.run(statement, given)


class Server:
    """An open driver, and sessions of the address's database.

    Raises
    ------
    UsageError
        The address is none that the driver takes.
    """

    def __init__(self, address: Address) -> None:
        # Without it, what the driver retries would be on the user's standard error output.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        self.address = address
        try:
            self.driver = neo4j.GraphDatabase.driver(
                address.uri,
                auth=(address.user, address.password) if address.user else None,
                connection_timeout=_CONNECTING,
                connection_acquisition_timeout=float(POOL["pool_timeout"]),
                max_connection_pool_size=POOL["pool_size"] + POOL["max_overflow"],
                liveness_check_timeout=_STALE,
                max_transaction_retry_time=_CONNECTING,
                notifications_min_severity="WARNING",
                warn_notification_severity="OFF",
                telemetry_disabled=True,
                user_agent="dqa",
            )
        except (exceptions.DriverError, ValueError, OSError) as error:
            raise self.failure(error) from error

    @contextmanager
    def reading(
        self, seconds: float, fetch: int = 1_000, mark: str | None = None
    ) -> Iterator[Reading]:
        """Give a transaction that cannot write, and leave the server where it does not come back.

        Parameters
        ----------
        seconds
            How long the server lets it take, connecting included.
        fetch
            How many rows the server sends at a time.
        mark
            What `end_marked` knows it by.

        Raises
        ------
        OverdueError
            The server did not end it by itself.
        """
        session = self.driver.session(
            database=self.address.database,
            default_access_mode=neo4j.READ_ACCESS,
            fetch_size=fetch,
            connection_acquisition_timeout=seconds,
        )
        with WATCHDOG.after(seconds + GRACE, lambda: _leave(session)) as timer:
            try:
                started = session.begin_transaction(
                    timeout=seconds, metadata={MARK: mark} if mark else None
                )
                yield Reading(started, lambda: _leave(session))
            except (exceptions.Neo4jError, exceptions.DriverError, OSError) as error:
                if not timer.has_fired:
                    raise
                raise OverdueError from error
            finally:
                _close(session)

    def end_marked(self, mark: str, seconds: float) -> bool:
        """End the transactions whose mark begins so; whether the server has answered in time."""

        def end(tell: Callable[[], None]) -> None:
            probe = self.address.probe
            if probe is not None and is_there(probe, seconds):
                tell()
            # A driver of its own: this one may be closed before that is done.
            other = Server(self.address)
            try:
                with other.reading(_ENDING) as reading:
                    tell()
                    reading.run(_END, mark=mark).consume()
            except exceptions.Neo4jError:
                return  # it has no such statement, or the user no such right
            except (OverdueError, exceptions.DriverError, OSError) as error:
                raise DatabaseUnavailableError(str(error)) from error
            finally:
                other.close()

        return has_answered(seconds, end)

    def writing(self) -> neo4j.Session:
        """Return a session for the loader."""
        return self.driver.session(database=self.address.database)

    def rows(self, statement: str, seconds: float = 60.0, **given: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Run a statement of our own and return its rows by column name.

        Raises
        ------
        StatementTimeoutError
            It took more than `seconds`.
        UsageError, DatabaseUnavailableError
            As `failure` says.
        """
        try:
            with self.reading(seconds) as reading:
                return reading.run(statement, **given).data()
        except OverdueError:
            raise DatabaseUnavailableError(
                f"Neo4j at {self.address.name} does not answer within {seconds:g} seconds."
            ) from None
        except (exceptions.Neo4jError, exceptions.DriverError, OSError) as error:
            raise self.failure(error) from error

    def close(self) -> None:
        """Close all connections."""
        self.driver.close()

    def failure(self, error: Exception) -> DqaError:
        """Return what a failure of connecting or loading means, in one line."""
        where, says = f"Neo4j at {self.address.name}", first_line(error)
        who = f"user '{self.address.user}'" if self.address.user else "anybody without a user name"
        code = str(getattr(error, "code", None) or "")
        if is_timeout(error):
            return StatementTimeoutError(f"{where} took too long to answer.")
        for ending, means in _MEANINGS.items():
            if code.endswith(ending):
                return UsageError(f"{where} " + means.format(who=who, says=says))
        if isinstance(error, (exceptions.UnsupportedServerProduct, exceptions.ConfigurationError)):
            old = any(word in str(error) for word in _OLD)
            cannot = f"is too old: Neo4j {_OLDEST} or later is needed" if old else f"cannot: {says}"
            return UsageError(f"{where} {cannot}.")
        if code.startswith(("Neo.ClientError.Schema", "Neo.ClientError.Statement")):
            return DataError(f"{where} does not take this: {says}.")
        if code:
            return DatabaseUnavailableError(f"{where} failed: {says}.")
        return DatabaseUnavailableError(
            f"{where} cannot be reached: {says}. Is it running, and is this its Bolt port?"
        )


def _leave(session: neo4j.Session) -> None:
    """Break the connection that a session has, if any; the driver has no limit for an answer."""
    connection = session._connection  # noqa: SLF001
    if connection is not None:
        connection.kill()  # type: ignore[no-untyped-call]


def _close(session: neo4j.Session) -> None:
    """Close a session; one whose connection breaks over that is not closed at the first time."""
    for _ in range(2):
        with suppress(exceptions.Neo4jError, exceptions.DriverError, OSError):
            session.close()
            return


def is_timeout(error: Exception) -> bool:
    """Whether the server stopped a transaction at its time limit."""
    code = str(getattr(error, "code", None) or "")
    return code.endswith(("TransactionTimedOut", "TransactionTimedOutClientConfiguration"))


def first_line(error: Exception) -> str:
    """Return what an error says, without the statement below it and the position in it.

    The statement that ran is not the one that was written, so its positions would mislead.
    """
    text = str(getattr(error, "message", None) or error).strip()
    line = text.splitlines()[0] if text else type(error).__name__
    return _POSITION.sub("", line).strip().rstrip(".")
