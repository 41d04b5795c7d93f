"""What a statement in SQL read, resolved by sqlglot against the scenario's tables."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from dqa.core.situation import Schema
from dqa.evaluation.analysis.statements import Aggregate, Column, Reading

_NAMES = {"ansi": "", "mariadb": "mysql"}
"""What sqlglot calls a dialect, where that is not what the guard calls it."""
_FUNCTIONS: tuple[tuple[type[exp.Func], str], ...] = ((exp.Sum, "sum"), (exp.Avg, "avg"))


def read_sql(statement: str, dialect: str, schema: Schema, shown: frozenset[str]) -> Reading | None:
    """Return what a query read; None where the dialect cannot read it.

    Parameters
    ----------
    statement
        As it ran.
    dialect
        One of the guard's for SQL.
    schema
        The scenario's.
    shown
        The result's column names in small letters: of ``*``, what stands among them was read.
    """
    dialect = _NAMES.get(dialect, dialect)
    try:
        tree = sqlglot.parse_one(statement, read=dialect)
        if not isinstance(tree, exp.Query):
            return Reading()
        query = _qualified(tree, dialect, schema)
        return _Reader(schema, shown).read(query)
    except (SqlglotError, RecursionError):
        return None


def _qualified(tree: exp.Query, dialect: str, schema: Schema) -> exp.Expr:
    """Return the query with every column's table named, and all names in small letters."""
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.this.lower())
    for table in tree.find_all(exp.Table):  # the place in the database that holds the situation
        table.set("db", None)
        table.set("catalog", None)
    tables: dict[str, object] = {
        table.name: {column.name: column.type for column in table.columns}
        for table in schema.tables
    }
    return qualify(
        tree,
        dialect=dialect,
        schema=tables,
        expand_stars=False,
        validate_qualify_columns=False,
        # A database has columns that no schema lists, such as SQLite's rowid.
        allow_partial_qualification=True,
        quote_identifiers=False,
        identify=False,
    )


class _Reader:
    """Collects what the parts of one query read."""

    def __init__(self, schema: Schema, shown: frozenset[str]) -> None:
        self._tables = {table.name: frozenset(table.column_names) for table in schema.tables}
        self._shown = shown

    def read(self, query: exp.Expr) -> Reading:
        columns: set[Column] = set()
        aggregates: set[Aggregate] = set()
        for scope in traverse_scope(query):
            for column in scope.columns:
                columns |= self._resolved(scope, column.table, column.name)
            aggregates.update(self._aggregates(scope))
        columns |= {(table, name) for table, name in _starred(query, self) if name in self._shown}
        return Reading(frozenset(columns), frozenset(aggregates))

    def _resolved(self, scope: Scope, alias: str, name: str) -> set[Column]:
        """Return the tables' column behind a name; none behind what was worked out.

        A name without a table is one that only a star can have handed on.
        """
        if not alias:
            handed_on = [source for source in scope.sources.values() if isinstance(source, Scope)]
            return {found for s in handed_on for found in self.starred(s) if found[1] == name}
        source = scope.sources.get(alias)
        if isinstance(source, exp.Table):
            known = name in self._tables.get(source.name, ())
            return {(source.name, name)} if known else set()
        if isinstance(source, Scope) and _has_star(source.expression):
            # What a star hands on is read where it is named.
            return {column for column in self.starred(source) if column[1] == name}
        return set()

    def starred(self, scope: Scope) -> set[Column]:
        """Return the columns that the stars of a query's own list stand for."""
        found: set[Column] = set()
        query = scope.expression
        for item in query.selects if isinstance(query, exp.Query) else ():
            if not item.is_star:
                continue
            table = item.table if isinstance(item, exp.Column) else ""
            for alias, source in scope.sources.items():
                if table in {"", alias}:
                    found |= self._all_of(source)
        return found

    def _all_of(self, source: exp.Expr | Scope) -> set[Column]:
        if isinstance(source, exp.Table):
            return {(source.name, name) for name in self._tables.get(source.name, ())}
        if isinstance(source, Scope) and _has_star(source.expression):
            return self.starred(source)
        return set()

    def _aggregates(self, scope: Scope) -> Iterator[Aggregate]:
        """Yield the sums and means of one query over tables of its own."""
        outside: dict[str, set[str]] = {}
        alone = next(iter(scope.sources)) if len(scope.sources) == 1 else ""
        for column in scope.columns:
            if column.find_ancestor(exp.AggFunc) is None:
                own = alone if column.parent_select is scope.expression else ""
                outside.setdefault(column.table or own, set()).add(column.name)
        for kind, function in _FUNCTIONS:
            for call in scope.find_all(kind):
                if isinstance(call.this, exp.Distinct):  # equal amounts would count once
                    continue
                columns = list(call.find_all(exp.Column))
                aliases = {column.table for column in columns}
                source = scope.sources.get(next(iter(aliases))) if len(aliases) == 1 else None
                if isinstance(source, exp.Table) and source.name in self._tables:
                    by = frozenset(outside.get(aliases.pop(), ()))
                    names = frozenset(column.name for column in columns)
                    yield Aggregate(function, source.name, names, by)


def _has_star(query: exp.Expr) -> bool:
    return isinstance(query, exp.Query) and any(item.is_star for item in query.selects)


def _starred(query: exp.Expr, reader: _Reader) -> set[Column]:
    """Return what the stars of all queries stand for, but for those that only ask for existence."""
    found: set[Column] = set()
    for scope in traverse_scope(query):
        counts = isinstance(scope.expression, exp.Select)
        if counts and scope.expression.find_ancestor(exp.Exists) is None:
            found |= reader.starred(scope)
    return found
