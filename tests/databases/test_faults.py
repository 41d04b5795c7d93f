"""Whose fault an error is: every code that an engine lists, and what becomes of each fault."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import psycopg.errors
import pytest
from pymysql.constants import ER

from dqa.core.database import Limits, Rows
from dqa.core.errors import DatabaseUnavailableError, StatementError
from dqa.databases import duckdb as of_duckdb
from dqa.databases import ladybug as of_ladybug
from dqa.databases import mysql as of_mysql
from dqa.databases import postgres as of_postgres
from dqa.databases import sqlite as of_sqlite
from dqa.databases.engine_session import EngineSession
from dqa.databases.errors import Fault, UnsettledError
from dqa.databases.neo4j import server as of_neo4j

LIMITS = Limits(seconds=5.0)

# The engines' own lists


def test_every_class_of_postgres_is_classified() -> None:
    """Only what the documentation calls a failure of the system is unclear."""
    known = {code for code in psycopg.errors._sqlcodes if re.fullmatch("[0-9A-Z]{5}", code)}
    listed = {code for code in known if psycopg.errors.lookup(code).sqlstate == code}
    assert len(listed) > 200
    unclear = {code[:2] for code in listed if of_postgres.fault_of(code) is Fault.UNCLEAR}
    assert unclear == {"08", "25", "53", "57", "58", "HV", "XX"}


FAULTS: dict[Callable[..., Fault], dict[Any, Fault]] = {
    of_postgres.fault_of: {
        "XX000": Fault.UNCLEAR,
        "XX001": Fault.SERVER,
        "53200": Fault.MEMORY,
        "57P02": Fault.LOST,
        "42P01": Fault.STATEMENT,
    },
    of_neo4j.fault_of: {
        "Neo.DatabaseError.Statement.ExecutionFailed": Fault.STATEMENT,
        "Neo.DatabaseError.General.UnknownError": Fault.UNCLEAR,
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError": Fault.MEMORY,
        "Neo.TransientError.General.DatabaseUnavailable": Fault.UNCLEAR,
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": Fault.TIME,
        "Neo.ClientError.Security.Unauthorized": Fault.SERVER,
        "": Fault.UNCLEAR,
    },
    of_ladybug.fault_of: {
        "Buffer manager exception: Unable to allocate memory!": Fault.MEMORY,
        "Runtime exception: Storage exception: x": Fault.STATEMENT,
        "Can not execute a write query inside a read-only transaction": Fault.REFUSED,
    },
    of_sqlite.fault_of: {
        "SQLITE_IOERR_WRITE": Fault.UNCLEAR,
        "SQLITE_IOERR_READ": Fault.SERVER,
        "SQLITE_IOERR_NOMEM": Fault.MEMORY,
        "SQLITE_CORRUPT_INDEX": Fault.SERVER,
        "SQLITE_FULL": Fault.UNCLEAR,
    },
    of_duckdb.fault_of: {
        duckdb.InternalException("INTERNAL Error: ListType::GetChildType"): Fault.STATEMENT,
        duckdb.FatalException("database has been invalidated because"): Fault.PASSING,
        duckdb.IOException("IO Error: Could not read all bytes from file"): Fault.SERVER,
        duckdb.IOException("IO Error: Corrupted VARIANT 'metadata' buffer"): Fault.UNCLEAR,
        duckdb.BinderException("Binder Error: No function matches x"): Fault.NOT_UNDERSTOOD,
    },
}
"""By engine: one code or message of each kind, and those that were misread before."""


def test_single_codes_are_the_right_fault() -> None:
    """A wrong class would score an outage as a wrong answer, or the reverse."""
    for fault_of, codes in FAULTS.items():
        for code, fault in codes.items():
            assert fault_of(code) is fault, code


_NO_STATEMENT = re.compile(
    "DISK|CRASH|CORRUPT|OUT_?OF|SHUTDOWN|NET_|HANDSHAKE|CON_COUNT|ABORTING_CONN|MEMORY|DEADLOCK|"
    "TIMEOUT|INTERRUPT|KEYFILE|IPSOCK|TOO_MANY_USER|ACCESS_DENIED|HOST_|LOCK_WAIT|ERROR_ON_WRITE|"
    "ERROR_ON_READ|GET_ERRNO|FORCING|MUST_CHANGE"
)
_STATEMENT_AFTER_ALL = {
    *("NET_PACKET_TOO_LARGE", "WARN_DATA_OUT_OF_RANGE", "GRANT_WRONG_HOST_OR_USER"),
    *("MASTER_NET_READ", "MASTER_NET_WRITE"),
}


def test_numbers_of_mysql_that_sound_like_a_server_are_no_statements() -> None:
    """By the names that its own driver has for them."""
    named = {number: name for name, number in vars(ER).items() if name.isupper()}
    assert len(named) > 400
    wrong = [
        f"{number} {name}"
        for number, name in sorted(named.items())
        if _NO_STATEMENT.search(name)
        and name not in _STATEMENT_AFTER_ALL
        and of_mysql.fault_of(number) is Fault.STATEMENT
    ]
    assert wrong == []
    faults = Counter(of_mysql.fault_of(number) for number in named)
    assert faults[Fault.STATEMENT] > 300


# What follows from a fault


class Server:
    """A database that meets an unclear fault at each statement but a trivial one."""

    trivial = "trivial"
    ask: Any = EngineSession.run
    _require_answer: Any = EngineSession._require_answer

    def __init__(self, *, may_pass: bool = False, times: int = 1_000, dies: bool = False) -> None:
        self.may_pass, self.times, self.dies = may_pass, times, dies
        self.asked: list[str] = []
        self.is_away = False
        self._suspects: set[str] = set()

    def _run_once(self, statement: str, _: Limits) -> Rows:
        self.asked.append(statement)
        if self.is_away:
            raise DatabaseUnavailableError("It cannot be reached.")
        if statement == self.trivial or self.times == 0:
            return Rows(("a",), ((1,),))
        self.times -= 1
        self.is_away = self.dies
        raise UnsettledError("shop", "internal error", may_pass=self.may_pass)


def test_what_is_unclear_is_tried_again_and_then_settled_by_asking() -> None:
    """If the cause may have passed; a database that answers something trivial works."""
    assert Server(may_pass=True, times=1).ask("odd", LIMITS).rows == ((1,),)
    for may_pass, asked in ((True, ["odd", "odd", "trivial"]), (False, ["odd", "trivial"])):
        server = Server(may_pass=may_pass)
        with pytest.raises(StatementError, match=r"^internal error\.$"):
            server.ask("odd", LIMITS)
        assert server.asked == asked


@pytest.mark.parametrize("may_pass", [False, True])
def test_no_statement_takes_a_server_down_as_an_outage_twice(may_pass: bool) -> None:
    """The first time the server may have been at fault; the second time it answered before."""
    server = Server(may_pass=may_pass, dies=True)
    for _ in range(2):  # the second time, the server is still away
        with pytest.raises(DatabaseUnavailableError):
            server.ask("deadly", LIMITS)
    for _ in range(2):
        server.is_away = False
        assert server.ask("trivial", LIMITS).rows == ((1,),)
        with pytest.raises(StatementError, match="internal error"):
            server.ask("deadly", LIMITS)
        assert server.is_away


def test_a_statement_that_an_outage_met_is_not_blamed_later() -> None:
    """A server that was restarted meanwhile answers it as any other. A later outage is one."""
    server = Server(times=1, dies=True)
    for _ in range(2):
        with pytest.raises(DatabaseUnavailableError, match="'shop' failed: internal error"):
            server.ask("innocent", LIMITS)
        server.is_away = False
        assert server.ask("innocent", LIMITS).rows == ((1,),)
        server.times = 1
