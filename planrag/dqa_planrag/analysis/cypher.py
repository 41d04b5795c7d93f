"""Read a Cypher statement: patterns with the guard's parser, expressions with sqlglot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dqa.core.situation import EdgeSchema, NodeSchema, Schema
from dqa.guard.check import Refusal
from dqa.guard.cypher_reading import CypherReader
from dqa.guard.cypher_values import Element
from dqa_planrag.analysis.reading import NOTHING, Reading, Value

_CLAUSES = frozenset(
    ["MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "ORDER", "SKIP", "LIMIT", "WHERE", "UNION"]
)
_SPELLINGS = (
    (re.compile(r"=~|\b(?:STARTS|ENDS) WITH\b|\bCONTAINS\b", re.IGNORECASE), "LIKE"),
    (re.compile(r"\bCOLLECT(?= \()", re.IGNORECASE), "ARRAY_AGG"),
    (re.compile(r"\b(?:EXISTS|COUNT|COLLECT) \{.*?\}", re.IGNORECASE | re.DOTALL), "NULL"),
)
"""Spellings of Cypher that sqlglot reads differently, and their replacements."""


def read_cypher(statement: str, dialect: str, schema: Schema) -> Reading | None:
    """Analyse a statement; see `Reading`. Return None if it cannot be analysed."""
    try:
        return _CypherReading(schema, CypherReader(statement, dialect))
    except (Refusal, SqlglotError, RecursionError, ValueError):
        return None


def _clauses(tokens: CypherReader) -> Iterator[int]:
    """Yield the positions of the keywords that begin a clause. Ignore keywords in brackets."""
    i = 0
    while i < len(tokens.keys) - 1:
        if tokens.keys[i] in _CLAUSES and tokens.keys[i - 1] not in {".", "AS", "STARTS", "ENDS"}:
            yield i
        i = tokens.closing.get(i, i) + 1


class _CypherReading(Reading):
    """The origins of the numbers in a Cypher query. Variables are traced clause by clause."""

    def __init__(self, schema: Schema, tokens: CypherReader) -> None:
        super().__init__(schema)
        self._tokens, self._known = tokens, dict[str, Value]()
        clauses = [*_clauses(tokens), len(tokens.keys) - 1]
        for first, last in pairwise(clauses):
            word, text = tokens.keys[first], self._text(first + 1, last)
            if word == "MATCH":
                self._match(first + 1, last)
            elif word == "WHERE":
                for node in _parsed(text).selects:
                    self.condition(node)
            elif word in {"WITH", "RETURN"}:
                self._project(_parsed(text), final=word == "RETURN")
            elif word == "UNION":
                self._known = {}
            elif word == "ORDER":
                self.sort(_parsed(f"1 ORDER {text}"))

    def _text(self, begin: int, end: int) -> str:
        return " ".join(self._tokens.spelled[begin:end])

    def _project(self, select: exp.Select, *, final: bool) -> None:
        """Read the items of WITH or RETURN. Items without an aggregate define the groups."""
        items = {(item.alias or item.sql()).lower(): item.unalias() for item in select.selects}
        known = self._known if items.pop("*", None) else {}
        keys = [self.value(node) for node in items.values() if not node.find(exp.AggFunc)]
        self.groups = [*known.values(), *keys]
        found = known | {name: self.value(node) for name, node in items.items()}
        self.groups = []
        for name, value in found.items() if final else ():
            others = [self.outputs[name]] if name in self.outputs else []  # in a union
            self.outputs[name] = Value.combined([value, *others]) if others else value
        self._known = self._known | found if final else found

    def column(self, node: exp.Column) -> Value:
        first, *names = (part.name.lower() for part in node.parts)
        value = self._known.get(first, NOTHING)
        for name in names:
            if value.whole is None:
                return Value(value.leaves)
            value = self.properties(value.whole).get(name, NOTHING)
        return value

    def _match(self, begin: int, end: int) -> None:
        """Read the nodes and relationships of a MATCH, then their properties and conditions."""
        elements = {element.opening: element for element in self._tokens.elements}
        bound: list[tuple[int, Element]] = []
        edge, left, i = None, 0, begin
        while i < end:
            element = elements.get(i)
            if element is not None and not element.is_node:
                edge = element
            elif element is not None:
                right = self._element(element, self.schema.nodes)
                bound.append((right, element))
                if edge is not None and not edge.is_many:
                    bound.append((self._relate(edge, left, right), edge))
                left, edge = right, None
            i = self._tokens.closing.get(i, i) + 1
        for instance, element in bound:
            self._restrict(instance, element)

    def _element(self, element: Element, kinds: Sequence[NodeSchema | EdgeSchema]) -> int:
        """Return the instance of a node or relationship.

        If the variable of the node or relationship occurred before, return the earlier instance.
        """
        texts = self._tokens.texts
        labels = [texts[i].lower() for i in element.names if element.is_plain]
        table = next((kind.table for kind in kinds if [kind.label.lower()] == labels), None)
        name = "" if element.variable is None else texts[element.variable].lower()
        instance = self._known.get(name, NOTHING).whole
        if instance is None:
            instance = self.instance(None)
        self.tables[instance] = self.tables[instance] or table
        if name:
            self._known[name] = Value(whole=instance)
        return instance

    def _relate(self, element: Element, left: int, right: int) -> int:
        """Return the instance of a relationship, and record which two nodes it connects."""
        edge, keys = self._element(element, self.schema.edges), self._tokens.keys
        dash = element.opening - (keys[element.opening] == "[")
        end = self._tokens.closing.get(element.opening, element.opening) + 2
        is_turned, has_arrow = keys[dash - 1] == "<", keys[dash - 1] == "<" or keys[end] == ">"
        for kind in self.schema.edges:
            source, target = (self.schema.node(label) for label, _ in (kind.source, kind.target))
            if kind.table != self.tables[edge] or (source == target and not has_arrow):
                continue
            if not has_arrow:
                is_turned = self.tables[left] == target.table or self.tables[right] == source.table
            nodes = (right, left) if is_turned else (left, right)
            columns = kind.source[1], kind.target[1]
            for node, end_of, column in zip(nodes, (source, target), columns, strict=True):
                self.tables[node] = end_of.table
                self.equate((node, end_of.key_column), (edge, column))
        return edge

    def _restrict(self, instance: int, element: Element) -> None:
        closing = self._tokens.closing
        if element.keys:
            begin = element.keys[0] - 1
            fields = self.properties(instance)
            for part in _parsed(self._text(begin, closing[begin] + 1)).selects[0].expressions:
                self.equal(fields.get(part.name.lower(), NOTHING), [part.expression])


def _parsed(text: str) -> exp.Select:
    """Parse expressions as MySQL, which has the same strings, names and maps as Cypher."""
    for pattern, spelled in _SPELLINGS:
        text = pattern.sub(spelled, text)
    try:
        return sqlglot.parse_one(f"SELECT {text}", read="mysql", into=exp.Select)
    except SqlglotError:
        return exp.select("NULL")
