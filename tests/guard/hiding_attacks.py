"""Generated statements that try to get at what a policy hides, in SQL.

Three databases are asked each: one that hides, one of the same policy that hides other values, and
one that holds the masks themselves and has no policy. What the first two answer must be the same,
since all they differ in is hidden; and where they answer rows, the third must have them too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError
from dqa.guard import Audit, AuditEntry, Policy

COUNT = 100
DEEP_COUNT = 500
SECRETS = ("kq7", "zz8", "77001", "88002", "90001", "91002")
"""Is in each value that is hidden: of masked columns, and of rows that are left out."""
INSERTED = ("1 = 0", "dqa_rows", "OFFSET 0", " AND (NOT ")
"""Is in what statements become, and in nothing that anybody is told."""
MASKS = {"customer.email": "***", "customer.salary": None}
FILTERS = {"customer": "region = 'EU'"}
ALL = Limits(rows=10_000, bytes=10_000_000)


def tables(secret: str, number: int, hidden: str) -> str:
    """Return a script of tables whose hidden values hold `secret`, and hidden rows `hidden`."""
    return f"""
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), email VARCHAR(60),
                               note VARCHAR(40), region VARCHAR(10), salary INTEGER);
        INSERT INTO customer VALUES
          (1, 'ann', '{secret}ann@x', 'plain', 'EU', {number}1),
          (2, 'bob', '{secret}bob@x', '12', 'EU', {number}2),
          (3, 'cy', '{secret}cy@x', NULL, 'EU', {number}3),
          ({number}4, '{hidden}dan', '{secret}dan@x', '{hidden}', 'US', {number}4),
          ({number}5, '{hidden}eve', '{secret}eve@x', '{hidden}', 'US', {number}5);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER);
        INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 9, 5);
        CREATE VIEW contacts AS SELECT name, email FROM customer;
        CREATE VIEW deep AS SELECT * FROM contacts;
        CREATE VIEW renamed AS SELECT salary, salary AS wage, email AS contact FROM customer;
        CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders
                              GROUP BY customer_id;
    """


TWIN = """
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40), email VARCHAR(60),
                           note VARCHAR(40), region VARCHAR(10), salary INTEGER);
    INSERT INTO customer VALUES
      (1, 'ann', '***', 'plain', 'EU', NULL),
      (2, 'bob', '***', '12', 'EU', NULL),
      (3, 'cy', '***', NULL, 'EU', NULL);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER);
    INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30), (4, 9, 5);
    CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;
"""
"""What may be read of the tables, as it would be if there were no more."""

_WITHOUT = """
    DROP VIEW renamed; DROP VIEW deep; DROP VIEW contacts;
    ALTER TABLE customer DROP COLUMN email; ALTER TABLE customer DROP COLUMN salary;
"""
_DENIED = frozenset({"customer.email", "salary"})
_BY_SCHEMA = frozenset({"main.customer", "main.renamed", "customer", "renamed", "orders", "totals"})
_LISTED = frozenset({"customer.id", "customer.name", "customer.note", "customer.region"})
KINDS: Mapping[str, tuple[Policy, tuple[str, str, str]]] = {
    "masks and rows": (
        Policy(masks=MASKS, row_filters=FILTERS),
        (tables("kq7", 77001, "zz8"), tables("qk9", 88002, "hh6"), TWIN),
    ),
    "tables by their schema": (
        Policy(tables=_BY_SCHEMA, masks=MASKS, row_filters=FILTERS),
        (tables("kq7", 77001, "zz8"), tables("qk9", 88002, "hh6"), TWIN),
    ),
    "denied columns": (
        Policy(denied_columns=_DENIED),
        (
            tables("kq7", 77001, "zz8"),
            tables("qk9", 77001, "zz8"),
            tables("", 77001, "zz8") + _WITHOUT,
        ),
    ),
    "columns and rows": (
        Policy(columns=_LISTED, row_filters=FILTERS),
        (
            tables("kq7", 77001, "zz8"),
            tables("qk9", 88002, "hh6"),
            TWIN + "ALTER TABLE customer DROP COLUMN email;"
            "ALTER TABLE customer DROP COLUMN salary;",
        ),
    ),
    "tables": (
        Policy(tables=frozenset({"orders", "totals"})),
        (
            tables("kq7", 77001, "zz8"),
            tables("qk9", 88002, "hh6"),
            TWIN + "DROP TABLE customer;",
        ),
    ),
}
"""By kind of policy: the policy, two databases that differ in hidden data alone, and their twin,
which has nothing but what may be read."""


@dataclass
class Outcome:
    """What became of the statements."""

    asked: int = 0
    answered: int = 0
    refused: int = 0
    failed: int = 0
    leaks: list[str] = field(default_factory=list)


@contextmanager
def opened(
    backend: str,
    contents: tuple[str, ...],
    policy: Policy,
    place: str | None = None,
) -> Iterator[tuple[Database, Database, Database, list[AuditEntry]]]:
    """Open the two that hide, and the one that holds the masks, with what was written down."""
    entries: list[AuditEntry] = []
    audit = Audit(sink=entries.append)
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(
                dqa.temporary_database(
                    content, backend, place, policy=policy, audit=audit, isolation="none"
                )
            )
            for content in contents[:2]
        )
        twin = stack.enter_context(
            dqa.temporary_database(contents[2], backend, place, isolation="none")
        )
        yield one, two, twin, entries


def hidden_by(kind: str) -> tuple[str, ...]:
    """Return what is in each value that a kind of policy hides."""
    return SECRETS[:1] if kind == "denied columns" else SECRETS


def attack(
    one: Database,
    two: Database,
    twin: Database,
    entries: list[AuditEntry],
    statements: list[str],
    *,
    secrets: tuple[str, ...] = SECRETS,
) -> Outcome:
    """Run each of the statements, and return what it reveals that is hidden."""
    outcome = Outcome()
    for statement in statements:
        outcome.asked += 1
        entries.clear()
        told, other = _told(one, statement), _told(two, statement)
        if told != other:
            outcome.leaks.append(f"{statement}\n  differs: {told}\n  from: {other}")
        shown = repr(told) + "".join(
            f"{entry.reason}{entry.error}{entry.translated}" for entry in entries
        )
        for secret in (*secrets, *INSERTED):
            if secret in shown and secret not in statement:
                outcome.leaks.append(f"{statement}\n  shows {secret}: {shown}")
        _count(outcome, told)
        if told[0] == "rows":
            plain = _told(twin, statement)
            if plain[0] == "rows" and _flat(plain[2]) != _flat(told[2]):
                outcome.leaks.append(f"{statement}\n  gives {told}\n  and not {plain}")
    return outcome


def _count(outcome: Outcome, told: tuple[object, ...]) -> None:
    outcome.answered += told[0] == "rows"
    outcome.refused += told[0] == "RefusedStatementError"
    outcome.failed += told[0] not in {"rows", "RefusedStatementError"}


def _told(database: Database, statement: str) -> tuple[object, ...]:
    """Return all that whoever asks is told, of errors also what they come from."""
    try:
        rows = database.query(statement, ALL)
    except QueryError as error:
        said, cause = [], error.__cause__
        while cause is not None:
            said.append(str(cause))
            cause = cause.__cause__
        return type(error).__name__, str(error), tuple(said)
    return "rows", rows.columns, sorted(rows.rows, key=repr), rows.translated


def _flat(rows: object) -> list[str]:
    """Return rows to be compared: PostgreSQL gives a table's whole row as text, a query's not."""
    assert isinstance(rows, list)
    return sorted(repr(tuple(map(_composite, row))) for row in rows)


def _composite(value: object) -> object:
    if not isinstance(value, list):
        return value
    return f"({','.join('' if part is None else str(part) for part in value)})"
