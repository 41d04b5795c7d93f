"""Trace the expressions of a statement to the table columns from which they are computed.

Every mention of a table, node or relationship in a statement is an *instance*. A column of an
instance is a *term*. A `Reading` contains the result for one SQL or Cypher statement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp

from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema

Term: TypeAlias = tuple[int, str]
"""The index of an instance in `Reading.tables`, and a column of this instance."""

_SAME = (
    *(exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Coalesce, exp.Alias, exp.Distinct),
    *(exp.Bracket, exp.Array),
)
"""Expressions that do not change a value."""
_LISTS = (exp.GroupConcat, exp.ArrayAgg, exp.JSONArrayAgg, exp.JSONObjectAgg)
"""Functions that list values in one cell without combining them."""
_TESTS = (exp.Predicate, exp.Connector, exp.Not, exp.Count, exp.CountIf)
"""Conditions and counts, which do not show the values that they test."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term from which a number is computed, and the aggregate function that contains the term.

    Attributes
    ----------
    instance, column
        The instance and the column of the term.
    function
        The innermost aggregate function that contains the term, in lower case. It is empty if no
        aggregate function contains the term.
    columns
        All columns of the instance that occur in the argument of the aggregate function.
    chosen
        The columns of the instance that decide which rows the function aggregates: columns in
        conditions or in GROUP BY.
    """

    instance: int
    column: str
    function: str = ""
    columns: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Value:
    """The origin of an expression: the columns from which it is computed.

    Attributes
    ----------
    leaves
        The terms from which the expression is computed.
    term
        The term that the expression returns, unchanged or rounded; otherwise None.
    whole
        The instance of the node or relationship that the expression returns, alone or in a list;
        otherwise None.
    """

    leaves: frozenset[Leaf] = frozenset()
    term: Term | None = None
    whole: int | None = None

    @classmethod
    def of(cls, term: Term) -> Value:
        """Return the origin of an expression that is only a column."""
        return cls(frozenset({Leaf(*term)}), term)

    @classmethod
    def combined(cls, parts: Iterable[Value]) -> Value:
        """Return the origin of a number that is computed from several values."""
        return cls(frozenset(leaf for part in parts for leaf in part.leaves))


NOTHING = Value()
"""The origin of a constant, which is not computed from any column."""


class Reading(ABC):
    """The origins of the numbers in one statement. Subclasses analyse SQL and Cypher.

    Attributes
    ----------
    outputs
        The origin of each column of the result, by name in lower case.
    order
        The computed values by which the rows are sorted.
    tables
        The table of each instance; None for an unknown table.
    constants
        By term, the constants that the conditions allow: in each row, the term is equal to one of
        these constants.
    classes
        By term, all terms that the statement's conditions make equal to this term.
    groups
        The values in GROUP BY, or their equivalent in Cypher.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.outputs: dict[str, Value] = {}
        self.order: list[Value] = []
        self.tables: list[str | None] = []
        self.constants: dict[Term, frozenset[Cell]] = {}
        self.classes: dict[Term, list[Term]] = {}
        self.groups: list[Value] = []
        self._keys = keys_of(schema)
        self._conditions: dict[int, set[str]] = {}

    def instance(self, table: str | None) -> int:
        """Add an instance for one mention of a table in the statement, and return its index.

        `table` is None for an unknown table.
        """
        self.tables.append(table)
        return len(self.tables) - 1

    def ends(self, instance: int) -> Mapping[str, str]:
        """Map each key column of an instance to the node table whose keys the column contains."""
        return self._keys.get(self.tables[instance] or "", {})

    def same(self, term: Term) -> list[Term]:
        """Return all terms that are equal to a term, including the term."""
        return self.classes.get(term, [term])

    def equate(self, one: Term, other: Term) -> None:
        """Record that two terms have the same value."""
        terms = sorted({*self.same(one), *self.same(other)})
        self.classes.update(dict.fromkeys(terms, terms))

    def properties(self, whole: int) -> dict[str, Value]:
        """Return the properties of a node or relationship, by name in lower case."""
        owners: list[NodeSchema | EdgeSchema] = [*self.schema.nodes, *self.schema.edges]
        columns = {owner.table: owner.properties for owner in owners}
        found = columns.get(self.tables[whole] or "", ())
        return {name.lower(): Value.of((whole, column)) for name, column in found}

    @abstractmethod
    def column(self, node: exp.Column) -> Value:
        """Return the origin of a name in an expression, such as a column or alias."""

    def query(self, node: exp.Query) -> Value:  # noqa: ARG002  (subclasses use it)
        """Return the origin of the first column of a subquery."""
        return NOTHING

    def value(self, node: exp.Expr) -> Value:
        """Return the origin of an expression."""
        if isinstance(node, exp.Column):
            return self.column(node)
        if isinstance(node, exp.Query):
            return self.query(node)
        if isinstance(node, exp.Window):
            keys = [self.value(key) for key in node.args.get("partition_by") or ()]
            is_whole = isinstance(node.this, exp.AggFunc) and node.args.get("order") is None
            return self._aggregate(node.this, keys) if is_whole else NOTHING
        if isinstance(node, _TESTS):
            return NOTHING
        if isinstance(node, exp.AggFunc) and not node.expressions:
            return self._aggregate(node, self.groups)
        parts = [self.value(child) for child in node.iter_expressions()]
        known = [part for part in parts if part != NOTHING]
        return known[0] if isinstance(node, _SAME) and len(known) == 1 else Value.combined(parts)

    def _used(self, node: exp.Expr) -> Value:
        """Return the combined origin of all columns in an expression.

        Columns in conditions count too.
        """
        return Value.combined(map(self.column, node.find_all(exp.Column)))

    def _aggregate(self, node: exp.AggFunc, groups: Sequence[Value]) -> Value:
        """Return the origin of an aggregate over groups of rows."""
        argument = self.value(node.this)
        if isinstance(node, _LISTS):
            return argument
        name = type(node).__name__.lower() + " distinct" * isinstance(node.this, exp.Distinct)
        grouping = {value.term for value in groups if value.term is not None}
        wholes = [value.whole for value in groups if value.whole is not None]
        grouping.update((whole, column) for whole in wholes for column in self.ends(whole))
        used, leaves = self._used(node.this).leaves, set()
        for leaf in argument.leaves:
            columns = frozenset(one.column for one in used if one.instance == leaf.instance)
            chosen = self._chosen(leaf.instance, grouping)
            outer = replace(leaf, function=name, columns=columns, chosen=chosen)
            leaves.add(leaf if leaf.function else outer)
        return Value(frozenset(leaves))

    def _chosen(self, instance: int, grouping: set[Term]) -> frozenset[str]:
        """Return the columns of an instance that occur in conditions or in the grouping."""
        fixed, ends = grouping | self.constants.keys(), self.ends(instance)
        found = {name for name in ends if not fixed.isdisjoint(self.same((instance, name)))}
        return frozenset(found | self._conditions.get(instance, set()))

    def sort(self, tree: exp.Expr) -> None:
        """Record the computed values by which the statement sorts the rows."""
        order = tree.args.get("order")
        values = [self.value(item.this) for item in order.expressions] if order else []
        self.order += [value for value in values if value.term is None]

    def condition(self, node: exp.Expr) -> None:
        """Record a condition. The parts of an AND are recorded separately."""
        node = node.unnest()
        if isinstance(node, exp.And):
            self.condition(node.left)
            self.condition(node.right)
        elif isinstance(node, exp.EQ):
            one, other = sorted((node.left, node.right), key=lambda side: not side.find(exp.Column))
            self.equal(self.value(one), [other])
        elif isinstance(node, exp.In):
            inner = node.args.get("query") or node.args.get("field")
            self.equal(self.value(node.this), [inner.unnest()] if inner else node.expressions)
        else:
            self._select(self._used(node))

    def equal(self, value: Value, others: Sequence[exp.Expr]) -> None:
        """Record that a value is equal to one of several expressions."""
        constants, other = constants_of(others), NOTHING
        if constants is None and len(others) == 1:
            other = self.value(others[0])
        if value.term is not None and constants is not None:
            self.constants[value.term] = constants & self.constants.get(value.term, constants)
        elif value.term is not None and other.term is not None:
            self.equate(value.term, other.term)
        for each in (value, other):
            if each.term is None or each.term[1] not in self.ends(each.term[0]):
                self._select(each)

    def _select(self, value: Value) -> None:
        """Record the columns that a condition uses to select rows.

        Columns in aggregates do not count.
        """
        for leaf in value.leaves:
            if not leaf.function:
                self._conditions.setdefault(leaf.instance, set()).add(leaf.column)


def keys_of(schema: Schema) -> dict[str, dict[str, str]]:
    """Map each key column of every table to the node table whose keys the column contains.

    A node table has one key column. An edge table has two: one for each end of the edge.
    """
    tables = {node.label: node.table for node in schema.nodes}
    edges = {
        edge.table: {column: tables[label] for label, column in (edge.source, edge.target)}
        for edge in schema.edges
    }
    return edges | {node.table: {node.key_column: node.table} for node in schema.nodes}


def constants_of(nodes: Iterable[exp.Expr]) -> frozenset[Cell] | None:
    """Return the values of literals; None if any expression is not a literal."""
    try:
        found = [node.unnest().to_py() for node in nodes]
    except ValueError:
        return None
    return frozenset(float(one) if isinstance(one, Decimal) else one for one in found)
