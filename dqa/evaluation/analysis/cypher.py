"""What a statement in Cypher shows, by the guard's own tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema
from dqa.evaluation.analysis.expressions import Expressions, words
from dqa.evaluation.analysis.reading import NOTHING, Reading, UnreadableStatementError, Value
from dqa.guard.cypher import read_statement
from dqa.guard.cypher_tokens import is_word, tokens
from dqa.guard.verdict import Refusal

_CLAUSES = words("MATCH OPTIONAL WITH UNWIND RETURN CALL ORDER SKIP OFFSET LIMIT WHERE UNION")
_Kinds: TypeAlias = tuple[NodeSchema, ...] | tuple[EdgeSchema, ...]


def read_cypher(statement: str, dialect: str, schema: Schema) -> list[Reading] | None:
    """Return what a query shows, each part of a union by itself; None where it cannot be read.

    Parameters
    ----------
    statement
        As it ran.
    dialect
        One of the guard's for Cypher.
    schema
        The scenario's.
    """
    fold: Callable[[str], str] = str.lower if dialect == "ladybug" else str
    try:
        read_statement(statement, dialect)
        found = tokens(statement, dialect)
        reader = _Reader(found, schema, fold)
        parts = list(reader.split(0, len(found.keys) - 1, {"UNION"}))
        return [_Reader(found, schema, fold).read(begin, end) for _, begin, end in parts]
    except (Refusal, RecursionError, UnreadableStatementError):
        return None


@dataclass(slots=True)
class _Reader(Expressions):
    """Follows what variables are made of, clause by clause."""

    _maps: list[tuple[int, int]] = field(default_factory=list)
    """Where a pattern's maps of properties stand, each with the instance that it is of."""

    def read(self, begin: int, end: int) -> Reading:
        self._clauses(begin, end)
        return self.reading

    def _clauses(self, begin: int, end: int) -> None:
        before = ""
        for word, first, last in self.split(begin, end, _CLAUSES):
            if word == "MATCH":
                begun = len(self.reading.tables)
                self._patterns(first, last)
                if before == "OPTIONAL":
                    self.reading.make_optional(begun)
            elif word == "WHERE":
                self._condition(first, last)
            elif word in {"WITH", "RETURN"}:
                self._projection(first, last, final=word == "RETURN")
            elif word == "UNWIND":
                self._unwind(first, last)
            elif word == "ORDER":
                self._order(first + 1, last)
            elif word == "CALL":
                self._call(first)
            before = word

    def _call(self, begin: int) -> None:
        """Read a subquery; what it returns is known behind it."""
        keys, closing = self.found.keys, self.found.closing
        start = closing[begin] + 1 if keys[begin] == "(" else begin
        if keys[start] == "{":
            around, shown = dict(self.known), list(self.reading.outputs)
            first, self.first = self.first, len(self.reading.tables)
            self._clauses(start + 1, closing[start])
            self.known, self.first = around | self.known, first
            self.reading.outputs = shown

    def _unwind(self, begin: int, end: int) -> None:
        value = self.value(begin, end - 2)
        self.known[self.text(end - 1)] = value

    def _order(self, begin: int, end: int) -> None:
        for _, first, last in self.split(begin, end, {","}):
            stop = last - (self.found.keys[last - 1] in {"DESC", "ASC", "DESCENDING", "ASCENDING"})
            value = self.value(first, stop)
            if value.term is None:
                self.reading.order.append(value)

    def _projection(self, begin: int, end: int, *, final: bool) -> None:
        """Read the items of WITH or RETURN: those that sum nothing up group the others."""
        keys = self.found.keys
        begin += keys[begin] == "DISTINCT"
        items: list[tuple[str, int, int]] = []
        kept: dict[str, Value] = {}
        for _, first, last in self.split(begin, end, {","}):
            if keys[first] == "*" and last == first + 1:
                kept |= self.known
                continue
            parts = list(self.split(first, last, {"AS"}))
            stop = parts[0][2]
            name = (
                self.text(parts[1][1])
                if len(parts) > 1
                else "".join(map(self.text, range(first, last)))
            )
            items.append((name, first, stop))
        alone = [self.value(i, j) for _, i, j in items if not self.sums(i, j)]
        self.groups = [*kept.values(), *alone]
        made = {name: self.value(first, last) for name, first, last in items}
        self.groups = []
        if final:
            self.reading.outputs = [*kept.values(), *made.values()]
            self.reading.names = [name.lower() for name in (*kept, *made)]
            self.known = self.known | made
        else:
            self.known = kept | made

    def _patterns(self, begin: int, end: int) -> None:
        """Read the nodes, relationships and paths of a MATCH, and what their maps say."""
        keys, closing = self.found.keys, self.found.closing
        i, left = begin, None
        paths: dict[str, list[int]] = {}
        path: list[int] = []
        while i < end:
            if keys[i] == "(" and (i == begin or not is_word(keys[i - 1])):
                node = self._element(i, self.schema.nodes)
                if left is not None:
                    path += self._relationship(left[1], i, left[0], node)
                path.append(node)
                left = (node, closing[i])
                i = closing[i] + 1
            elif keys[i] == ",":
                left, path, i = None, [], i + 1
            elif keys[i] == "=":
                paths[self.text(i - 1)] = path
                i += 1
            else:
                i = closing[i] + 1 if i in closing and keys[i] == "[" else i + 1
        # What a node without a label is, its relationships tell.
        for place, instance in self._maps:
            self._map(place, instance)
        self._maps = []
        for name, elements in paths.items():
            self.known[name] = Value.made_of(map(self._all_of, elements))

    def _all_of(self, instance: int) -> Value:
        """Return what an element holds, where it is one of several in a path."""
        table = self.reading.tables[instance]
        names = () if table is None else self.schema.table(table).column_names
        return Value.made_of(Value.of((instance, name)) for name in names)

    def _relationship(self, begin: int, end: int, left: int, right: int) -> list[int]:
        """Read what stands between two nodes: return the one relationship that it is, or none."""
        keys, closing = self.found.keys, self.found.closing
        bracket = next((i for i in range(begin + 1, end) if keys[i] == "["), None)
        from_right = keys[begin + 1] == "<"
        to_right = keys[end - 1] == ">"
        if bracket is None or "*" in keys[bracket : closing[bracket]]:
            if bracket is not None and is_word(keys[bracket + 1]):
                self.known[self.text(bracket + 1)] = NOTHING
            return []
        edge = self._element(bracket, self.schema.edges)
        found = [e for e in self.schema.edges if e.table == self.reading.tables[edge]]
        if not found:
            found = self._possible(left, right)
            if len(found) != 1:
                return [edge]
            self.reading.tables[edge] = found[0].table
        schema = found[0]
        ends = self._ends(schema, left, right) if from_right == to_right else None
        if from_right != to_right:
            ends = (right, left) if from_right else (left, right)
        if ends is None:
            return [edge]
        for node, (label, column) in zip(ends, (schema.source, schema.target), strict=True):
            made = self.schema.node(label)
            if self.reading.tables[node] is None:
                self.reading.tables[node] = made.table
            self.reading.equate((node, made.key_column), (edge, column))
        return [edge]

    def _possible(self, left: int, right: int) -> list[EdgeSchema]:
        """Return the relationships that can stand between two nodes, by their labels."""
        wanted = {self.reading.tables[left], self.reading.tables[right]} - {None}
        tables = {node.label: node.table for node in self.schema.nodes}
        return [
            edge
            for edge in self.schema.edges
            if wanted <= {tables[edge.source[0]], tables[edge.target[0]]}
        ]

    def _ends(self, schema: EdgeSchema, left: int, right: int) -> tuple[int, int] | None:
        """Return source and target where no arrow says it, as far as the labels do."""
        tables = {node.label: node.table for node in self.schema.nodes}
        source, target = tables[schema.source[0]], tables[schema.target[0]]
        here, there = self.reading.tables[left], self.reading.tables[right]
        if source == target:
            return None
        if here == source or there == target:
            return left, right
        return (right, left) if here == target or there == source else None

    def _element(self, begin: int, kinds: _Kinds) -> int:
        """Return the instance of a node or relationship pattern, a new one or a known one."""
        keys, closing = self.found.keys, self.found.closing
        end, i, name = closing[begin], begin + 1, ""
        if is_word(keys[i]) and keys[i] != "WHERE":
            name, i = self.text(i), i + 1
        table = None
        if keys[i] == ":":
            label = self.text(i + 1)
            several = "|" in keys[i:end]
            same = [k.table for k in kinds if self.fold(k.label) == label and not several]
            table = same[0] if same else None
        given = self.known.get(name)
        instance = given.whole if given is not None and given.whole is not None else None
        if instance is None:
            instance = self.reading.instance(table)
        elif table is not None and self.reading.tables[instance] is None:
            self.reading.tables[instance] = table
        if name:
            self.known[name] = Value(whole=instance)
        maps = (j for j in range(i, end) if keys[j] == "{")
        self._maps += [(j, instance) for j in islice(maps, 1)]
        for j in range(i, end):
            if keys[j] == "WHERE":
                self._condition(j + 1, end)
                break
        return instance

    def _map(self, begin: int, instance: int) -> None:
        """Note what a pattern's map of properties says."""
        for _, first, last in self.split(begin + 1, self.found.closing[begin], {","}):
            value = self.property(Value(whole=instance), self.found.texts[first])
            constant = self.constant(first + 2, last)
            if constant is not None:
                self.reading.choose(value, constant)
            else:
                self._equal(value, self.value(first + 2, last))

    def _condition(self, begin: int, end: int) -> None:
        """Note what a condition says: equations of keys by themselves, the rest as it is."""
        keys, closing = self.found.keys, self.found.closing
        while keys[begin] == "(" and closing[begin] == end - 1:
            begin, end = begin + 1, end - 1
        if any(word == "OR" for word, _, _ in self.split(begin, end, {"OR", "XOR"})):
            self.reading.condition(self.value(begin, end))
            return
        parts = list(self.split(begin, end, {"AND"}))
        if len(parts) > 1:
            for _, first, last in parts:
                self._condition(first, last)
            return
        sides = list(self.split(begin, end, {"=", "IN"}))
        if len(sides) != 2 or keys[begin] == "NOT":
            self.reading.condition(self.value(begin, end))
            return
        (_, first, middle), (word, start, last) = sides
        if word == "IN":
            self._membership(self.value(first, middle), start, last)
            return
        constants = self.constant(first, middle), self.constant(start, last)
        values = self.value(first, middle), self.value(start, last)
        if constants[1] is not None:
            self.reading.choose(values[0], constants[1])
        elif constants[0] is not None:
            self.reading.choose(values[1], constants[0])
        else:
            self._equal(*values)

    def _membership(self, value: Value, begin: int, end: int) -> None:
        given: list[Cell] | None = None
        if self.found.keys[begin] == "[":
            items = self.split(begin + 1, self.found.closing[begin], {","})
            found = [self.constant(first, last) for _, first, last in items]
            given = [c for one in found for c in one or ()] if None not in found else None
        if given is not None:
            self.reading.choose(value, given)
            return
        other = self.value(begin, end)
        if value.term is not None and other.term is not None:
            self.reading.equate(value.term, other.term)
        self.reading.choose(value)

    def _equal(self, one: Value, other: Value) -> None:
        """Note that two values are the same: two terms, or two elements."""
        if one.term is not None and other.term is not None:
            self.reading.equate(one.term, other.term)
        elif one.whole is not None and other.whole is not None:
            for column in self.reading.ends(one.whole):
                self.reading.equate((one.whole, column), (other.whole, column))
        for value in (one, other):
            if value.term is not None and (one.term is None or other.term is None):
                self.reading.settle(value.term)
            self.reading.choose(value)
