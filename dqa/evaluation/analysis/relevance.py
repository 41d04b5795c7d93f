"""What a question turns on, and which rows of the data a number in a result is of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

from dqa.core.question import Question
from dqa.core.situation import Cell, Schema, Situation
from dqa.evaluation.analysis.reading import Reading, Term
from dqa.scenarios.base import Scenario

Values: TypeAlias = frozenset[Any]
Cells: TypeAlias = Mapping[Term, Any]
"""By class, the value that a row shows of it."""

_DEEPEST = 3
"""Steps from one table to the next that are followed to learn whose value a number is."""
_DIGITS = 5e-6
"""The relative error of a number that is shown with six significant digits."""


class Data:
    """A situation's rows, as results show them."""

    def __init__(self, situation: Situation) -> None:
        self._tables = situation.tables
        self.schema = situation.schema
        self._columns: dict[tuple[str, str], list[Cell]] = {}
        self._places: dict[tuple[str, str], dict[Cell, list[int]]] = {}

    def column(self, table: str, name: str) -> list[Cell]:
        """Return a column's cells, one a row."""
        if (table, name) not in self._columns:
            self._columns[table, name] = self._tables[table][name].tolist()
        return self._columns[table, name]

    def has(self, table: str, name: str) -> bool:
        """Whether a table has a column, and the scenario the table."""
        return table in self._tables and name in self._tables[table].columns

    def rows(self, table: str, facts: Mapping[str, Collection[Any]]) -> list[int]:
        """Return the rows whose columns have one of these values each.

        A number that fits no row was changed on the way, and chooses none.
        """
        found: Collection[int] = range(len(self._tables[table]))
        numbers = {}
        for name, values in facts.items():
            if self.schema.table(table).column(name).type == "float":
                numbers[name] = values
                continue
            places = self._index(table, name)
            here = {row for value in values for row in places.get(_hashed(value), ())}
            found = [row for row in found if row in here]
        for name, values in numbers.items():
            cells = self.column(table, name)
            fitting = [row for row in found if any(_is_shown(cells[row], v) for v in values)]
            found = fitting or found
        return list(found)

    def _index(self, table: str, name: str) -> dict[Cell, list[int]]:
        if (table, name) not in self._places:
            places: dict[Cell, list[int]] = {}
            for row, cell in enumerate(self.column(table, name)):
                places.setdefault(cell, []).append(row)
            self._places[table, name] = places
        return self._places[table, name]

    @cached_property
    def names(self) -> frozenset[str]:
        """What anything of the data is called, in small letters: texts of nodes, and their keys."""
        return frozenset(
            str(cell).strip().casefold()
            for node in self.schema.nodes
            for column in self.schema.table(node.table).columns
            if column.type == "text" or column.name == node.key_column
            for cell in self.column(node.table, column.name)
        )


def _hashed(value: Any) -> Any:  # noqa: ANN401  (whatever a cell held)
    return value if isinstance(value, str | int | float | None) else str(value)


def _is_shown(cell: Cell, shown: Any) -> bool:  # noqa: ANN401  (whatever a cell held)
    """Whether a number is one that was shown, with the digits that this one has."""
    if not isinstance(cell, int | float) or not isinstance(shown, int | float):
        return False
    exponent = Decimal(repr(shown)).as_tuple().exponent
    last = 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
    return abs(cell - shown) <= max(last, _DIGITS * abs(cell)) * (1 + 1e-9)


@dataclass(frozen=True)
class Relevance:
    """What a question turns on.

    Attributes
    ----------
    data
        What its database holds; None where nobody knows.
    keys
        By table of nodes, the keys of those that matter; a table that is not in it does not tell
        what matters. Empty where everything does, as far as is known.
    """

    data: Data | None = None
    keys: Mapping[str, frozenset[Cell]] | None = None

    @classmethod
    def of(cls, scenario: Scenario, question: Question, data: Data) -> Relevance:
        """Return what a question turns on, by its scenario's ``[matters]``.

        That is what its parameter names, and everything that leads there along some edges.
        """
        part = scenario.document.matters
        if part is None or part.parameter not in question.target:
            return cls(data, {})
        given = scenario.document.parameters[part.parameter]
        table, column = str(given.table), str(given.column)
        wanted = question.target[part.parameter]
        (node,) = (node for node in scenario.schema.nodes if node.table == table)
        named = zip(data.column(table, node.key_column), data.column(table, column), strict=True)
        start = {(node.label, key) for key, cell in named if str(cell) == wanted}
        found = _leading(scenario.schema, part.along, start, data)
        tables = {node.label: node.table for node in scenario.schema.nodes}
        labels = {node.label} | {
            label
            for edge in scenario.schema.edges
            if edge.label in part.along
            for label in (edge.source[0], edge.target[0])
        }
        keys = {
            tables[label]: frozenset(key for kind, key in found if kind == label)
            for label in sorted(labels)
        }
        return cls(data, keys)

    def ends(self, schema: Schema, table: str) -> dict[str, Values]:
        """Return, by the columns that tell what a row is of, the keys that matter."""
        keys, tables = self.keys or {}, {node.label: node.table for node in schema.nodes}
        columns = {node.key_column: node.table for node in schema.nodes if node.table == table}
        for edge in schema.edges:
            if edge.table == table:
                columns |= {column: tables[label] for label, column in (edge.source, edge.target)}
        return {column: keys[name] for column, name in columns.items() if name in keys}

    def possible(self, reading: Reading, term: Term, shown: Cells) -> Values | None:
        """Return the values that a term can have in a row; None for any.

        The statement's constants tell them, what the row shows, and the data behind both.

        Parameters
        ----------
        reading
            Of the statement.
        term
            One of its terms.
        shown
            What the row shows.
        """
        return _Search(reading, shown, self.data).values(term, frozenset(), _DEEPEST)

    def exists(self, reading: Reading) -> bool:
        """Whether the data have what a statement names, as far as is known."""
        if self.data is None:
            return False
        for root, constants in reading.constants.items():
            for instance, column in reading.members(root):
                table = reading.tables[instance]
                if table is not None and self.data.has(table, column):
                    if not self.data.rows(table, {column: constants}):
                        return False
        return True


def _leading(
    schema: Schema, along: Iterable[str], start: set[tuple[str, Cell]], data: Data
) -> set[tuple[str, Cell]]:
    """Return some nodes, and all from which one of them can be reached along such edges."""
    before: dict[tuple[str, Cell], list[tuple[str, Cell]]] = {}
    for edge in schema.edges:
        if edge.label in along:
            (source, first), (target, second) = edge.source, edge.target
            rows = zip(data.column(edge.table, first), data.column(edge.table, second), strict=True)
            for begin, end in rows:
                before.setdefault((target, end), []).append((source, begin))
    found, waiting = set(start), list(start)
    while waiting:
        for node in before.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


class _Search:
    """Looks for the values that a term can have in one row of a result."""

    def __init__(self, reading: Reading, shown: Cells, data: Data | None) -> None:
        self._reading = reading
        self._shown = shown
        self._data = data

    def values(self, term: Term, seen: frozenset[Term], deep: int) -> Values | None:
        """Return the values that a term can have; None for any."""
        root = self._reading.root(term)
        if root in seen:
            return None
        found: Values | None = self._reading.constants.get(root)
        if root in self._shown:
            shown = frozenset({_hashed(self._shown[root])})
            found = shown if found is None else found & shown
        if deep == 0 or self._data is None:
            return found
        for instance, column in self._reading.members(root):
            there = self._behind(instance, column, seen | {root}, deep - 1)
            if there is not None:
                found = there if found is None else found & there
        return found

    def _behind(
        self, instance: int, column: str, seen: frozenset[Term], deep: int
    ) -> Values | None:
        """Return what the data have in a column of an instance, by what is known of its others."""
        table = self._reading.tables[instance]
        if self._data is None or table is None or not self._data.has(table, column):
            return None
        facts: dict[str, Values] = {}
        for other in self._data.schema.table(table).column_names:
            if other != column:
                values = self.values((instance, other), seen, deep)
                if values is not None:
                    facts[other] = values
        if not facts:
            return None
        cells = self._data.column(table, column)
        return frozenset(cells[row] for row in self._data.rows(table, facts))
