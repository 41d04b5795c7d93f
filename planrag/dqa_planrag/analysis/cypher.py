"""Read a Cypher statement: clauses and patterns directly, expressions with sqlglot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dqa.core.situation import EdgeSchema, NodeSchema, Schema
from dqa_planrag.analysis.reading import NOTHING, Expressions, Reading, Value

_TEXT = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`"""
_COMMENT = re.compile(rf"({_TEXT})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_SCAN = re.compile(
    rf"{_TEXT}|(?P<open>[(\[{{]|\bCASE\b)|(?P<close>[)\]}}]|(?<!\.)\bEND\b)"
    r"|(?<!\.)(?<!\bAS )(?:\b(?<!STARTS )(?<!ENDS )WITH\b|\b(?!WITH)[A-Z]+\b)|,",
    re.IGNORECASE,
)
_CLAUSES = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "ORDER", "SKIP", "LIMIT", "WHERE"}
_INSIDE = r"\s*(?P<name>`[^`]*`|\w*)\s*(?::\s*(?P<label>`[^`]*`|\w+))?(?P<more>[^{}]*?)"
_MAP = rf"(?P<map>\{{(?:{_TEXT}|[^{{}}])*\}})?\s*(?P<where>WHERE\b.*?)?"
_NODE = re.compile(rf"(?<!\w)\({_INSIDE}{_MAP}\)", re.IGNORECASE | re.DOTALL)
_EDGE = re.compile(
    rf"\s*(?P<left><)?-(?:\[{_INSIDE}{_MAP}\]-)?(?P<right>-?>)?-?\s*", re.IGNORECASE | re.DOTALL
)
_SPELLINGS = (
    (re.compile(r"=~|\b(?:STARTS|ENDS)\s+WITH\b|\bCONTAINS\b", re.IGNORECASE), "LIKE"),
    (re.compile(r"\b(?:EXISTS|COUNT|COLLECT)\s*\{.*?\}", re.IGNORECASE | re.DOTALL), "NULL"),
)
"""Spellings of Cypher that sqlglot reads differently, and their replacements."""
_FUNCTIONS: Mapping[str, type[exp.Expr]] = {
    **dict.fromkeys(("tofloat", "tointeger", "tostring", "nodes", "head", "last"), exp.Paren),
    **dict.fromkeys(("size", "length"), exp.Count),
    **dict.fromkeys(("percentilecont", "percentiledisc"), exp.Median),
    "collect": exp.ArrayAgg,
}
"""Functions of Cypher and the corresponding expressions of sqlglot."""


def read_cypher(statement: str, schema: Schema) -> list[Reading]:
    """Return the reading of each part of a union; an empty list if the query is unreadable."""
    text = _COMMENT.sub(lambda found: found[1] or " ", statement)
    try:
        return [_CypherReader(schema).read(part) for _, part in _split(text, {"UNION"})]
    except (SqlglotError, RecursionError, ValueError):
        return []


def _split(text: str, words: set[str]) -> Iterator[tuple[str, str]]:
    """Split a text at `words` outside brackets. Yield each part with the word before it."""
    word, start, depth = "", 0, 0
    for found in _SCAN.finditer(text):
        depth += bool(found["open"]) - bool(found["close"])
        if depth == 0 and found[0].upper() in words:
            if word or text[start : found.start()].strip():
                yield word, text[start : found.start()].strip()
            word, start = found[0].upper(), found.end()
    yield word, text[start:].strip()


class _CypherReader(Expressions):
    """Trace the values of variables, clause by clause."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._known: dict[str, Value] = {}

    def read(self, text: str) -> Reading:
        """Read the clauses of a query without UNION."""
        for word, part in _split(text, _CLAUSES):
            if word == "MATCH":
                self._patterns(part)
            elif word == "WHERE":
                self._where(part)
            elif word in {"WITH", "RETURN"}:
                self._projection(_parsed(part), final=word == "RETURN")
            elif word == "UNWIND":
                for item in _parsed(part).selects:
                    self._known[item.alias.lower()] = self.value(item.unalias())
            elif word == "ORDER":
                self.note_order(_parsed(f"1 ORDER {part}"))
        return self.reading

    def _projection(self, select: exp.Select, *, final: bool) -> None:
        """Read the items of WITH or RETURN. Items without an aggregate define the groups."""
        items = {(item.alias or item.sql()).lower(): item.unalias() for item in select.selects}
        known = self._known if items.pop("*", None) else {}
        keys = [self.value(node) for node in items.values() if not node.find(exp.AggFunc)]
        self.groups = [*known.values(), *keys]
        found = known | {name: self.value(node) for name, node in items.items()}
        self.groups = []
        if final:
            self.reading.outputs = found
        self._known = self._known | found if final else found

    def _where(self, text: str) -> None:
        for _, part in _split(text, {"AND"}):
            for node in _parsed(part).selects:
                self.condition(node)

    def column(self, node: exp.Column) -> Value:
        names = [part.name.lower() for part in node.parts]
        value = self._known.get(names[0], NOTHING)
        for name in names[1:]:
            value = self._property(value, name)
        return value

    def _property(self, value: Value, name: str) -> Value:
        tables, owners = self.reading.tables, self.reading.properties().items()
        if value.whole is not None and tables[value.whole] is None:
            having = [table for table, columns in owners if name in columns]
            tables[value.whole] = having[0] if len(having) == 1 else None
        fields = self.reading.fields(value)
        return Value(value.leaves) if fields is None else fields.get(name, NOTHING)

    def _patterns(self, text: str) -> None:
        """Read the nodes and relationships of a MATCH, then their conditions."""
        said: list[tuple[int, re.Match[str]]] = []
        for _, pattern in _split(text, {","}):
            left, edge, node = 0, None, _NODE.search(pattern)
            while node is not None:
                right = self._element(node, self.reading.schema.nodes)
                said.append((right, node))
                if edge is not None and edge["name"] is not None and "*" not in edge["more"]:
                    said.append((self._relationship(edge, left, right), edge))
                left, edge = right, _EDGE.match(pattern, node.end())
                node = None if edge is None else _NODE.match(pattern, edge.end())
        for instance, found in said:
            self._map(instance, found["map"] or "{}")
            if found["where"]:
                self._where(found["where"][5:])

    def _element(
        self, found: re.Match[str], kinds: tuple[NodeSchema, ...] | tuple[EdgeSchema, ...]
    ) -> int:
        """Return the instance of a node or relationship pattern; a known variable is reused."""
        name, label = ((found[part] or "").strip("`").lower() for part in ("name", "label"))
        tables = (k.table for k in kinds if k.label.lower() == label and "|" not in found["more"])
        table = next(tables, None)
        instance = self._known.get(name, NOTHING).whole
        if instance is None:
            instance = self.reading.instance(table)
        elif self.reading.tables[instance] is None:
            self.reading.tables[instance] = table
        if name:
            self._known[name] = Value(whole=instance)
        return instance

    def _relationship(self, found: re.Match[str], left: int, right: int) -> int:
        """Return the instance of the relationship between two nodes."""
        reading, schema = self.reading, self.reading.schema
        edge = self._element(found, schema.edges)
        tables = {node.label: node.table for node in schema.nodes}
        wanted = {reading.tables[left], reading.tables[right]} - {None}
        possible = [
            e
            for e in schema.edges
            if reading.tables[edge] in {e.table, None}
            and wanted <= {tables[e.source[0]], tables[e.target[0]]}
        ]
        if len(possible) != 1:
            return edge
        kind = possible[0]
        reading.tables[edge] = kind.table
        source, target = tables[kind.source[0]], tables[kind.target[0]]
        has_arrow = bool(found["left"]) != bool(found["right"])
        if not has_arrow and source == target:
            return edge
        turned = reading.tables[left] == target or reading.tables[right] == source
        ends = (right, left) if (found["left"] if has_arrow else turned) else (left, right)
        for node, (label, column) in zip(ends, (kind.source, kind.target), strict=True):
            reading.tables[node] = tables[label]
            reading.equate((node, schema.node(label).key_column), (edge, column))
        return edge

    def _map(self, instance: int, text: str) -> None:
        """Record the properties in the map of a pattern."""
        for part in _parsed(text).selects[0].expressions:
            value = self._property(Value(whole=instance), part.name.lower())
            self.equal(value, [part.expression])


def _parsed(text: str) -> exp.Select:
    """Parse expressions as MySQL, which has the same strings, names and maps as Cypher."""
    for pattern, spelled in _SPELLINGS:
        text = pattern.sub(spelled, text)
    try:
        found = sqlglot.parse_one(f"SELECT {text}", read="mysql").transform(_translated, copy=False)
    except SqlglotError:
        return exp.select("NULL")
    return found if isinstance(found, exp.Select) else exp.select("NULL")


def _translated(node: exp.Expr) -> exp.Expr:
    """Return a Cypher function as an expression of sqlglot."""
    name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
    kind = _FUNCTIONS.get(name.lower())
    arguments = node.expressions or [node.this]
    return node if kind is None else kind(this=arguments[0])
