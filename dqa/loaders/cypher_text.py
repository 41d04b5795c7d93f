"""Situations from and to Cypher scripts of the kind the DQA release holds.

A script is data: ``CREATE`` of nodes, and ``MATCH`` of two nodes with ``CREATE`` of an edge between
them, are read by the scenario's graph mapping, and nothing is executed. Scripts with one such
statement a line are read by one regular expression a label; every other spelling, and every fault,
by the tokenizer (`dqa.loaders.cypher_statements`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import eq
from pathlib import Path
from typing import Any

from dqa.core.errors import DataError, ParseError
from dqa.core.schema import quoted
from dqa.core.situation import Cell, Column, EdgeSchema, NodeSchema, Schema, Situation
from dqa.loaders.assembly import Findings, Parsed, RowSink, align, assemble
from dqa.loaders.columns import ColumnReader
from dqa.loaders.cypher_statements import read_statements
from dqa.loaders.tokens import CYPHER

_PROPERTY = re.compile(r"(\w+) *:")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def parse_cypher(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE`` and ``MATCH ... CREATE`` statements as a situation.

    Parameters
    ----------
    text
        The script.
    schema
        The graph mapping that it has to fill.
    file
        Where it came from: its stem names the situation, and messages name it.

    Raises
    ------
    ParseError
        It cannot be read; the error names the line and what was expected there.
    """
    try:
        parsed = _Fast(text, schema, file).parse()
    except ParseError:
        parsed = None  # the tolerant reader tells better what is wrong, if anything is
    return parsed or read_statements(text, schema, file)


class _Fast:
    """Reads a script that is wholly of the release's form."""

    def __init__(self, text: str, schema: Schema, file: Path) -> None:
        self.body = "\n" + text.replace("\r\n", "\n") + "\n"
        self.schema = schema
        self.findings = Findings(file)
        self.sink = RowSink({})
        self.patterns: dict[str, re.Pattern[str]] = {}
        quote = '"' if text.count('"') > text.count("'") else "'"
        self.reader = ColumnReader(CYPHER, quote, self.findings)

    def parse(self) -> Parsed | None:
        """Return the situation, or None where the script takes the tokenizer."""
        body = self.body
        read = 0
        parts: tuple[NodeSchema | EdgeSchema, ...] = (*self.schema.nodes, *self.schema.edges)
        for part in parts:
            rows = self._node(part) if isinstance(part, NodeSchema) else self._edge(part)
            if rows is None:
                return None
            read += rows
        # Every match is one whole line, so equal counts mean that nothing was passed over.
        if not read or read != sum(1 for line in body.split("\n") if line and not line.isspace()):
            return None
        if 0 <= body.find("\nMATCH ") < body.rfind("\nCREATE ") and not self._in_order():
            return None
        return assemble(self.schema, self.sink, self.findings)

    def _in_order(self) -> bool:
        """Whether every edge stands after the nodes it joins: before them it would join nothing."""
        starts = {
            table: [match.start() for match in pattern.finditer(self.body)]
            for table, pattern in self.patterns.items()
        }
        columns = self.sink.columns
        created = {
            node.label: dict(
                zip(columns[node.table][node.key_column], starts.get(node.table, ()), strict=True)
            )
            for node in self.schema.nodes
        }
        return all(
            created[label].get(key, -1) < start
            for edge in self.schema.edges
            for label, column in (edge.source, edge.target)
            for key, start in zip(
                columns[edge.table][column], starts.get(edge.table, ()), strict=True
            )
        )

    def _node(self, node: NodeSchema) -> int | None:
        label = re.escape(node.label)
        sample = re.search(rf"\nCREATE \(\w*: ?{label} ?\{{([^\n]*)\}}\);", self.body)
        if sample is None:
            self._empty(node)
            return 0
        columns = self._columns(node, sample[1], sample.start())
        if columns is None:
            return None
        pattern = re.compile(
            rf"\nCREATE \(\w*: ?{label} ?\{{{self._properties(columns)}\}}\);(?=\n)"
        )
        return self._read(node, pattern, [column for _, column in columns])

    def _edge(self, edge: EdgeSchema) -> int | None:
        label = re.escape(edge.label)
        sample = re.search(
            r"\nMATCH \((\w+): ?(\w+) ?\{(\w+): *[^\n]*?\}\)"
            r", *\((\w+): ?(\w+) ?\{(\w+): *[^\n]*?\}\)"
            rf" *CREATE \((\w+)\)(<?)-\[\w*: ?{label} ?\{{([^\n]*)\}}\]-(>?)\((\w+)\);",
            self.body,
        )
        if sample is None:
            self._empty(edge)
            return 0
        one, other = (sample[1], sample[2], sample[3]), (sample[4], sample[5], sample[6])
        backwards = bool(sample[8])
        if backwards == bool(sample[10]) or {sample[7], sample[11]} != {one[0], other[0]}:
            return None
        source_first = (sample[7] == one[0]) != backwards
        ends = (edge.source, edge.target) if source_first else (edge.target, edge.source)
        columns = self._columns(edge, sample[9], sample.start())
        if columns is None:
            return None
        keys, matched = [], []
        for (label_, column), (_, found, key), group in zip(ends, (one, other), "ab", strict=True):
            node = self.schema.node(label_)
            if found != label_ or key != node.key:
                return None
            keys.append(self.schema.table(edge.table).column(column))
            cell = self.reader.pattern(keys[-1])
            matched.append(rf"\((?P<{group}>\w+): ?{found} ?\{{{key}: *{cell}\}}\)")
        left, right = ("a", "b") if sample[7] == one[0] else ("b", "a")
        pattern = re.compile(
            rf"\nMATCH {matched[0]}, *{matched[1]} *CREATE \((?P={left})\){sample[8]}-"
            rf"\[\w*: ?{label} ?\{{{self._properties(columns)}\}}\]-{sample[10]}"
            rf"\((?P={right})\);(?=\n)"
        )
        return self._read(edge, pattern, [keys[0], keys[1], *(column for _, column in columns)])

    def _empty(self, part: NodeSchema | EdgeSchema) -> None:
        names = self.schema.table(part.table).column_names
        self.sink.columns[part.table] = dict.fromkeys(names, ())

    def _columns(
        self, part: NodeSchema | EdgeSchema, sample: str, position: int
    ) -> list[tuple[str, Column]] | None:
        """Return each property of a sample with its column; None where they are not all there."""
        names = _PROPERTY.findall(_STRING.sub("", sample))
        line = self.body.count("\n", 0, position) + 1
        wanted = dict(part.properties)
        aligned = align(names, list(wanted), f"'{part.label}'", line, self.findings)
        if None in aligned or len(aligned) != len(wanted):
            return None
        table = self.schema.table(part.table)
        return [
            (name, table.column(wanted[meant]))
            for name, meant in zip(names, aligned, strict=True)
            if meant is not None
        ]

    def _properties(self, columns: list[tuple[str, Column]]) -> str:
        return ", *".join(f"{name}: *{self.reader.pattern(column)}" for name, column in columns)

    def _read(
        self, part: NodeSchema | EdgeSchema, pattern: re.Pattern[str], columns: list[Column]
    ) -> int | None:
        rows = pattern.findall(self.body)
        if not rows or pattern.groups == 1:
            return None
        cells = list(zip(*rows, strict=True))
        if isinstance(part, EdgeSchema):
            if any(map(eq, cells[0], cells[2])):
                return None  # both ends are called alike
            del cells[2], cells[0]

        def line_of(row: int) -> int:
            match = next(islice(pattern.finditer(self.body), row, None))
            return self.body.count("\n", 0, match.start()) + 1

        converted: dict[str, Sequence[Any]] = {}
        for column, texts in zip(columns, cells, strict=True):
            values = self.reader.convert(texts, column, line_of)
            if values is None:
                return None
            converted[column.name] = values
        self.sink.columns[part.table] = converted
        self.patterns[part.table] = pattern
        return len(rows)


# --- writing --------------------------------------------------------------------------------

_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        "'": "\\'",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\b": "\\b",
        "\f": "\\f",
        "\0": "\\u0000",
    }
)


def render_cypher(situation: Situation) -> str:
    """Return the script that makes `situation` in Neo4j 5.

    Floats are written so that they are read back bit for bit; a missing one is ``null``, which
    Neo4j takes for no property.

    Raises
    ------
    DataError
        An infinity, which no Cypher literal stands for.
    """
    schema = situation.schema
    parts = []
    for node in schema.nodes:
        label = _identifier(node.label)
        maps = _maps(situation, node.table, node.properties)
        parts += [f"CREATE (:{label} {properties});" for properties in maps]
    for edge in schema.edges:
        ends = []
        for variable, (label, column) in (("a", edge.source), ("b", edge.target)):
            key = ((schema.node(label).key, column),)
            head = f"({variable}:{_identifier(label)} "
            ends.append([f"{head}{keys})" for keys in _maps(situation, edge.table, key)])
        maps = _maps(situation, edge.table, edge.properties)
        kind = _identifier(edge.label)
        parts += [
            f"MATCH {source}, {target} CREATE (a)-[:{kind} {properties}]->(b);"
            for source, target, properties in zip(*ends, maps, strict=True)
        ]
    return "\n".join(parts) + "\n"


def _maps(situation: Situation, table: str, properties: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the property map of every row of a table."""
    columns: Mapping[str, list[Cell]] = {
        _identifier(name): situation[table][column].tolist() for name, column in properties
    }
    if not columns:
        return ["{}"] * len(situation[table])
    texts = [[f"{name}: {_literal(value)}" for value in cells] for name, cells in columns.items()]
    return [f"{{{', '.join(row)}}}" for row in zip(*texts, strict=True)]


def _identifier(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    return quoted(name, "`")


def _literal(value: Cell) -> str:
    if isinstance(value, str):
        # Neo4j 5 resolves \uXXXX before it reads strings, so a backslash and a u that mean
        # themselves must not end up side by side.
        return "'" + value.translate(_ESCAPES).replace("\\\\u", "\\\\\\u0075") + "'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "null"
        raise DataError(f"A Cypher script cannot hold the number {value}.")
    return repr(value).replace("e+", "e")
