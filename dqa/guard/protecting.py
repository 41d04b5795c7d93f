"""Makes a policy that hides values or rows fit a database when that is opened, or says why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError, QueryError, UsageError
from dqa.core.session import Session
from dqa.guard.hidden import Protection
from dqa.guard.policy import Policy
from dqa.guard.sql import conditions, hiding, views

_ALL = Limits(rows=1_000_000, bytes=1 << 30, seconds=60.0, cell=1 << 24)
"""A catalogue is read whole."""


def protected(policy: Policy, session: Session) -> Policy:
    """Return a policy with what has to be known of a database to hide what it hides.

    Parameters
    ----------
    policy
        One that hides something, with the database's schema.
    session
        The database.

    Raises
    ------
    UsageError
        A mask or a row filter cannot be used there.
    DatabaseUnavailableError
        The views cannot be listed.
    """
    if session.kind == "graph":
        raise UsageError(
            "The policy has masks or row_filters, which are for tables; of a graph, use "
            "denied_properties, properties and labels instead."
        )
    dialect = session.dialect
    if dialect not in hiding.FENCES:
        raise UsageError(
            f"The policy has masks or row filters, which are not known to hold in "
            f"{session.language}; use denied_columns and tables instead."
        )
    names = hiding.hiding(policy)
    _require_tables(policy, names, session)
    found = _rows(session, views.views_statement(dialect))
    telling = views.telling_views(found, dialect, names)
    return replace(policy, protection=Protection(telling, session.namespace))


def filtered_otherwise(policy: Policy, row_filters: Mapping[str, str], dialect: str) -> Policy:
    """Return a policy that `protected` made, with other row filters for the same tables.

    What the database was found to have holds for these as well, so only the conditions are looked
    at.

    Raises
    ------
    UsageError
        They are for other tables, or one is no condition that can be used.
    """
    if set(row_filters) != set(policy.row_filters):
        raise UsageError(
            f"The policy has row filters of {', '.join(sorted(policy.row_filters)) or 'no table'}: "
            f"give others for these, not for {', '.join(sorted(row_filters)) or 'none'}."
        )
    changed = replace(policy, row_filters=row_filters)
    for table in policy.schema.tables if policy.schema is not None else ():
        if table.name in row_filters:
            conditions.require_condition(table, row_filters[table.name], dialect, changed)
    return changed


def _require_tables(policy: Policy, names: frozenset[str], session: Session) -> None:
    """Ask each table that hides something, without reading a row."""
    tables = policy.schema.tables if policy.schema is not None else ()
    filters = {name.casefold(): condition for name, condition in policy.row_filters.items()}
    for name in sorted(names):
        found = [table for table in tables if table.name.casefold() == name]
        if len(found) > 1:
            raise UsageError(
                f"The policy hides some of {name}, and {' and '.join(t.name for t in found)} are "
                "two tables of that name; rename one."
            )
        for table in found:
            if name in filters:
                conditions.require_condition(table, filters[name], session.dialect, policy)
            try:
                for statement in hiding.probes(table, session.dialect, policy):
                    session.run(statement, _ALL)
            except QueryError as error:
                raise UsageError(
                    f"The policy's masks or row filter of {table.name} cannot be used; use values "
                    f"of the columns' types. The database says: {error}"
                ) from error


def _rows(session: Session, statement: str) -> list[tuple[object, object]]:
    try:
        found = session.run(statement, _ALL)
    except QueryError as error:
        raise DatabaseUnavailableError(
            f"The views of database '{session.name}' cannot be listed, and the policy's masks or "
            f"row filters have to know them: {error}"
        ) from error
    if found.cut is not None:
        raise UsageError(
            f"Database '{session.name}' has more views than can be looked at; use denied_columns "
            "and tables instead of masks and row filters."
        )
    return [(row[0], row[1]) for row in found.rows]
