"""Compare databases that differ only in hidden data, under generated statements.

Each statement runs on three databases: two with the same policy and different hidden values, and
a twin without a policy that has the masks themselves. The first two must give the same answer. If
they return rows, the twin must return the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack

import dqa
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError
from dqa.guard import Audit, AuditEntry, Policy
from tests.guard.case_files import FOLDER
from tests.guard.hiding_sql import SHADOWS, SqlAttacks

COUNT = 100
DEEP_COUNT = 500
SECRETS = ("kq7", "zz8", "77001", "88002", "90001", "91002")
"""Parts of hidden values: of masked columns and of filtered rows."""
INSERTED = ("1 = 0", "dqa_rows", "OFFSET 0", " AND (NOT ")
"""Parts of rewritten statements, which no answer contains."""
MASKS = {"customer.email": "***", "customer.salary": None}
FILTERS = {"customer": "region = 'EU'"}
ALL = Limits(rows=10_000, bytes=10_000_000)


_OWN_NAME = re.compile(r"dqa_scratch_\w+")
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
"""The visible part of the tables, without a policy."""

_NO_COLUMNS = """
    ALTER TABLE customer DROP COLUMN email; ALTER TABLE customer DROP COLUMN salary;
"""
_DENIED = frozenset({"customer.email", "salary"})
_BY_SCHEMA = frozenset({"main.customer", "main.renamed", "customer", "renamed", "orders", "totals"})
_LISTED = frozenset({"customer.id", "customer.name", "customer.note", "customer.region"})
KINDS: Mapping[str, tuple[Policy, tuple[str, str, str]]] = {
    "masks and rows": (Policy(masks=MASKS, row_filters=FILTERS), (FIRST, SECOND, TWIN)),
    "tables by their schema": (
        Policy(tables=_BY_SCHEMA, masks=MASKS, row_filters=FILTERS),
        (FIRST, SECOND, TWIN),
    ),
    "denied columns": (
        Policy(denied_columns=_DENIED),
        (FIRST, tables("qk9", 77001, "zz8"), tables("", 77001, "zz8") + _VIEWS + _NO_COLUMNS),
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
"""By kind of policy: the policy, two databases that differ in hidden data only, and their twin with
the visible part only."""
_COLUMNS = {"email": "name", "salary": "id"}
_TABLES = {
    "customer": "orders",
    "contacts": "totals",
    "deep": "totals",
    "renamed": "totals",
    "email": "customer_id",
    "salary": "total",
    "name": "id",
    "note": "total",
    "region": "customer_id",
}
VISIBLE: Mapping[str, Mapping[str, str]] = {
    "denied columns": _COLUMNS,
    "columns and rows": _COLUMNS,
    "tables": _TABLES,
}
"""By kind of policy: what three of four statements name in place of hidden columns and tables, so
that they are answered."""


def attack(
    backend: str, kind: str, count: int, url: str | None = None, policy: Policy | None = None
) -> tuple[int, list[str]]:
    """Run generated statements under a kind of policy, or under another one.

    Returns
    -------
    tuple[int, list[str]]
        The number of answered statements, and the leaks.
    """
    own, contents = KINDS[kind]
    secrets = SECRETS[:1] if kind == "denied columns" else SECRETS
    entries: list[AuditEntry] = []
    audit = Audit(sink=entries.append)
    with ExitStack() as stack:

        def opened(content: str, policy: Policy | None, audit: Audit | None) -> Database:
            temporary = dqa.temporary_database(
                content, backend, url, policy=policy, audit=audit, isolation="none"
            )
            return stack.enter_context(temporary)

        one, two = (opened(content, policy or own, audit) for content in contents[:2])
        twin = opened(contents[2], None, None)
        assert policy or [table.name for table in one.schema().tables][-2:] == ["orders", "totals"]
        answered, leaks = 0, list[str]()
        drawn = _named(SqlAttacks(one.dialect, 15).statements(count), VISIBLE.get(kind, {}))
        for statement in (*drawn, *SHADOWS):
            entries.clear()
            found, other = _answer(one, statement), _answer(two, statement)
            if found != other:
                leaks.append(f"{statement}\n  differs: {found}\n  from: {other}")
            shown = repr(found) + "".join(f"{entry.reason}{entry.error}" for entry in entries)
            for secret in (*secrets, *INSERTED):
                if secret in shown and secret not in statement:
                    leaks.append(f"{statement}\n  shows {secret}: {shown}")
            if found[0] == "rows":
                answered += 1
                plain = _answer(twin, statement)
                if plain[0] == "rows" and _flat(plain[2]) != _flat(found[2]):
                    leaks.append(f"{statement}\n  returns {found}\n  and not {plain}")
    return answered, leaks


def _named(statements: Iterable[str], words: Mapping[str, str]) -> Iterator[str]:
    """Yield statements, three of four with other names."""
    pattern = re.compile(rf"\b(?:{'|'.join(words)})\b")
    for number, statement in enumerate(statements):
        is_plain = not words or number % 4 == 0
        yield statement if is_plain else pattern.sub(lambda name: words[name[0]], statement)


def _answer(database: Database, statement: str) -> tuple[object, ...]:
    """Return the answer; for an error also its causes."""
    try:
        rows = database.query(statement, ALL)
    except QueryError as error:
        messages, cause = [], error.__cause__
        while cause is not None:
            messages.append(str(cause))
            cause = cause.__cause__
        # Each database has its own name, which a server may name.
        said = [_OWN_NAME.sub("dqa_scratch", message) for message in (str(error), *messages)]
        return type(error).__name__, *said
    return "rows", rows.columns, sorted(rows.rows, key=repr)


def _flat(rows: object) -> list[str]:
    """Return comparable rows:

    PostgreSQL returns a table's whole row as text, but a query's as a tuple.
    """
    assert isinstance(rows, list)
    return sorted(repr(tuple(map(_composite, row))) for row in rows)


def _composite(value: object) -> object:
    if not isinstance(value, list):
        return value
    return f"({','.join('' if part is None else str(part) for part in value)})"
