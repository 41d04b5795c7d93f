"""Find the critical values that a decider retrieved (PlanRAG, section 5.2, Table 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from dqa import plugins
from dqa.core.evidence import QUERY, SIMULATING, Evidence
from dqa.core.question import Question
from dqa.core.situation import Cell, Schema, Situation
from dqa.evaluation.traces import Trace
from dqa.scenarios.base import Scenario
from dqa.scenarios.document import Computed, CriticalValue
from dqa_planrag.analysis.cypher import read_cypher
from dqa_planrag.analysis.reading import NOTHING, Leaf, Reading, Term, Value, keys_of
from dqa_planrag.analysis.sql import read_sql

Values: TypeAlias = frozenset[Any]

_DIALECTS = {"ansi": "", "mariadb": "mysql"}
"""sqlglot's names for dialects that have another name in dqa."""
_MOST_JOINS = 3
"""The maximum number of joins between a number and the object that the number describes."""
_DIGITS = 5e-6
"""The relative error of a number with six significant digits."""


class Found(StrEnum):
    """How a decider found a critical value: from the most direct way to `MISSED`."""

    SHOWN = "shown"
    WORKED_OUT = "worked out"
    PARTS = "parts"
    NOT_NEEDED = "not needed"
    SIMULATED = "simulated"
    MISSED = "missed"


@dataclass(frozen=True, eq=False)
class Relevance:
    """The relevant objects of a question: those that affect the outcomes of its candidates.

    Attributes
    ----------
    data
        The content of the database; None if it is unknown.
    keys
        By node table, the keys of the relevant nodes. If a table is missing, all its nodes are
        relevant.
    """

    data: Situation | None = None
    keys: Mapping[str, frozenset[Cell]] = field(default_factory=dict)

    @cached_property
    def names(self) -> frozenset[str]:
        """All texts and whole numbers in the database, as texts."""
        tables = self.data.tables.values() if self.data is not None else ()
        columns = (cells for table in tables for cells in table.columns.values())
        found = (cells.tolist() for cells in columns if cells.dtype.kind in "Oi")
        return frozenset(str(cell).strip() for cells in found for cell in cells)

    @classmethod
    def of(cls, question: Question, scenario: Scenario, data: Situation) -> Relevance:
        """Return the relevant objects, as the section ``[matters]`` of the scenario defines them.

        The relevant objects are the node that the question's target names, and all nodes from which
        a path leads to this node.
        """
        part = scenario.document.matters
        if part is None or part.parameter not in question.target:
            return cls(data)
        value = scenario.document.parameters[part.parameter]
        table, column = str(value.table), str(value.column)
        (key,) = keys_of(data.schema)[table]
        named = zip(data.tables[table][key], data.tables[table][column], strict=True)
        keys = {table: {k for k, name in named if str(name) == question.target[part.parameter]}}
        along = [edge.table for edge in data.schema.edges if edge.label in part.along]
        before = -1
        while before != (before := sum(map(len, keys.values()))):
            for edge in along:
                (first, source), (last, target) = keys_of(data.schema)[edge].items()
                pairs = zip(data.tables[edge][first], data.tables[edge][last], strict=True)
                found = {begin for begin, end in pairs if end in keys.setdefault(target, set())}
                keys.setdefault(source, set()).update(found)
        return cls(data, {name: frozenset(nodes) for name, nodes in keys.items()})


@lru_cache(maxsize=10_000)
def _rows_with(relevance: Relevance, name: str, column: str, value: str | float) -> frozenset[int]:
    """Return the indices of the rows in which a column contains the value, exact or rounded."""
    tables = relevance.data.tables if relevance.data is not None else {}
    if name not in tables or column not in tables[name].columns:
        return frozenset()
    cells = tables[name][column]
    near = cells == value
    if cells.dtype.kind == "f" and not isinstance(value, str):
        decimals = len(repr(value).partition(".")[2])
        near = abs(cells - value) <= max(0.5 * 10**-decimals, _DIGITS * abs(value))
    return frozenset(near.nonzero()[0].tolist())


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement with its result. `reading` is None if the statement could not be analysed."""

    evidence: Evidence
    reading: Reading | None = None

    def brought_data(self, relevance: Relevance) -> bool:
        """Return whether the statement ran and returned data.

        A computed result of only nulls and zeros, such as a count of 0, also counts as data, with
        one exception: the conditions restrict a term to constants, and the database contains none
        of these constants.
        """
        cells = [cell for row in self.evidence.rows for cell in row]
        outputs = self.reading.outputs.values() if self.reading is not None else ()
        if any(cells) or relevance.data is None or any(value.term for value in outputs):
            return any(cell is not None for cell in cells)
        named = self.reading.constants.values() if self.reading is not None else ()
        return bool(cells) and not any(relevance.names.isdisjoint(map(str, one)) for one in named)

    def views(self, relevance: Relevance) -> Iterator[RowView]:
        """Yield a view of each row of the result, if the statement could be analysed."""
        outputs = [] if self.reading is None else list(self.reading.outputs.values())
        for cells in self.evidence.rows:
            if self.reading is not None and len(cells) == len(outputs):
                yield RowView(self.reading, zip(outputs, cells, strict=True), relevance)


def read_statements(trace: Trace, schema: Schema | None) -> list[Asked]:
    """Return the statements of a decider. With a schema, the statements are also analysed."""
    read, dialect = (read_cypher, "neo4j") if trace.kind == "graph" else (read_sql, "sqlite")
    if trace.database in plugins.names("database"):
        dialect = plugins.backend(trace.database).dialect
    found = []
    for one in trace.evidence:
        is_readable = one.error is None and one.tool == QUERY
        text, name = one.translated or one.statement, _DIALECTS.get(dialect, dialect)
        found.append(Asked(one, read(text, name, schema) if schema and is_readable else None))
    return found


class RowView:
    """One row of a statement's result, and the table rows that its values can come from.

    Attributes
    ----------
    cells
        Pairs of an origin and a cell, one for each column of the result. A cell that is a node or
        relationship adds a pair for each of its properties.
    shown
        The value of each term that is a column of the result.
    rows
        By instance, the indices of the table rows from which the values can come. If an instance is
        missing, all rows of its table are possible.
    """

    def __init__(
        self, reading: Reading, row: Iterable[tuple[Value, Any]], relevance: Relevance
    ) -> None:
        self.reading, self._relevance = reading, relevance
        self.cells: list[tuple[Value, Any]] = []
        for value, cell in row:
            self.cells.append((value, cell))
            if value.whole is not None and isinstance(cell, dict):
                parts, fields = cell.items(), reading.properties(value.whole)
                self.cells += [(fields.get(name.lower(), NOTHING), part) for name, part in parts]
        self.shown = {
            v.term: c for v, c in self.cells if v.term and isinstance(c, str | int | float)
        }
        self.rows: dict[int, frozenset[int]] = {}
        for term, constants in reading.constants.items():
            self._narrow(term, constants)
        for term, cell in self.shown.items():
            self._narrow(term, {cell})
        for _ in range(_MOST_JOINS):
            for term in reading.classes:
                self._narrow(term, self.possible(term) or ())

    def _narrow(self, term: Term, values: Iterable[Any]) -> None:
        """Remove the table rows in which a term, or a term equal to it, has none of the values.

        If no row would remain, keep all rows: the statement computed these values, so the table
        does not contain them.
        """
        for instance, column in self.reading.same(term):
            column_of = self._relevance, self.reading.tables[instance] or "", column
            rows = frozenset[int]().union(*(_rows_with(*column_of, value) for value in values))
            rows &= self.rows.get(instance, rows)
            self.rows |= {instance: rows} if rows else {}

    def possible(self, term: Term) -> Values | None:
        """Return the possible values of a term in this row; None if all values are possible."""
        data = self._relevance.data
        for instance, column in (term, *self.reading.same(term)):
            if data is not None and instance in self.rows:
                cells = data.tables[self.reading.tables[instance] or ""].columns.get(column)
                return None if cells is None else frozenset(cells[[*self.rows[instance]]].tolist())
        return None

    def wanted(self, instance: int) -> dict[str, frozenset[Cell]]:
        """Return, for each key column of an instance, the keys of the relevant objects.

        A key column is missing if all objects of its table are relevant.
        """
        keys, ends = self._relevance.keys, self.reading.ends(instance)
        return {column: keys[table] for column, table in ends.items() if table in keys}

    def has(self, leaves: Iterable[Leaf], table: str, column: str) -> bool:
        """Return whether any leaf of this table and column can belong to a relevant object."""
        tables = self.reading.tables
        same = (leaf for leaf in leaves if (tables[leaf.instance], leaf.column) == (table, column))
        return any(map(self._matters, same))

    def _matters(self, leaf: Leaf) -> bool:
        """Return whether the value of a leaf can belong to a relevant object.

        An aggregate must cover only rows of relevant objects.
        """
        wanted, ends = self.wanted(leaf.instance), self.reading.ends(leaf.instance)
        if not wanted:
            return not leaf.function or not leaf.chosen.isdisjoint(ends)
        possible = [(self.possible((leaf.instance, name)), keys) for name, keys in wanted.items()]
        known = [(values, keys) for values, keys in possible if values is not None]
        if leaf.function and not any(values <= keys for values, keys in known):
            return False
        return all(values & keys for values, keys in known)

    def sums(self, leaves: Iterable[Leaf], computed: Computed) -> bool:
        """Return whether a leaf is the sum or mean in `computed`, for a relevant object."""
        wanted = computed.table, computed.function, computed.columns
        for leaf in leaves:
            table, owner = self.reading.tables[leaf.instance], {computed.by}
            if (table, leaf.function, leaf.columns) == wanted and leaf.chosen <= owner:
                matter = self.wanted(leaf.instance).get(computed.by)
                of = self.possible((leaf.instance, computed.by))
                if leaf.chosen == owner if matter is None else of and of <= matter:
                    return True
        return False

    def holds(self, computed: Value, value: CriticalValue) -> bool:
        """Return whether a number is computed from a critical value.

        The number must be computed from the column of the critical value, from the sum or mean that
        defines the critical value, or from all columns that determine it.
        """
        if self.has(computed.leaves, value.table, value.column):
            return True
        if value.computed is not None and self.sums(computed.leaves, value.computed):
            return True
        return bool(value.solved) and all(
            self.has(computed.leaves, *column) for column in value.solved
        )


def found_values(
    asked: Sequence[Asked], values: Sequence[CriticalValue], relevance: Relevance
) -> dict[str, Found]:
    """Return how a decider found each critical value, by name of the value.

    A value is found if a result contains, for a relevant object, the value itself, a number that is
    computed from the value, or all numbers of the sum or mean that defines the value. After a
    simulation, every critical value counts as found.
    """
    simulated = any(a.evidence.tool in SIMULATING and a.evidence.error is None for a in asked)
    views = [view for one in asked for view in one.views(relevance)] if values else []
    order, found = list(Found), {}
    for value in values:
        findings = {Found.SIMULATED if simulated else Found.MISSED}
        findings.update(*(_ways(view, value, values) for view in views))
        if value.computed is not None and _has_parts(value.computed, views, relevance.data):
            findings.add(Found.PARTS)
        found[value.name] = min(findings, key=order.index)
    return found


def _ways(view: RowView, value: CriticalValue, values: Sequence[CriticalValue]) -> Iterator[Found]:
    """Yield the ways in which a result row contains a critical value."""
    for computed, cell in (*view.cells, *((computed, 0) for computed in view.reading.order)):
        if cell is None:  # the sum over no rows is NULL, which is a correct result
            if value.computed is not None and view.sums(computed.leaves, value.computed):
                yield Found.WORKED_OUT
        elif computed.term is not None and view.has(computed.leaves, value.table, value.column):
            yield Found.SHOWN
        elif view.holds(computed, value):
            yield Found.WORKED_OUT
        elif value.spared is not None and computed.term is None:
            (by,) = (other for other in values if other.name == value.spared.by)
            others = (view.has(computed.leaves, *column) for column in value.spared.columns)
            if view.holds(computed, by) and any(others):
                yield Found.NOT_NEEDED


def _has_parts(computed: Computed, views: Sequence[RowView], data: Situation | None) -> bool:
    """Return whether the results list, for one relevant object, all numbers of a sum or mean."""
    if data is None:
        return False
    owners = data.tables[computed.table][computed.by].tolist()
    listed, matter = set[int](), frozenset(owners)
    for view in views:
        for instance, table in enumerate(view.reading.tables):
            shown = {column for i, column in view.shown if i == instance}
            if table == computed.table and shown >= computed.columns:
                listed |= view.rows.get(instance, frozenset())
                matter = view.wanted(instance).get(computed.by, matter)
    missing = {owner for row, owner in enumerate(owners) if row not in listed}
    return not matter & {owners[row] for row in listed} <= missing
