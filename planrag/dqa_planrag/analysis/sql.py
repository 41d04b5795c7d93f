"""Analyse a SQL statement with the scopes of sqlglot."""

from __future__ import annotations

from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from dqa.core.situation import Schema
from dqa_planrag.analysis.reading import NOTHING, Reading, Value


def read_sql(statement: str, dialect: str, schema: Schema) -> Reading | None:
    """Analyse a statement; see `Reading`. Return None if it cannot be analysed."""
    dialect += ", normalization_strategy=case_insensitive"
    tables: dict[str, object] = {
        table.name: dict.fromkeys(table.column_names, "text") for table in schema.tables
    }
    try:
        tree = qualify(
            sqlglot.parse_one(statement, read=dialect),
            dialect=dialect,
            schema=tables,
            validate_qualify_columns=False,
            allow_partial_qualification=True,  # SQLite's rowid is not in the schema
        )
        root = build_scope(tree)
        return None if root is None else _SqlReading(schema, root)
    except (SqlglotError, RecursionError, ValueError):
        return None


class _SqlReading(Reading):
    """The origins of the numbers in a SQL query. Columns are traced to tables scope by scope."""

    def __init__(self, schema: Schema, root: Scope) -> None:
        super().__init__(schema)
        self._columns: dict[Scope, dict[str, Value]] = {}
        self._instances: dict[tuple[Scope, str], int] = {}
        self._scope = root
        self.outputs = self._rows(root)

    def _rows(self, scope: Scope) -> dict[str, Value]:
        """Return the origin of each column of a query.

        For a union, the origins in its queries are combined.
        """
        if scope in self._columns:
            return self._columns[scope]
        around, groups = self._scope, self.groups
        columns = self._columns[scope] = {}  # empty while a recursive query reads itself
        if isinstance(scope.expression, exp.Select):
            self._scope = scope
            self._select_rows(scope.expression, columns)
        elif parts := [self._rows(part) for part in scope.set_operation_scopes]:
            union = self.instance(None)
            for name, *same in zip(parts[0], *(part.values() for part in parts), strict=False):
                term = (union, name) if all(value.term for value in same) else None
                columns[name] = replace(Value.combined(same), term=term)
        self._scope, self.groups = around, groups
        return columns

    def _select_rows(self, select: exp.Select, columns: dict[str, Value]) -> None:
        """Read the sources, conditions, groups and columns of a SELECT."""
        conditions = [join.args.get("on") for join in select.args.get("joins") or ()]
        where = select.args.get("where")
        for condition in filter(None, [where and where.this, *conditions]):
            self.condition(condition)
        group = select.args.get("group")
        self.groups = [self.value(key) for key in group.expressions] if group else []
        for item in select.expressions:
            name = item.alias_or_name.lower()
            while name in columns:
                name += "'"
            columns[name] = self.value(item)
        if self._scope.is_root or select.args.get("limit") is not None:
            self.sort(select)

    def column(self, node: exp.Column) -> Value:
        name, scope = node.name.lower(), self._scope
        while node.table not in scope.selected_sources:
            if scope.parent is None:
                return NOTHING
            scope = scope.parent
        _, source = scope.selected_sources[node.table]
        if isinstance(source, Scope):
            return self._rows(source).get(name, NOTHING)
        if (scope, node.table) not in self._instances:
            self._instances[scope, node.table] = self.instance(source.name)
        return Value.of((self._instances[scope, node.table], name))

    def query(self, node: exp.Query) -> Value:
        wanted = node.unnest()
        scopes = (s for s in self._scope.subquery_scopes if s.expression is wanted)
        return next((value for s in scopes for value in self._rows(s).values()), NOTHING)
