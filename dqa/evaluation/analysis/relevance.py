"""What a question turns on, and which rows of the data a number in a result is of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from dqa import plugins
from dqa.core.question import Question
from dqa.core.question_set import QuestionSet
from dqa.core.situation import Cell, Schema, Situation
from dqa.evaluation.analysis.reading import Reading, Term
from dqa.scenarios.base import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values: TypeAlias = frozenset[Any]
Node: TypeAlias = tuple[str, Cell]
"""A node's label and its key."""
Cells: TypeAlias = Mapping[Term, Any]
"""By class, the value that a row shows of it."""

_DEEPEST = 3
"""Steps from one table to the next that are followed to learn whose value a number is."""
_MOST = 1_000
"""Rows beyond which nobody could say whose value a number is: then it can be anyone's."""
_DIGITS = 5e-6
"""The relative error of a number that is shown with six significant digits."""


class Data:
    """A situation's rows, as results show them."""

    def __init__(self, situation: Situation) -> None:
        self._tables = situation.tables
        self.schema = situation.schema
        self._columns: dict[tuple[str, str], list[Cell]] = {}
        self._places: dict[tuple[str, str], dict[Cell, list[int]]] = {}
        self._before: dict[tuple[str, ...], dict[Node, list[Node]]] = {}

    def column(self, table: str, name: str) -> list[Cell]:
        """Return a column's cells, one a row."""
        if (table, name) not in self._columns:
            self._columns[table, name] = self._tables[table][name].tolist()
        return self._columns[table, name]

    def has(self, table: str, name: str) -> bool:
        """Whether a table has a column, and the scenario the table."""
        return table in self._tables and name in self._tables[table].columns

    def knows_all(self, reading: Reading) -> bool:
        """Whether all that a statement names by its constants exists, as far as is known."""
        return all(
            self.knows(table, column, constants)
            for root, constants in reading.constants.items()
            for instance, column in reading.members(root)
            if (table := reading.tables[instance]) is not None and self.has(table, column)
        )

    def knows(self, table: str, name: str, values: Collection[Any]) -> bool:
        """Whether a column has one of these values; of an edge's end, whether such a node is."""
        ends = {
            (edge.table, column): node
            for edge in self.schema.edges
            for label, column in (edge.source, edge.target)
            for node in self.schema.nodes
            if node.label == label
        }
        node = ends.get((table, name))
        place = (table, name) if node is None else (node.table, node.key_column)
        return len(self.rows(place[0], {place[1]: values})) > 0

    def rows(self, table: str, facts: Mapping[str, Collection[Any]]) -> NDArray[np.intp]:
        """Return the rows whose columns have one of these values each.

        A number that fits no row was changed on the way, and chooses none.
        """
        import numpy as np

        found = np.ones(len(self._tables[table]), dtype=bool)
        numbers = []
        for name, values in facts.items():
            if self.schema.table(table).column(name).type == "float":
                numbers.append(self._fitting(table, name, values))
                continue
            here = np.zeros_like(found)
            places = self._index(table, name)
            for value in values:
                here[places.get(_hashed(value), [])] = True
            found &= here
        for fitting in numbers:
            if (found & fitting).any():
                found &= fitting
        return found.nonzero()[0]

    def _fitting(self, table: str, name: str, shown: Iterable[Any]) -> NDArray[np.bool_]:
        """Return in which rows a number is one of those shown, with the digits that these have."""
        import numpy as np

        cells = self._tables[table][name]
        found = np.zeros(len(cells), dtype=bool)
        for number in shown:
            if isinstance(number, int | float):
                exponent = Decimal(repr(number)).as_tuple().exponent
                last = 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
                near = np.maximum(last, _DIGITS * np.abs(cells)) * (1 + 1e-9)
                found |= np.abs(cells - number) <= near
        return found

    def leading(self, along: tuple[str, ...], start: Iterable[Node]) -> set[Node]:
        """Return some nodes, and all from which one of them can be reached along such edges."""
        if along not in self._before:
            self._before[along] = self._backwards(along)
        before = self._before[along]
        found = set(start)
        waiting = list(found)
        while waiting:
            for node in before.get(waiting.pop(), ()):
                if node not in found:
                    found.add(node)
                    waiting.append(node)
        return found

    def _backwards(self, along: tuple[str, ...]) -> dict[Node, list[Node]]:
        before: dict[Node, list[Node]] = {}
        for edge in self.schema.edges:
            if edge.label in along:
                (source, first), (target, second) = edge.source, edge.target
                begins, ends = self.column(edge.table, first), self.column(edge.table, second)
                for begin, end in zip(begins, ends, strict=True):
                    before.setdefault((target, end), []).append((source, begin))
        return before

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
        found = data.leading(part.along, start)
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


class Relevances:
    """What each question of a set turns on: everything, where nobody has the questions."""

    def __init__(self, questions: QuestionSet | None) -> None:
        self._set = questions
        self._questions = {} if questions is None else {q.key: q for q in questions.questions}
        self._data: dict[int, Data] = {}
        self._found: dict[str, Relevance] = {}

    def of(self, key: str) -> Relevance:
        """Return what the question called `key` turns on."""
        if key not in self._found:
            self._found[key] = self._relevance(key)
        return self._found[key]

    def _relevance(self, key: str) -> Relevance:
        question = self._questions.get(key)
        scenario = None if question is None else plugins.find_scenario(question.scenario)
        if self._set is None or question is None or scenario is None:
            return Relevance()
        situation = self._set.situation_of(question)
        if id(situation) not in self._data:
            self._data[id(situation)] = Data(situation)
        return Relevance.of(scenario, question, self._data[id(situation)])


class Search:
    """Looks for the values that a statement's terms can have in one row of its result.

    The statement's constants tell them, what the row shows, and the data behind both.

    Parameters
    ----------
    reading
        Of the statement.
    shown
        What the row shows; empty for all rows.
    data
        What the database holds, or None.
    """

    def __init__(self, reading: Reading, shown: Cells, data: Data | None) -> None:
        self._reading = reading
        self._shown = shown
        self._data = data
        self._found: dict[Term, Values | None] = {}
        self._columns = reading.mentioned()
        for instance, column in shown:
            self._columns.setdefault(instance, set()).add(column)

    def possible(self, term: Term) -> Values | None:
        """Return the values that a term can have; None for any."""
        root = self._reading.root(term)
        if root not in self._found:
            self._found[root] = self._values(root, frozenset(), _DEEPEST)
        return self._found[root]

    def _values(self, term: Term, seen: frozenset[Term], deep: int) -> Values | None:
        root = self._reading.root(term)
        if root in seen:
            return None
        found: Values | None = self._reading.constants.get(root)
        if root in self._shown:
            shown = frozenset({_hashed(self._shown[root])})
            found = shown if found is None else found & shown
        if deep == 0 or self._data is None or (found is not None and len(found) <= 1):
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
        if instance in self._reading.optional:
            return None
        facts: dict[str, Values] = {}
        for other in sorted(self._columns.get(instance, ())):
            if other != column and self._data.has(table, other):
                values = self._values((instance, other), seen, deep)
                if values is not None:
                    facts[other] = values
        rows = self._data.rows(table, facts) if facts else None
        if rows is None or len(rows) > _MOST:
            return None
        cells = self._data.column(table, column)
        return frozenset(cells[row] for row in rows.tolist())
