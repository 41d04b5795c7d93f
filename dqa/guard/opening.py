"""Fit a policy that hides a part of tables to a database, when the database is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, QueryError, UsageError
from dqa.core.schema import TableInfo
from dqa.core.session import Session
from dqa.guard.hidden import Protection
from dqa.guard.policy import Policy
from dqa.guard.tables import FENCES, ShownTable, probes, require_condition, shown
from dqa.guard.views import telling_views, views_statement

_ALL = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0, cell=1 << 24)
"""A catalogue is read whole."""


def protected(policy: Policy, session: Session) -> Policy:
    """Return a policy with what has to be known of a database to hide what it hides.

    Parameters
    ----------
    policy
        One that hides columns, values or rows, with the database's schema.
    session
        The database.

    Raises
    ------
    UsageError
        A mask or a row filter cannot be used there.
    DatabaseUnavailableError
        The views cannot be listed.
    """
    if session.dialect not in FENCES:
        if policy.hides:
            raise UsageError(
                f"The policy has masks or row filters, which are not known to hold in "
                f"{session.language}; use denied_columns and tables instead."
            )
        return policy
    tables = _restricted(policy)
    for table in tables:
        if table.row_filter:
            require_condition(table.table, table.row_filter, session.dialect, policy)
        if table.columns and (table.masks or table.row_filter):
            for statement in probes(table, policy.quote, session.dialect):
                _probe(statement, table.table.name, session)
    names = {table.table.name.casefold() for table in tables}
    found = _views(session) if names else []
    telling = telling_views(found, session.dialect, names)
    return replace(policy, protection=Protection(telling, session.namespace))


def filtered_otherwise(policy: Policy, row_filters: Mapping[str, str], dialect: str) -> Policy:
    """Return a policy that `protected` returned, with other row filters for the same tables.

    Raises
    ------
    UsageError
        They are for other tables, or one is not a condition that can be used.
    """
    if set(row_filters) != set(policy.row_filters):
        raise UsageError(
            f"The policy has row filters of {', '.join(sorted(policy.row_filters)) or 'no table'}: "
            f"give others for these, not for {', '.join(sorted(row_filters)) or 'none'}."
        )
    changed = replace(policy, row_filters=row_filters)
    for table in policy.schema.tables if policy.schema is not None else ():
        if table.name in row_filters:
            require_condition(table, row_filters[table.name], dialect, changed)
    return changed


def _restricted(policy: Policy) -> list[ShownTable]:
    """Return the tables of which a policy hides a part."""
    tables: dict[str, TableInfo] = {}
    found: list[ShownTable] = []
    for table in policy.schema.tables if policy.schema is not None else ():
        other = tables.setdefault(table.name.casefold(), table)
        if other is not table and policy.restricts_columns_of(table.name):
            raise UsageError(
                f"The policy hides a part of {table.name}, and {other.name} and {table.name} are "
                "two tables of that name; rename one."
            )
        part = shown(table.name, policy)
        if part is not None and not part.is_whole:
            found.append(part)
    return found


def _probe(statement: str, name: str, session: Session) -> None:
    """Run a query that reads no row, to see that masks and filters have the right types."""
    try:
        session.run(statement, _ALL)
    except QueryError as error:
        raise UsageError(
            f"The policy's masks or row filter of {name} cannot be used; use values of the types "
            f"that it has. The database says: {error}"
        ) from error


def _views(session: Session) -> list[tuple[object, object]]:
    try:
        found = session.run(views_statement(session.dialect), _ALL)
    except QueryError as error:
        raise DatabaseUnavailableError(
            f"The views of database '{session.name}' cannot be listed, and the policy has to know "
            f"which of them read what it hides: {error}"
        ) from error
    if found.cut is not None:
        raise UsageError(
            f"Database '{session.name}' has more views than can be checked; use a policy's tables "
            "instead of columns, masks and row filters."
        )
    return [(row[0], row[1]) for row in found.rows]
