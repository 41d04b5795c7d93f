"""Read a SQL statement with the scopes of sqlglot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

from dqa.core.situation import Schema
from dqa_planrag.analysis.reading import NOTHING, Expressions, Reading, Value

_Columns: TypeAlias = Mapping[str, Value]
"""The columns of a source of rows, by name in lower case."""


def read_sql(statement: str, dialect: str, schema: Schema) -> list[Reading]:
    """Return the reading of each part of a union; an empty list if the query is unreadable."""
    try:
        tree = sqlglot.parse_one(statement, read=dialect)
        root = build_scope(_qualified(tree, dialect, schema))
        parts = () if root is None else tuple(_selects(root))
        return [_SqlReader(schema).read(tree, part) for part in parts]
    except (SqlglotError, RecursionError, ValueError):
        return []


def _selects(scope: Scope) -> Iterator[Scope]:
    """Yield the parts of a union; a query without a union is its only part."""
    if isinstance(scope.expression, exp.Select):
        yield scope
    for part in scope.set_operation_scopes:
        yield from _selects(part)


def _qualified(tree: exp.Expr, dialect: str, schema: Schema) -> exp.Expr:
    """Return the query with a table for every column, and all names in lower case."""
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.this.lower())
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


@dataclass(slots=True)
class _Frame:
    """The query being read: its sources by alias, and its columns."""

    scope: Scope
    outer: _Frame | None
    sources: dict[str, int | _Columns] = field(default_factory=dict)
    columns: dict[str, Value] = field(default_factory=dict)


class _SqlReader(Expressions):
    """Trace the columns of a query to its tables, scope by scope."""

    def read(self, tree: exp.Expr, part: Scope) -> Reading:
        """Read one part of a union."""
        self._read: dict[Scope, _Columns] = {}
        self._frame = _Frame(part, None)
        self._select()
        self.reading.outputs = self._frame.columns
        self.note_order(tree)
        return self.reading

    def _rows(self, scope: Scope) -> _Columns:
        """Read a source of rows. The columns of a union are new, with the leaves of all parts."""
        if scope in self._read:
            return self._read[scope]
        self._read[scope] = {}  # a recursive query does not know its own columns
        around, groups, parts = self._frame, self.groups, []
        for part in _selects(scope):
            self._frame = _Frame(part, around)
            self._select()
            parts.append(self._frame.columns)
        self._frame, self.groups = around, groups
        columns: _Columns = parts[0] if parts else {}
        if len(parts) > 1:
            union = self.reading.instance(None)
            mixed = zip(parts[0], *(part.values() for part in parts), strict=False)
            columns = {n: Value(Value.made_of(same).leaves, (union, n)) for n, *same in mixed}
        self._read[scope] = columns
        return columns

    def _select(self) -> None:
        """Read the sources, conditions, groups and columns of a SELECT."""
        frame, select = self._frame, self._frame.scope.expression
        for alias, (_, source) in frame.scope.selected_sources.items():
            frame.sources[alias] = self._source(source)
        conditions = [join.args.get("on") for join in select.args.get("joins") or ()]
        clauses = (select.args.get(name) for name in ("where", "having", "qualify"))
        conditions += [clause.this for clause in clauses if clause is not None]
        for condition in conditions:
            if condition is not None:
                self.condition(condition)
        group = select.args.get("group")
        self.groups = [self.value(key) for key in group.expressions] if group else []
        for item in select.expressions:
            name = item.alias_or_name.lower()
            while name in frame.columns:
                name += "'"
            frame.columns[name] = self.value(item)
        if frame.outer is None or select.args.get("limit") is not None:
            self.note_order(select)

    def _source(self, source: exp.Expr | Scope) -> int | _Columns:
        if isinstance(source, Scope):
            return self._rows(source)
        known = {table.name for table in self.reading.schema.tables}
        return self.reading.instance(source.name if source.name in known else None)

    def column(self, node: exp.Column) -> Value:
        name, frame = node.name.lower(), self._frame
        while node.table not in frame.sources:
            if not node.table and name in frame.columns:
                return frame.columns[name]
            if frame.outer is None:
                return NOTHING
            frame = frame.outer
        source = frame.sources[node.table]
        return Value.of((source, name)) if isinstance(source, int) else source.get(name, NOTHING)

    def query(self, node: exp.Query) -> list[Value]:
        wanted = node.unnest()
        scopes = (s for s in self._frame.scope.subquery_scopes if s.expression is wanted)
        columns = [list(self._rows(scope).values()) for scope in scopes]
        return [] if isinstance(node.parent, exp.Exists) or not columns else columns[0]
