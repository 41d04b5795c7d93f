"""The reading of a statement: the table columns and rows from which its result is computed.

SQL and Cypher have the same kind of reading. Every mention of a table, node or relationship is an
*instance*. A column of an instance is a *term*. Terms that a statement equates form a *class*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema

Term: TypeAlias = tuple[int, str]
"""The number of an instance, and one of its columns."""

_SAME = (
    *(exp.Paren, exp.Cast, exp.TryCast, exp.Round, exp.Coalesce, exp.Alias, exp.Distinct),
    *(exp.Bracket, exp.Array),
)
"""Expressions that do not change a value."""
_LISTS = (exp.GroupConcat, exp.ArrayAgg, exp.JSONArrayAgg, exp.JSONObjectAgg)
"""Functions that list values in one cell without combining them."""
_TESTS = (exp.Predicate, exp.Connector, exp.Not)


@dataclass(frozen=True, slots=True)
class Summed:
    """How a sum, a mean or a similar function aggregates a term.

    Attributes
    ----------
    function
        The name of the innermost function, in lower case.
    columns
        All columns of the same instance in the argument of the function.
    chosen
        The columns that select or group the rows.
    """

    function: str
    columns: frozenset[str]
    chosen: frozenset[str]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term from which a number is computed. A tested term only selects a case of the number."""

    instance: int
    column: str
    summed: Summed | None = None
    tested: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """The origin of an expression.

    Attributes
    ----------
    leaves
        The terms from which the expression is computed.
    term
        The term if the expression is a single term, unchanged or rounded.
    whole
        The node or relationship that the expression returns, alone or in a list.
    fields
        The parts of a map, by name in lower case.
    """

    leaves: frozenset[Leaf] = frozenset()
    term: Term | None = None
    whole: int | None = None
    fields: Mapping[str, Value] | None = None

    @classmethod
    def of(cls, term: Term) -> Value:
        """Return the value of a column."""
        return cls(frozenset({Leaf(*term)}), term)

    @classmethod
    def made_of(cls, parts: Iterable[Value]) -> Value:
        """Return the value of a computation from other values."""
        return cls(frozenset(leaf for part in parts for leaf in part.leaves))

    @property
    def as_test(self) -> Value:
        """The same value, marked as only tested."""
        return Value(frozenset(replace(leaf, tested=True) for leaf in self.leaves))

    @property
    def shown(self) -> tuple[Leaf, ...]:
        """The leaves from which the number itself is computed."""
        return tuple(leaf for leaf in self.leaves if not leaf.tested)


NOTHING = Value()
"""The value of a constant."""


@dataclass(eq=False, slots=True)
class Class:
    """Terms with the same value, and the constants that this value can be."""

    terms: set[Term]
    constants: frozenset[Cell] | None = None

    def restrict(self, constants: Iterable[Cell]) -> None:
        """Record that the value is one of some constants."""
        given = frozenset(constants)
        self.constants = given if self.constants is None else self.constants & given


@dataclass(slots=True)
class Reading:
    """The reading of one statement.

    Attributes
    ----------
    keys
        By table, the key columns and the node table of each: the key of a node, or both ends of an
        edge.
    outputs
        The origin of each column of the result, by name in lower case.
    order
        The computed values that sort the rows.
    tables
        The table of each instance; None if it is not a known table.
    conditions
        By instance, the columns in conditions other than equations of keys.
    classes
        The class of each term.
    """

    schema: Schema
    keys: dict[str, dict[str, str]] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    order: list[Value] = field(default_factory=list)
    tables: list[str | None] = field(default_factory=list)
    conditions: dict[int, set[str]] = field(default_factory=dict)
    classes: dict[Term, Class] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keys = keys_of(self.schema)

    def instance(self, table: str | None) -> int:
        """Record a mention of a table, and return its number."""
        self.tables.append(table)
        return len(self.tables) - 1

    def ends(self, instance: int) -> Mapping[str, str]:
        """Return the key columns of an instance, each with the node table that it refers to."""
        return self.keys.get(self.tables[instance] or "", {})

    def same(self, term: Term) -> Class:
        """Return the class of a term."""
        return self.classes.setdefault(term, Class({term}))

    def equate(self, one: Term, other: Term) -> None:
        """Record that two terms have the same value."""
        here, there = self.same(one), self.same(other)
        if here is not there:
            here.terms |= there.terms
            if there.constants is not None:
                here.restrict(there.constants)
            self.classes.update(dict.fromkeys(there.terms, here))

    def condition(self, value: Value) -> None:
        """Record a condition on a value. A condition on a sum does not select rows of the sum."""
        for leaf in value.leaves:
            if leaf.summed is None:
                self.conditions.setdefault(leaf.instance, set()).add(leaf.column)

    def choose(self, value: Value, constants: Iterable[Cell] | None = None) -> None:
        """Record that a value is one of some constants, or meets some other condition."""
        if value.term is not None and constants is not None:
            self.same(value.term).restrict(constants)
        if value.term is None or value.term[1] not in self.ends(value.term[0]):
            self.condition(value)

    def summed(self, function: str, argument: Value, groups: Iterable[Value]) -> Value:
        """Return the value of a sum, a mean or a similar function over groups of rows."""
        terms = [value.term for value in groups]
        wholes = [value.whole for value in groups if value.whole is not None]
        terms += [(whole, column) for whole in wholes for column in self.ends(whole)]
        grouping = {self.same(term) for term in terms if term is not None}
        leaves = set()
        for leaf in argument.leaves:
            columns = (x.column for x in argument.leaves if x.instance == leaf.instance)
            chosen = self._chosen(leaf.instance, grouping)
            summed = Summed(function, frozenset(columns), frozenset(chosen))
            leaves.add(replace(leaf, summed=leaf.summed or summed))
        return Value(frozenset(leaves))

    def _chosen(self, instance: int, grouping: set[Class]) -> set[str]:
        """Return the columns that select or group the rows of an instance."""
        classes = {column: self.same((instance, column)) for column in self.ends(instance)}
        found = {c for c, same in classes.items() if same in grouping or same.constants is not None}
        return found | self.conditions.get(instance, set())

    def properties(self) -> dict[str, dict[str, str]]:
        """Return by table the column of each property, by name in lower case."""
        owners: list[NodeSchema | EdgeSchema] = [*self.schema.nodes, *self.schema.edges]
        return {o.table: {name.lower(): column for name, column in o.properties} for o in owners}

    def fields(self, value: Value) -> Mapping[str, Value] | None:
        """Return the parts of a map, node or relationship, by name in lower case."""
        if value.whole is None:
            return value.fields
        columns = self.properties().get(self.tables[value.whole] or "", {})
        return {name: Value.of((value.whole, column)) for name, column in columns.items()}


def keys_of(schema: Schema) -> dict[str, dict[str, str]]:
    """Return the key columns of every table of nodes or edges; see `Reading.keys`."""
    tables = {node.label: node.table for node in schema.nodes}
    edges = {
        edge.table: {column: tables[label] for label, column in (edge.source, edge.target)}
        for edge in schema.edges
    }
    return edges | {node.table: {node.key_column: node.table} for node in schema.nodes}


class Expressions:
    """Trace the expressions of a statement to the columns of tables.

    Attributes
    ----------
    reading
        The reading of the statement.
    groups
        The values that group the rows of a sum.
    """

    def __init__(self, schema: Schema) -> None:
        self.reading = Reading(schema)
        self.groups: list[Value] = []

    def column(self, node: exp.Column) -> Value:
        """Return the value of a name."""
        raise NotImplementedError

    def query(self, node: exp.Query) -> list[Value]:
        """Return the columns of a subquery."""
        raise NotImplementedError

    def value(self, node: exp.Expr) -> Value:  # noqa: PLR0911
        """Return the origin of an expression."""
        if isinstance(node, exp.Column):
            return self.column(node)
        if isinstance(node, exp.Window):
            keys = [self.value(key) for key in node.args.get("partition_by") or ()]
            is_whole = isinstance(node.this, exp.AggFunc) and node.args.get("order") is None
            return self._aggregate(node.this, keys) if is_whole else NOTHING
        if isinstance(node, exp.AggFunc) and not node.expressions:
            return self._aggregate(node, self.groups)
        if isinstance(node, exp.If):
            results = (node.args.get(branch) for branch in ("true", "false"))
            shown = [self.value(result) for result in results if result is not None]
            return Value.made_of([*shown, self.value(node.this).as_test])
        if isinstance(node, exp.Struct):
            fields = {part.name.lower(): self.value(part.expression) for part in node.expressions}
            return Value(Value.made_of(fields.values()).leaves, fields=fields)
        if isinstance(node, exp.Query):
            return next(iter(self.query(node)), NOTHING)
        parts = [self.value(child) for child in node.iter_expressions()]
        if isinstance(node, _TESTS):
            return Value.made_of(parts).as_test
        known = [part for part in parts if part != NOTHING]
        if isinstance(node, _SAME) and len(known) == 1:
            return known[0]
        return Value.made_of(parts)

    def _aggregate(self, node: exp.AggFunc, groups: Sequence[Value]) -> Value:
        argument = NOTHING if isinstance(node.this, exp.Star) else self.value(node.this)
        if isinstance(node, _LISTS):
            return argument
        if isinstance(node, exp.Count | exp.CountIf):
            return argument.as_test
        distinct = " distinct" if isinstance(node.this, exp.Distinct) else ""
        return self.reading.summed(type(node).__name__.lower() + distinct, argument, groups)

    def note_order(self, tree: exp.Expr) -> None:
        """Record the computed values that sort the rows."""
        order = tree.args.get("order")
        made = [self.value(item.this) for item in order.expressions] if order else []
        self.reading.order += [value for value in made if value.term is None]

    def condition(self, node: exp.Expr) -> None:
        """Record a condition. Each equation in a conjunction is recorded separately."""
        node = node.unnest()
        if isinstance(node, exp.And):
            self.condition(node.left)
            self.condition(node.right)
        elif isinstance(node, exp.EQ):
            one, other = node.left.unnest(), node.right.unnest()
            if constants_of([one]) is not None:
                one, other = other, one
            self.equal(self.value(one), [other])
        elif isinstance(node, exp.In):
            inner = node.args.get("query") or node.args.get("field")
            others = node.expressions if inner is None else [inner.unnest()]
            self.equal(self.value(node.this), others)
        else:
            self.reading.condition(self.value(node))

    def equal(self, value: Value, others: Sequence[exp.Expr]) -> None:
        """Record that a value is equal to one of some expressions."""
        constants = constants_of(others)
        if constants is not None:
            self.reading.choose(value, constants)
            return
        other = self.value(others[0]) if len(others) == 1 else NOTHING
        if value.term is not None and other.term is not None:
            self.reading.equate(value.term, other.term)
        elif value.whole is not None and other.whole is not None:
            for column in self.reading.ends(value.whole):
                self.reading.equate((value.whole, column), (other.whole, column))
        self.reading.choose(value)
        self.reading.choose(other)


def constants_of(nodes: Iterable[exp.Expr]) -> list[Cell] | None:
    """Return the values of literals; None if any expression is not a literal."""
    found: list[Cell] = []
    for node in nodes:
        inner = node.this if isinstance(node, exp.Cast) else node
        if not isinstance(inner, exp.Literal | exp.Boolean | exp.Neg):
            return None
        constant = inner.to_py()
        found.append(constant if isinstance(constant, str | bool | int) else float(constant))
    return found
