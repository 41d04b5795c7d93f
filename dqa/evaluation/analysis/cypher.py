"""What a statement in Cypher read, by the guard's own lexer and parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dqa.core.situation import EdgeSchema, NodeSchema, Schema
from dqa.evaluation.analysis.statements import Aggregate, Column, Reading
from dqa.guard import cypher as guard
from dqa.guard.cypher.facts import Facts
from dqa.guard.cypher.failure import NotAllowedError
from dqa.guard.cypher.lexer import Tokens, tokens
from dqa.guard.cypher.words import NAMES

_FUNCTIONS = frozenset({"sum", "avg"})
_AGGREGATING = frozenset({"sum", "avg", "count", "collect", "min", "max", "stdev", "stdevp"})


def read_cypher(
    statement: str, dialect: str, schema: Schema, shown: frozenset[str]
) -> Reading | None:
    """Return what a query read; None where the dialect cannot read it.

    Parameters
    ----------
    statement
        As it ran.
    dialect
        One of the guard's for Cypher.
    schema
        The scenario's. An element without a label may be any of it: a property of such a one is
        that of every label that has it.
    shown
        The properties in the result's nodes and relationships: of one that is returned as a whole,
        what stands among them was read.
    """
    fold: Callable[[str], str] = str.lower if dialect == "ladybug" else str
    try:
        facts = guard.parsed(statement, dialect)
        found = tokens(statement, dialect)
    except NotAllowedError:
        return None
    owners = _columns(schema, fold)
    columns = {
        held[name]
        for trace, read in facts.reads
        for held in _owned(facts, trace, owners)
        if (name := fold(read)) in held
    }
    shown = frozenset(map(fold, shown))
    columns |= {
        column
        for trace, _ in facts.wholes
        for held in _owned(facts, trace, owners)
        for name, column in held.items()
        if name in shown
    }
    edges = {fold(edge.label): edge for edge in schema.edges}
    return Reading(frozenset(columns), frozenset(_Sums(found, edges, fold).aggregates()))


def _columns(schema: Schema, fold: Callable[[str], str]) -> dict[str, dict[str, Column]]:
    """Return the column behind every property, by label or type."""
    owners: tuple[NodeSchema | EdgeSchema, ...] = (*schema.nodes, *schema.edges)
    return {
        fold(owner.label): {fold(name): (owner.table, column) for name, column in owner.properties}
        for owner in owners
    }


def _owned(
    facts: Facts, trace: int, owners: dict[str, dict[str, Column]]
) -> Iterator[dict[str, Column]]:
    """Yield the properties of every label that a value may have; a plain value has none."""
    for index in facts.patterns(trace):
        labels = facts.owners[index]
        yield from (held for label, held in owners.items() if labels is None or label in labels)


@dataclass(slots=True)
class _Node:
    """A node of a pattern: its variable, and whether a map of properties chooses it."""

    name: str
    chosen: bool


@dataclass(slots=True)
class _Edge:
    """A relationship of a pattern that has a variable, from its source to its target."""

    schema: EdgeSchema
    source: _Node
    target: _Node
    chosen: bool


@dataclass(slots=True)
class _Sums:
    """Finds sums and means over relationships, grouped by the node at one of their ends.

    The rows of such a sum are whole where only one end is chosen or grouped by: by a map in its
    pattern, or by any mention outside patterns and aggregating functions.
    """

    found: Tokens
    edges: dict[str, EdgeSchema]
    fold: Callable[[str], str]
    _inside: set[int] = field(default_factory=set)
    _opening: dict[int, int] = field(default_factory=dict)

    def aggregates(self) -> Iterator[Aggregate]:
        self._opening = {end: begin for begin, end in self.found.closing.items()}
        edges = dict(self._relationships())
        alone = list(self._nodes_alone())
        calls = [i for i in range(len(self.found.keys) - 1) if self._is_call(i, _AGGREGATING)]
        for i in calls:
            self._inside.update(range(i, self.found.closing[i + 1] + 1))
        mentioned = {self.fold(name) for name in self._mentioned()}
        nodes = [node for edge in edges.values() for node in (edge.source, edge.target)]
        chosen = mentioned | {node.name for node in (*nodes, *alone) if node.chosen}
        for i in calls:
            # Of distinct amounts, equal ones would count once.
            if self._is_call(i, _FUNCTIONS) and self.found.keys[i + 2] != "DISTINCT":
                yield from self._aggregate(i, edges, mentioned, chosen)

    def _is_call(self, i: int, names: frozenset[str]) -> bool:
        keys, texts = self.found.keys, self.found.texts
        return keys[i] in NAMES and texts[i].lower() in names and keys[i + 1] == "("

    def _aggregate(
        self, i: int, edges: dict[str, _Edge], mentioned: set[str], chosen: set[str]
    ) -> Iterator[Aggregate]:
        reads = list(self._reads(i + 2, self.found.closing[i + 1]))
        names = {name for name, _ in reads}
        edge = edges.get(names.pop()) if len(names) == 1 else None
        if edge is None or edge.chosen or reads[0][0] in mentioned:
            return
        properties = {self.fold(name): column for name, column in edge.schema.properties}
        if not all(name in properties for _, name in reads):
            return
        ends = ((edge.source, edge.schema.source[1]), (edge.target, edge.schema.target[1]))
        by = {column for node, column in ends if node.chosen or (node.name and node.name in chosen)}
        columns = frozenset(properties[name] for _, name in reads)
        function = self.found.texts[i].lower()
        yield Aggregate(function, edge.schema.table, columns, frozenset(by))

    def _reads(self, begin: int, end: int) -> Iterator[tuple[str, str]]:
        """Yield variable and property of every ``a.b`` between two tokens."""
        keys, texts = self.found.keys, self.found.texts
        for i in range(begin, end - 2):
            if keys[i] in NAMES and keys[i + 1] == "." and keys[i - 1] != ".":
                yield self.fold(texts[i]), self.fold(texts[i + 2])

    def _mentioned(self) -> Iterator[str]:
        """Yield the names that stand outside patterns and aggregating functions."""
        keys, texts = self.found.keys, self.found.texts
        for i, key in enumerate(keys):
            if key in NAMES and i not in self._inside and keys[i - 1] not in {".", ":", "AS"}:
                yield texts[i]

    def _relationships(self) -> Iterator[tuple[str, _Edge]]:
        """Yield the relationships of all patterns that have a variable and one known type."""
        keys, closing = self.found.keys, self.found.closing
        for begin, end in closing.items():
            if keys[begin] != "[" or keys[begin - 1] != "-" or keys[end + 1] != "-":
                continue
            from_right = keys[begin - 2] == "<"
            left = begin - 3 if from_right else begin - 2
            to_right = keys[end + 2] == ">"
            right = end + 3 if to_right else end + 2
            if keys[left] != ")" or keys[right : right + 1] != ["("]:
                continue
            spans = ((self._opening[left], left), (begin, end), (right, closing[right]))
            for first, last in spans:
                self._inside.update(range(first, last + 1))
            schema = self._type(begin, end)
            name = self._variable(begin)
            if not name or schema is None or from_right == to_right:
                continue
            ends = self._node(spans[0][0], left), self._node(right, closing[right])
            source, target = reversed(ends) if from_right else ends
            yield name, _Edge(schema, source, target, "{" in keys[begin:end])

    def _nodes_alone(self) -> Iterator[_Node]:
        """Yield the nodes that begin a MATCH and that no relationship was found at."""
        keys, closing = self.found.keys, self.found.closing
        for begin, end in closing.items():
            if keys[begin] == "(" and keys[begin - 1] == "MATCH" and begin not in self._inside:
                self._inside.update(range(begin, end + 1))
                yield self._node(begin, end)

    def _variable(self, begin: int) -> str:
        keys = self.found.keys
        named = keys[begin + 1] in NAMES and keys[begin + 2] != "."
        return self.fold(self.found.texts[begin + 1]) if named else ""

    def _type(self, begin: int, end: int) -> EdgeSchema | None:
        keys, texts = self.found.keys, self.found.texts
        for i in range(begin + 1, min(begin + 3, end)):
            if keys[i] == ":" and keys[i + 2] in {"]", "{"}:
                return self.edges.get(self.fold(texts[i + 1]))
        return None

    def _node(self, begin: int, end: int) -> _Node:
        return _Node(self._variable(begin), "{" in self.found.keys[begin:end])
