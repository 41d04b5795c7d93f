"""Compare databases that differ only in hidden data, under generated statements.

Each statement runs on three databases: two with the same policy and different hidden values, and
a twin without a policy that has the masks themselves. The first two must give the same answer. If
they return rows, the twin must return the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError
from dqa.guard import Audit, AuditEntry, Policy
from tests.guard.case_files import FOLDER

COUNT = 100
DEEP_COUNT = 500
SECRETS = ("kq7", "zz8", "77001", "88002", "90001", "91002")
"""Parts of hidden values: of masked columns and of filtered rows."""
INSERTED = ("1 = 0", "dqa_rows", "OFFSET 0", " AND (NOT ")
"""Parts of rewritten statements, which no answer contains."""
MASKS = {"customer.email": "***", "customer.salary": None}
FILTERS = {"customer": "region = 'EU'"}
ALL = Limits(rows=10_000, bytes=10_000_000)


SCRIPT = (FOLDER / "hiding.sql").read_text("ascii")


def tables(secret: str, number: int, hidden: str) -> str:
    """Return a script of tables whose hidden values hold `secret`, and hidden rows `hidden`."""
    return SCRIPT.format(secret=secret, number=number, hidden=hidden)


FIRST, SECOND = tables("kq7", 77001, "zz8"), tables("qk9", 88002, "hh6")
_VIEWS = "DROP VIEW renamed; DROP VIEW deep; DROP VIEW contacts;"
TWIN = f"""
    {tables("", 0, "")}
    {_VIEWS}
    DELETE FROM customer WHERE region = 'US';
    UPDATE customer SET email = '***', salary = NULL;
"""
"""What may be read of the tables, as it would be if there were no more."""

_NO_COLUMNS = """
    ALTER TABLE customer DROP COLUMN email; ALTER TABLE customer DROP COLUMN salary;
"""
_DENIED = frozenset({"customer.email", "salary"})
_BY_SCHEMA = frozenset({"main.customer", "main.renamed", "customer", "renamed", "orders", "totals"})
_LISTED = frozenset({"customer.id", "customer.name", "customer.note", "customer.region"})
KINDS: Mapping[str, tuple[Policy, tuple[str, str, str]]] = {
    "masks and rows": (
        Policy(masks=MASKS, row_filters=FILTERS),
        (FIRST, SECOND, TWIN),
    ),
    "tables by their schema": (
        Policy(tables=_BY_SCHEMA, masks=MASKS, row_filters=FILTERS),
        (FIRST, SECOND, TWIN),
    ),
    "denied columns": (
        Policy(denied_columns=_DENIED),
        (
            FIRST,
            tables("qk9", 77001, "zz8"),
            tables("", 77001, "zz8") + _VIEWS + _NO_COLUMNS,
        ),
    ),
    "columns and rows": (
        Policy(columns=_LISTED, row_filters=FILTERS),
        (FIRST, SECOND, TWIN + _NO_COLUMNS),
    ),
    "tables": (
        Policy(tables=frozenset({"orders", "totals"})),
        (FIRST, SECOND, TWIN + "DROP TABLE customer;"),
    ),
}
"""By kind of policy: the policy, two databases that differ in hidden data alone, and their twin,
which has nothing but what may be read."""


@dataclass
class Outcome:
    """How many statements were answered, and what they reveal."""

    answered: int = 0
    leaks: list[str] = field(default_factory=list)


@contextmanager
def opened(
    backend: str,
    contents: tuple[str, ...],
    policy: Policy,
    url: str | None = None,
) -> Iterator[tuple[Database, Database, Database, list[AuditEntry]]]:
    """Open the two databases with a policy, their twin, and the list of audit entries."""
    entries: list[AuditEntry] = []
    audit = Audit(sink=entries.append)
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(
                dqa.temporary_database(
                    content, backend, url, policy=policy, audit=audit, isolation="none"
                )
            )
            for content in contents[:2]
        )
        twin = stack.enter_context(
            dqa.temporary_database(contents[2], backend, url, isolation="none")
        )
        yield one, two, twin, entries


def hidden_by(kind: str) -> tuple[str, ...]:
    """Return the parts of values that a kind of policy hides."""
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
    """Run each statement, and return what it reveals."""
    outcome = Outcome()
    for statement in statements:
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
        if told[0] == "rows":
            outcome.answered += 1
            plain = _told(twin, statement)
            if plain[0] == "rows" and _flat(plain[2]) != _flat(told[2]):
                outcome.leaks.append(f"{statement}\n  gives {told}\n  and not {plain}")
    return outcome


def _told(database: Database, statement: str) -> tuple[object, ...]:
    """Return the whole answer; of an error also its causes."""
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
