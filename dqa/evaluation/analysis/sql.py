"""What a statement in SQL shows, by sqlglot's parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from dqa.core.situation import Cell, Schema
from dqa.evaluation.analysis.reading import NOTHING, Reading, UnreadableStatementError, Value

_NAMES = {"ansi": "", "mariadb": "mysql"}
"""What sqlglot calls a dialect, where that is not what the guard calls it."""
_SAME = (exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Coalesce, exp.Alias, exp.Distinct)
"""What leaves a number what it is."""
_LISTS = (exp.GroupConcat, exp.ArrayAgg, exp.JSONArrayAgg, exp.JSONObjectAgg)
"""What puts values into one cell without mixing them."""
_TESTS = (exp.Predicate, exp.Connector, exp.Not)
_Columns: TypeAlias = dict[str, Value]
"""What a source of rows has, by name in small letters."""


@dataclass(slots=True)
class _Query:
    """One query's sources, and what stands around it.

    Attributes
    ----------
    first
        The first instance of its own.
    sources
        By alias; a table as its instance.
    named
        The queries of WITH that it sees; None of one that is being read.
    outer
        The query that it is part of, where it can see that one's sources.
    """

    first: int
    named: dict[str, tuple[exp.CTE, _Query] | None]
    outer: _Query | None = None
    sources: dict[str, int | _Columns] = field(default_factory=dict)
    shown: _Columns = field(default_factory=dict)
    groups: list[Value] = field(default_factory=list)


def read_sql(statement: str, dialect: str, schema: Schema) -> list[Reading] | None:
    """Return what a query shows, each part of a union by itself; None where it cannot be read.

    Parameters
    ----------
    statement
        As it ran.
    dialect
        One of the guard's for SQL.
    schema
        The scenario's.
    """
    dialect = _NAMES.get(dialect, dialect)
    try:
        tree = sqlglot.parse_one(statement, read=dialect)
        if not isinstance(tree, exp.Query):
            return []
        query = _qualified(tree, dialect, schema)
        return [_Reader(schema).read(query, part) for part in range(_parts(query))]
    except (SqlglotError, RecursionError, UnreadableStatementError):
        return None


def _parts(query: exp.Expr) -> int:
    return sum(1 for _ in _selects(query))


def _selects(query: exp.Expr) -> Iterator[exp.Select]:
    """Yield the parts of a union, or the one query that it is."""
    if isinstance(query, exp.SetOperation):
        yield from _selects(query.left)
        yield from _selects(query.right)
    elif isinstance(query, exp.Subquery):
        yield from _selects(query.this)
    elif isinstance(query, exp.Select):
        yield query


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
        validate_qualify_columns=False,
        # A database has columns that no schema lists, such as SQLite's rowid.
        allow_partial_qualification=True,
        quote_identifiers=False,
        identify=False,
    )


class _Reader:
    """Follows what a query's columns are made of, from its sources up."""

    def __init__(self, schema: Schema) -> None:
        self._reading = Reading(schema)
        self._columns = {table.name: table.column_names for table in schema.tables}

    def read(self, tree: exp.Expr, part: int) -> Reading:
        """Read one part of a union, or the only one."""
        top = _Query(0, {})
        around = tree
        while isinstance(around, exp.SetOperation | exp.Subquery):
            self._note_with(around, top)
            around = around.this
        select = list(_selects(tree))[part]
        query = self._select(select, top)
        self._reading.outputs = list(query.shown.values())
        self._reading.names = list(query.shown)
        for sorted_ in (tree, select):
            self._note_order(sorted_, query)
        return self._reading

    def _note_order(self, tree: exp.Expr, query: _Query) -> None:
        order = tree.args.get("order")
        for item in order.expressions if order is not None else ():
            value = self._value(item.this, query)
            if value.term is None and value not in self._reading.order:
                self._reading.order.append(value)

    def _note_with(self, tree: exp.Expr, query: _Query) -> None:
        given = tree.args.get("with_") or tree.args.get("with")
        for cte in given.expressions if given is not None else ():
            query.named = {**query.named, cte.alias: (cte, query)}

    def _select(self, select: exp.Select, outer: _Query | None, *, sees: bool = False) -> _Query:
        """Read one SELECT; `sees` where its conditions can name the sources around it."""
        named = {} if outer is None else outer.named
        query = _Query(len(self._reading.tables), named, outer if sees else None)
        self._note_with(select, query)
        begin = select.args.get("from_") or select.args.get("from")
        if begin is not None:
            self._sources(begin.this, select.args.get("joins") or (), query)
        for clause in ("where", "having", "qualify"):
            if select.args.get(clause) is not None:
                self._condition(select.args[clause].this, query)
        group = select.args.get("group")
        keys = group.expressions if group is not None else []
        query.groups = [self._value(key, query) for key in keys]
        inside = len(self._reading.tables)
        for item in select.selects:
            name = item.alias_or_name.lower()
            while name in query.shown:
                name += "'"
            query.shown[name] = self._value(item, query)
        self._reading.make_optional(inside)  # a subquery among the columns can be empty
        if select.args.get("limit") is not None:  # it chooses the first rows
            self._note_order(select, query)
        return query

    def _sources(self, begin: exp.Expr, joins: Iterable[exp.Join], query: _Query) -> None:
        """Note sources that are joined, and then what the joins say, which may name all of them."""
        first = len(self._reading.tables)
        self._source(begin, query)
        for join in joins:
            begun = len(self._reading.tables)
            self._source(join.this, query)
            if join.side in {"RIGHT", "FULL"}:
                self._reading.optional.update(range(first, begun))
            if join.side in {"LEFT", "FULL"}:
                self._reading.make_optional(begun)
        for join in joins:
            if join.args.get("on") is not None:
                self._condition(join.args["on"], query)

    def _source(self, source: exp.Expr, query: _Query) -> None:
        """Note a table, a query of WITH, a subquery or a join in brackets as a source of rows."""
        alias, inside = source.alias_or_name, source.this
        is_subquery = isinstance(source, exp.Subquery)
        if is_subquery and not alias and isinstance(inside, exp.Table | exp.Subquery):
            self._sources(inside, inside.args.get("joins") or (), query)
        elif is_subquery:
            sees = isinstance(source.parent, exp.Lateral)
            query.sources[alias] = self._rows(inside, query, source, sees=sees)
        elif isinstance(source, exp.Lateral) and isinstance(inside, exp.Subquery):
            query.sources[alias] = self._rows(inside.this, query, source, sees=True)
        elif isinstance(source, exp.Table) and source.name in query.named:
            query.sources[alias] = self._named(source.name, query)
        elif isinstance(source, exp.Table) and source.name in self._columns:
            query.sources[alias] = self._reading.instance(source.name)
        else:
            query.sources[alias] = self._reading.instance(None)

    def _named(self, name: str, query: _Query) -> int | _Columns:
        """Read a query of WITH anew for each mention; in itself it is unknown."""
        found = query.named[name]
        if found is None:
            return self._reading.instance(None)
        cte, around = found
        inside = _Query(len(self._reading.tables), {**around.named, name: None})
        return self._rows(cte.this, inside, cte)

    def _rows(
        self, tree: exp.Expr, query: _Query, named: exp.Expr, *, sees: bool = False
    ) -> _Columns:
        """Return the columns of a subquery; a union's are new ones that all its parts went into."""
        inner = _Query(query.first, query.named, query.outer, query.sources)
        around = tree
        while isinstance(around, exp.SetOperation | exp.Subquery):
            self._note_with(around, inner)
            around = around.this
        parts = [self._select(part, inner, sees=sees).shown for part in _selects(tree)]
        if not parts:
            return {}
        names = [name.lower() for name in named.alias_column_names] or list(parts[0])
        columns = [list(part.values()) for part in parts]
        if len(columns) == 1:
            return dict(zip(names, columns[0], strict=False))
        union = self._reading.instance(None)
        mixed = (Value.made_of(same) for same in zip(*columns, strict=False))
        return {
            name: Value(value.leaves, value.tests, term=(union, name))
            for name, value in zip(names, mixed, strict=False)
        }

    def _condition(self, node: exp.Expr, query: _Query) -> None:
        """Note what a condition says: equations of keys by themselves, the rest as it is."""
        node = node.unnest()
        if isinstance(node, exp.And):
            self._condition(node.left, query)
            self._condition(node.right, query)
        elif isinstance(node, exp.EQ):
            self._equation(node, query)
        elif isinstance(node, exp.In):
            self._membership(node, query)
        else:
            self._reading.condition(self._value(node, query))

    def _equation(self, node: exp.EQ, query: _Query) -> None:
        left, right = node.left.unnest(), node.right.unnest()
        for one, other in ((left, right), (right, left)):
            value, constant = self._value(one, query), _constant(other)
            if value.term is not None and constant is not None:
                self._reading.choose(value, constant)
                return
        values = self._value(left, query), self._value(right, query)
        terms = [value.term for value in values]
        if terms[0] is not None and terms[1] is not None:
            self._reading.equate(terms[0], terms[1])
        for side, term in zip((right, left), terms, strict=True):
            if term is not None and (isinstance(side, exp.Subquery) or None in terms):
                self._reading.settle(term)
        for value in values:
            self._reading.choose(value)

    def _membership(self, node: exp.In, query: _Query) -> None:
        value = self._value(node.this, query)
        inner = node.args.get("query")
        given = [_constant(item) for item in node.expressions]
        is_listed = bool(given) and None not in given
        self._reading.choose(value, [c for one in given for c in one or ()] if is_listed else None)
        if inner is not None:
            columns = list(self._rows(inner.unnest(), query, inner, sees=True).values())
            if value.term is not None and columns and columns[0].term is not None:
                self._reading.equate(columns[0].term, value.term)

    def _value(self, node: exp.Expr, query: _Query) -> Value:  # noqa: PLR0911
        """Return what an expression is made of."""
        if isinstance(node, exp.Column):
            return self._column(node, query)
        if isinstance(node, exp.Window):
            return self._window(node, query)
        if isinstance(node, exp.AggFunc) and not node.expressions:
            return self._aggregate(node, query.groups, query)
        if isinstance(node, exp.Case | exp.If):
            return self._case(node, query)
        if isinstance(node, exp.Exists):
            self._rows(node.this.unnest(), query, node, sees=True)
            return NOTHING
        if isinstance(node, exp.Subquery):
            columns = list(self._rows(node.this, query, node, sees=True).values())
            return columns[0] if columns else NOTHING
        if isinstance(node, exp.Query):
            return NOTHING
        parts = [self._value(child, query) for child in node.iter_expressions()]
        if isinstance(node, _TESTS):
            return Value.made_of(parts).as_test
        if isinstance(node, _SAME):
            made = [part for part in parts if part != NOTHING]
            if len(made) == 1:
                return made[0]
        return Value.made_of(parts)

    def _column(self, node: exp.Column, query: _Query) -> Value:
        name = node.name.lower()
        around: _Query | None = query
        while around is not None:
            held = [around.sources.get(node.table)] if node.table else [*around.sources.values()]
            for source in held:
                found = self._held(source, name)
                if found is not None:
                    return found
            if not node.table and name in around.shown:
                return around.shown[name]
            if len(held) == 1 and isinstance(held[0], int):
                return Value.of((held[0], name))  # one that nobody listed, such as a rowid
            around = around.outer
        return NOTHING

    def _held(self, source: int | _Columns | None, name: str) -> Value | None:
        """Return a source's column; None where it has none that is listed."""
        if source is None or not isinstance(source, int):
            return None if source is None else source.get(name)
        table = self._reading.tables[source]
        listed = table is not None and name in self._columns[table]
        return Value.of((source, name)) if listed else None

    def _aggregate(self, node: exp.AggFunc, groups: Iterable[Value], query: _Query) -> Value:
        argument = NOTHING if isinstance(node.this, exp.Star) else self._value(node.this, query)
        if isinstance(node, _LISTS):
            return argument
        if isinstance(node, exp.Count | exp.CountIf):
            return argument.as_test
        distinct = " distinct" if isinstance(node.this, exp.Distinct) else ""
        name = type(node).__name__.lower() + distinct
        return self._reading.summed(name, argument, groups, query.first)

    def _window(self, node: exp.Window, query: _Query) -> Value:
        groups = [self._value(key, query) for key in node.args.get("partition_by") or ()]
        order = node.args.get("order")
        ordered = [self._value(item.this, query) for item in order.expressions] if order else []
        function = node.this
        if isinstance(function, exp.AggFunc) and function.args.get("this") is not None:
            if order is None or isinstance(function, exp.Count):
                return self._aggregate(function, groups, query)
            # A running sum is no whole one.
            return Value.made_of([self._value(function.this, query)])
        ranks = Value.made_of(value for value in ordered if value.term is None)
        return Value.made_of([self._value(x, query) for x in function.iter_expressions()] + [ranks])

    def _case(self, node: exp.Case | exp.If, query: _Query) -> Value:
        branches = node.args.get("ifs") or [node]
        tests = [self._value(branch.this, query).as_test for branch in branches]
        if isinstance(node, exp.Case) and node.this is not None:
            tests.append(self._value(node.this, query).as_test)
        results = [branch.args.get("true") for branch in branches]
        results += [node.args.get("default"), node.args.get("false")]
        made = [self._value(result, query) for result in results if result is not None]
        return Value.made_of([*made, *tests])


def _constant(node: exp.Expr) -> list[Cell] | None:
    """Return a literal's value, in a list; None of what is no literal."""
    if isinstance(node, exp.Cast):
        node = node.this
    if isinstance(node, exp.Boolean):
        return [bool(node.this)]
    if isinstance(node, exp.Literal):
        if node.is_string:
            return [node.this]
        return [int(node.this) if node.is_int else float(node.this)]
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and node.this.is_int:
        return [-int(node.this.this)]
    return None
