"""What a statement shows: what went into each of its columns, and of which rows of which table.

Both languages are read in the same terms. Every mention of a table, node or relationship is an
*instance*; a column of an instance is a *term*. Terms that a statement sets equal, to one another
or to constants, are one class, which is how it is known whose value a number is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from dqa.core.situation import Cell, Schema

Term: TypeAlias = tuple[int, str]
"""An instance, and one of its columns."""
Place: TypeAlias = tuple[str, str]
"""A table of the scenario, and one of its columns."""

_MOST_INSTANCES = 2_000
"""Mentions of tables beyond which a statement counts as one that nobody can read."""
_DEEPEST = 4
"""Steps from one instance to the next that are followed to learn whose value a number is."""


class UnreadableStatementError(Exception):
    """Neither language's reader understands the statement."""


@dataclass(frozen=True, slots=True)
class Summed:
    """How a term went through sums, means and their like.

    Attributes
    ----------
    function
        The innermost one, in small letters.
    columns
        All columns of the same instance in its argument.
    fixed
        The instance's columns that had one value in each group, and so say whose sum it is.
    chosen
        The columns by which its rows were chosen or grouped.
    """

    function: str
    columns: frozenset[str]
    fixed: frozenset[str]
    chosen: frozenset[str]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term that went into a number, by itself or summed up."""

    instance: int
    column: str
    summed: Summed | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression is made of.

    Attributes
    ----------
    leaves
        What went into it.
    tests
        What only decided between cases of it.
    term
        The one term that it is, unchanged or rounded; None of anything else.
    whole
        The node or relationship that it is, or holds in a list.
    fields
        Of a map that the statement spells out, its parts by name.
    """

    leaves: frozenset[Leaf] = frozenset()
    tests: frozenset[Leaf] = frozenset()
    term: Term | None = None
    whole: int | None = None
    fields: Mapping[str, Value] | None = None

    @classmethod
    def of(cls, term: Term) -> Value:
        """Return what a column alone is."""
        return cls(frozenset({Leaf(*term)}), term=term)

    @classmethod
    def made_of(cls, parts: Iterable[Value]) -> Value:
        """Return what is worked out from other values."""
        given = list(parts)
        leaves = frozenset[Leaf]().union(*(part.leaves for part in given))
        return cls(leaves, frozenset[Leaf]().union(*(part.tests for part in given)))

    @property
    def as_test(self) -> Value:
        """The same, where it only decides between cases."""
        return Value(tests=self.leaves | self.tests)

    @property
    def is_sum(self) -> bool:
        """Whether nothing but sums and their like went into it."""
        return self.term is None and self.whole is None and all(leaf.summed for leaf in self.leaves)


NOTHING = Value()
"""What a constant is made of."""


@dataclass(slots=True)
class Reading:
    """What one statement shows.

    Attributes
    ----------
    outputs
        By column of the result.
    names
        What the result calls these columns, in small letters, as far as the statement says.
    order
        What was worked out for the order of the rows.
    tables
        By instance, its table; None of what is no table of the scenario.
    constants
        By class, the values that its terms can have.
    conditions
        By instance, the columns in conditions that are more than an equation of keys.
    optional
        Instances that need no row for the statement to show one, as of an outer join.
    """

    schema: Schema
    outputs: list[Value] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    order: list[Value] = field(default_factory=list)
    tables: list[str | None] = field(default_factory=list)
    constants: dict[Term, frozenset[Cell]] = field(default_factory=dict)
    conditions: dict[int, set[str]] = field(default_factory=dict)
    optional: set[int] = field(default_factory=set)
    _parents: dict[Term, Term] = field(default_factory=dict)
    _settled: set[Term] = field(default_factory=set)

    def instance(self, table: str | None) -> int:
        """Note a mention of a table, and return its number."""
        if len(self.tables) >= _MOST_INSTANCES:
            raise UnreadableStatementError
        self.tables.append(table)
        return len(self.tables) - 1

    def root(self, term: Term) -> Term:
        """Return what stands for the term's class."""
        while term in self._parents:
            term = self._parents[term]
        return term

    def members(self, root: Term) -> Iterator[Term]:
        """Yield the terms of a class."""
        yield root
        yield from (term for term in self._parents if self.root(term) == root)

    def make_optional(self, first: int) -> None:
        """Note that the instances from this one on need no row."""
        self.optional.update(range(first, len(self.tables)))

    def mentioned(self) -> dict[int, set[str]]:
        """Return, by instance, the columns of which anything is known beside their names."""
        found: dict[int, set[str]] = {}
        for instance, column in (*self.constants, *self._parents, *self._parents.values()):
            found.setdefault(instance, set()).add(column)
        return found

    def equate(self, one: Term, other: Term) -> None:
        """Note that two terms have one value."""
        here, there = self.root(one), self.root(other)
        if here == there:
            return
        self._parents[there] = here
        given = self.constants.pop(there, None)
        if given is not None:
            self.restrict(here, given)
        if there in self._settled:
            self._settled.add(here)

    def restrict(self, term: Term, values: Iterable[Cell]) -> None:
        """Note that a term has one of these values."""
        root, given = self.root(term), frozenset(values)
        self.constants[root] = self.constants.get(root, given) & given

    def settle(self, term: Term) -> None:
        """Note that a term has one value, whichever."""
        self._settled.add(self.root(term))

    def condition(self, value: Value) -> None:
        """Note a condition over what a value is made of; one over a sum chooses no rows of it."""
        for leaf in value.leaves | value.tests:
            if leaf.summed is None:
                self.conditions.setdefault(leaf.instance, set()).add(leaf.column)

    def choose(self, value: Value, constants: Iterable[Cell] | None = None) -> None:
        """Note a condition over a value: it is one of some constants, or there is more to it.

        What is said of an instance's key alone, the key's class holds.
        """
        if value.term is not None and constants is not None:
            self.restrict(value.term, constants)
        if value.term is None or value.term[1] not in self.ends(value.term[0]):
            self.condition(value)

    def is_settled(
        self, term: Term, groups: frozenset[Term], first: int, deep: int = _DEEPEST
    ) -> bool:
        """Whether a term has one value in each group.

        Parameters
        ----------
        term
            Of an instance of the query that groups.
        groups
            The classes that it groups by.
        first
            The query's own first instance: earlier ones stand still around a subquery.
        deep
            How many instances may be followed.
        """
        root = self.root(term)
        if root in groups or root in self._settled or len(self.constants.get(root, ())) == 1:
            return True
        for instance, _ in self.members(root):
            if instance < first:
                return True
            names = self.naming(instance)
            if deep and any(
                self.root((instance, name)) != root
                and self.is_settled((instance, name), groups, first, deep - 1)
                for name in names
            ):
                return True
        return False

    def naming(self, instance: int) -> tuple[str, ...]:
        """Return the columns that may name a node: its key and its texts; none of an edge."""
        table = self.tables[instance]
        for node in self.schema.nodes:
            if node.table == table:
                columns = self.schema.table(table).columns
                return tuple(
                    c.name for c in columns if c.type == "text" or c.name == node.key_column
                )
        return ()

    def ends(self, instance: int) -> tuple[str, ...]:
        """Return the columns that say what an instance belongs to: a node's key, an edge's ends."""
        table = self.tables[instance]
        for node in self.schema.nodes:
            if node.table == table:
                return (node.key_column,)
        edges = (edge for edge in self.schema.edges if edge.table == table)
        return next(((edge.source[1], edge.target[1]) for edge in edges), ())

    def chosen(
        self, instance: int, groups: frozenset[Term] = frozenset(), first: int = 0
    ) -> set[str]:
        """Return the columns by which an instance's rows are chosen or grouped.

        Joining the whole table of the nodes at an end chooses none.
        """
        found = set(self.conditions.get(instance, ()))
        for column in self.ends(instance):
            root = self.root((instance, column))
            others = (other for other, _ in self.members(root) if other != instance)
            is_known = root in groups or root in self.constants or root in self._settled
            if is_known or any(self._narrows(other, first) for other in others):
                found.add(column)
        return found

    def _narrows(self, instance: int, first: int) -> bool:
        is_node = any(node.table == self.tables[instance] for node in self.schema.nodes)
        if instance < first or not is_node or self.conditions.get(instance):
            return True
        names = self.naming(instance)
        return any(self.root((instance, name)) in self.constants for name in names)

    def summed(
        self, function: str, argument: Value, groups: Iterable[Value], first: int = 0
    ) -> Value:
        """Return what a sum, mean or the like is made of.

        Parameters
        ----------
        function
            Its name in small letters.
        argument
            What it is over.
        groups
            What its rows are grouped by.
        first
            As in `is_settled`.
        """
        roots = frozenset(self.root(term) for value in groups for term in self._terms(value))
        inside = argument.leaves | argument.tests
        leaves = set()
        for leaf in argument.leaves:
            settled = frozenset(
                column
                for column in self.ends(leaf.instance)
                if self.is_settled((leaf.instance, column), roots, first)
            )
            if leaf.summed is not None:
                kept = replace(leaf.summed, fixed=leaf.summed.fixed & settled)
                leaves.add(replace(leaf, summed=kept))
                continue
            columns = frozenset(x.column for x in inside if x.instance == leaf.instance)
            chosen = frozenset(self.chosen(leaf.instance, roots, first))
            leaves.add(replace(leaf, summed=Summed(function, columns, settled, chosen)))
        return Value(frozenset(leaves), argument.tests)

    def _terms(self, value: Value) -> Iterator[Term]:
        if value.term is not None:
            yield value.term
        if value.whole is not None:
            yield from ((value.whole, column) for column in self.ends(value.whole))
