"""Which critical values a run looked at (PlanRAG, section 5.2, Table 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dqa import plugins
from dqa.core.evidence import SIMULATING
from dqa.core.situation import Cell
from dqa.evaluation.analysis.reading import Leaf, Place, Reading, Value
from dqa.evaluation.analysis.relevance import Data, Relevance, Search
from dqa.evaluation.analysis.statements import Asked, Row
from dqa.scenarios.document import Computed, CriticalValue

__all__ = ["CriticalValue", "Found", "critical", "found_values"]


class Found(StrEnum):
    """How a run came by a critical value, the most direct way first."""

    SHOWN = "shown"
    WORKED_OUT = "worked out"
    PARTS = "parts"
    NOT_NEEDED = "not needed"
    SIMULATED = "simulated"
    MISSED = "missed"


_BY_DIRECTNESS = tuple(Found)


def critical(scenario: str) -> tuple[CriticalValue, ...]:
    """Return a scenario's critical values; none where nobody named them or knows its tables."""
    found = plugins.find_scenario(scenario)
    return () if found is None else found.critical_values


def found_values(
    asked: Sequence[Asked], values: Sequence[CriticalValue], relevance: Relevance
) -> Mapping[str, Found]:
    """Return how a run came by each critical value, by its name.

    It counts what the rows show of what the question turns on: the value itself, all its parts,
    or a number that it went into. A simulation without an error works every value out. What a
    model adds up in its thoughts is not seen.

    Parameters
    ----------
    asked
        What the run asked.
    values
        The scenario's critical values.
    relevance
        What the question turns on.
    """
    simulated = any(a.evidence.tool in SIMULATING and a.evidence.error is None for a in asked)
    search = _Search(values, relevance)
    for one in asked:
        for reading in one.readings:
            search.look(one, reading)
    search.finish(simulated=simulated)
    return search.found


@dataclass(slots=True)
class _Search:
    """Looks through what a run was shown for critical values."""

    values: Sequence[CriticalValue]
    relevance: Relevance
    found: dict[str, Found] = field(default_factory=dict)
    _beside: set[str] = field(default_factory=set)
    _complete: set[str] = field(default_factory=set)
    _parts: dict[str, set[int]] = field(default_factory=dict)
    _asked_for: dict[str, set[Cell]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.found = dict.fromkeys((value.name for value in self.values), Found.MISSED)

    def note(self, name: str, how: Found) -> None:
        """Note a way to a value, where none that is more direct is known."""
        self.found[name] = min(how, self.found[name], key=_BY_DIRECTNESS.index)

    def finish(self, *, simulated: bool) -> None:
        """Note what only all statements together tell."""
        for name in self._complete & self._beside:
            self.note(name, Found.PARTS)
        if simulated:
            for name in self.found:
                self.note(name, Found.SIMULATED)

    def look(self, asked: Asked, reading: Reading) -> None:
        """Look through a statement's rows."""
        self._beside.update(
            v.name for v in self.values if v.computed is not None and v.computed.beside is None
        )
        for row in asked.rows(reading):
            seen = _Seen(reading, row, self._search(reading, row), self.relevance)
            for value in self.values:
                if self.found[value.name] is not Found.SHOWN:
                    for how in seen.ways(value, self.values):
                        self.note(value.name, how)
                if value.computed is not None and seen.shows(value.computed.beside):
                    self._beside.add(value.name)
        for value in self.values:
            more_direct = self.found[value.name] in {Found.SHOWN, Found.WORKED_OUT}
            if value.computed is not None and not more_direct:
                self._look_for_parts(value.name, value.computed, asked, reading)

    def _look_for_parts(
        self, name: str, computed: Computed, asked: Asked, reading: Reading
    ) -> None:
        """Note which parts of a value a statement lists, and whether that is all of them."""
        for instance, table in enumerate(reading.tables):
            wanted = {(instance, column) for column in computed.columns}
            if table != computed.table or not wanted <= {v.term for v in reading.outputs if v.term}:
                continue
            whole = asked.evidence.cut is None and reading.chosen(instance) <= {computed.by}
            data = self.relevance.data
            if data is None:
                if whole and asked.evidence.row_count:
                    self._complete.add(name)
                continue
            listed = self._listed(computed, asked, reading, instance, data)
            self._parts.setdefault(name, set()).update(listed)
            if whole:
                by = Search(reading, {}, data).possible((instance, computed.by))
                self._asked_for.setdefault(name, set()).update(by or ())
            if self._is_complete(name, computed, data):
                self._complete.add(name)

    def _listed(
        self, computed: Computed, asked: Asked, reading: Reading, instance: int, data: Data
    ) -> Iterator[int]:
        """Yield the rows of the data that a statement's rows show the parts of."""
        for row in asked.rows(reading):
            search = self._search(reading, row)
            facts = {}
            for column in data.schema.table(computed.table).column_names:
                values = search.possible((instance, column))
                if values is not None:
                    facts[column] = values
            yield from data.rows(computed.table, facts).tolist()

    def _search(self, reading: Reading, row: Row) -> Search:
        shown = {
            reading.root(value.term): cell
            for value, cell in row
            if value.term is not None and cell is not None
        }
        return Search(reading, shown, self.relevance.data)

    def _is_complete(self, name: str, computed: Computed, data: Data) -> bool:
        """Whether all parts of the value of something that matters were listed."""
        matter = self.relevance.ends(data.schema, computed.table).get(computed.by)
        owners = data.column(computed.table, computed.by)
        listed, asked_for = self._parts.get(name, set()), self._asked_for.get(name, set())
        missing: set[Cell] = set()
        begun: set[Cell] = set()
        for row, owner in enumerate(owners):
            (begun if row in listed else missing).add(owner)
        empty = asked_for - set(owners)
        complete = (begun - missing) | empty
        return bool(complete if matter is None else complete & matter)


@dataclass(frozen=True, slots=True)
class _Seen:
    """One row of a result, and what it shows.

    Attributes
    ----------
    reading
        Of its statement.
    row
        Its cells, with what they are made of.
    search
        Tells the values that terms can have in it.
    relevance
        What the question turns on.
    """

    reading: Reading
    row: Row
    search: Search
    relevance: Relevance

    def ways(self, value: CriticalValue, all_values: Sequence[CriticalValue]) -> Iterator[Found]:
        """Yield the ways in which the row gives a critical value."""
        for made, cell in self.row:
            if cell is None:
                if value.computed is not None and self._is_empty_sum(made, value.computed):
                    yield Found.WORKED_OUT
                continue
            if self._has(made.leaves, value.place):
                yield Found.SHOWN if self._is(made, value.place) else Found.WORKED_OUT
            elif self._gives(made, value):
                yield Found.WORKED_OUT
            elif self._spares(made, value, all_values):
                yield Found.NOT_NEEDED
        for made in self.reading.order:
            if self._has(made.leaves, value.place) or self._gives(made, value):
                yield Found.WORKED_OUT
            elif self._spares(made, value, all_values):
                yield Found.NOT_NEEDED

    def shows(self, place: Place | None) -> bool:
        """Whether the row has a column's value, of what matters; True of no column."""
        return place is None or any(self._has(made.leaves, place) for made, _ in self.row)

    def _is(self, made: Value, place: Place) -> bool:
        return made.term is not None and self._place(Leaf(*made.term)) == place

    def _place(self, leaf: Leaf) -> tuple[str | None, str]:
        return self.reading.tables[leaf.instance], leaf.column

    def _has(self, leaves: Iterable[Leaf], place: Place) -> bool:
        """Whether a number is made of a column's values, and of such that matter."""
        return any(self._place(leaf) == place and self._matters(leaf) for leaf in leaves)

    def _matters(self, leaf: Leaf) -> bool:
        """Whether a value can be one that matters; one of a sum has to be of something it names."""
        table = self.reading.tables[leaf.instance]
        ends = self.relevance.ends(self.reading.schema, str(table))
        fixed = () if leaf.summed is None else leaf.summed.fixed
        if not ends:
            return leaf.summed is None or bool(fixed)
        known = {column: self.search.possible((leaf.instance, column)) for column in ends}
        if any(values is not None and not values & ends[c] for c, values in known.items()):
            return False
        if leaf.summed is None or any(column in fixed for column in ends):
            return True
        return any(values is not None and values <= ends[c] for c, values in known.items())

    def _gives(self, made: Value, value: CriticalValue) -> bool:
        """Whether a number is the value by a sum or mean, or holds it by an equation."""
        if value.computed is not None:
            computed = value.computed
            if any(self._is_whole(leaf, computed) for leaf in made.leaves) and not (
                made.is_sum and self.relevance.data is None and self._is_zero(made)
            ):
                return self.shows(computed.beside)
        return bool(value.solved) and all(self._has(made.leaves, p) for p in value.solved)

    def _is_zero(self, made: Value) -> bool:
        return any(output is made and cell == 0 for output, cell in self.row)

    def _is_whole(self, leaf: Leaf, computed: Computed) -> bool:
        """Whether a sum is over all parts of the value of something that matters."""
        summed = leaf.summed
        if summed is None or self.reading.tables[leaf.instance] != computed.table:
            return False
        same = (summed.function, summed.columns) == (computed.function, computed.columns)
        if not same or not summed.chosen <= {computed.by}:
            return False
        matter = self.relevance.ends(self.reading.schema, computed.table).get(computed.by)
        if matter is None:
            return computed.by in summed.fixed
        term = leaf.instance, computed.by
        values = self.search.possible(term)
        if computed.by in summed.fixed:
            return values is None or bool(values & matter)
        return values is not None and bool(values) and values <= matter

    def _is_empty_sum(self, made: Value, computed: Computed) -> bool:
        """Whether nothing came out of a sum because the thing that it is of has no parts."""
        return self.relevance.data is not None and any(
            self._is_whole(leaf, computed) for leaf in made.leaves
        )

    def _spares(
        self, made: Value, value: CriticalValue, all_values: Sequence[CriticalValue]
    ) -> bool:
        """Whether a number compares candidates by what the value cannot change."""
        if value.spared is None or made.term is not None:
            return False
        (by,) = (other for other in all_values if other.name == value.spared.by)
        given = self._has(made.leaves, by.place) or self._gives(made, by)
        return given and any(self._has(made.leaves, place) for place in value.spared.beside)
