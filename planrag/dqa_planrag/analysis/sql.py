"""Read a SQL statement with the scopes of sqlglot."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from dqa.core.situation import Schema
from dqa_planrag.analysis.reading import NOTHING, Reading, Value


def read_sql(statement: str, dialect: str, schema: Schema) -> list[Reading]:
    """Return the reading of each part of a union; an empty list if the query is unreadable."""
    try:
        dialect += ", normalization_strategy=case_insensitive"
        tree = sqlglot.parse_one(statement, read=dialect)
        root = build_scope(_qualified(tree, dialect, schema))
        return [_SqlReading(schema, part, tree) for part in _selects(root)]
    except (SqlglotError, RecursionError, ValueError):
        return []


def _selects(scope: Scope | None) -> Iterator[Scope]:
    """Yield the parts of a union; a query without a union is its only part."""
    if scope is not None and isinstance(scope.expression, exp.Select):
        yield scope
    for part in [] if scope is None else scope.set_operation_scopes:
        yield from _selects(part)


def _qualified(tree: exp.Expr, dialect: str, schema: Schema) -> exp.Expr:
    """Return the query with a table for every column, and all names in lower case."""
    for table in tree.find_all(exp.Table):
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
        validate_qualify_columns=False,
        allow_partial_qualification=True,  # for columns such as SQLite's rowid
        quote_identifiers=False,
        identify=False,
    )


class _SqlReading(Reading):
    """One part of a union, whose columns are traced to tables scope by scope."""

    def __init__(self, schema: Schema, part: Scope, tree: exp.Expr) -> None:
        super().__init__(schema)
        self._columns: dict[Scope, dict[str, Value]] = {}
        self._instances: dict[tuple[Scope, str], int] = {}
        self._scope = part
        self.outputs = self._rows(part)
        self.sort(tree)

    def _rows(self, scope: Scope) -> dict[str, Value]:
        """Return the columns of a query. The columns of a union have the leaves of all parts."""
        if scope in self._columns:
            return self._columns[scope]
        around, groups = self._scope, self.groups
        columns = self._columns[scope] = {}  # a recursive query does not know its own columns
        if isinstance(scope.expression, exp.Select):
            self._scope = scope
            self._select_rows(scope.expression, columns)
        else:
            union = self.instance(None)
            parts = [self._rows(part) for part in scope.set_operation_scopes]
            mixed = zip(parts[0], *(part.values() for part in parts), strict=False) if parts else ()
            for name, *same in mixed:
                columns[name] = Value(Value.made_of(same).leaves, (union, name))
        self._scope, self.groups = around, groups
        return columns

    def _select_rows(self, select: exp.Select, columns: dict[str, Value]) -> None:
        """Read the sources, conditions, groups and columns of a SELECT."""
        known = {table.name for table in self.schema.tables}
        for alias, (_, source) in self._scope.selected_sources.items():
            if isinstance(source, Scope):
                self._rows(source)
            else:
                table = source.name if source.name in known else None
                self._instances[self._scope, alias] = self.instance(table)
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
        if select.args.get("limit") is not None:
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
        return Value.of((self._instances[scope, node.table], name))

    def query(self, node: exp.Query) -> Value:
        if isinstance(node.parent, exp.Exists):
            return NOTHING
        wanted = node.unnest()
        scopes = (s for s in self._scope.subquery_scopes if s.expression is wanted)
        return next((value for s in scopes for value in self._rows(s).values()), NOTHING)
