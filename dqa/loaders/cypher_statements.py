"""The tolerant reader of Cypher scripts: statement by statement, with the line of every fault."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dqa.core.errors import ParseError
from dqa.core.situation import Cell, EdgeSchema, NodeSchema, Schema
from dqa.loaders.assembly import (
    Findings,
    Parsed,
    RowSink,
    align,
    assemble,
    note_dangling,
    to_cell,
)
from dqa.loaders.tokens import CYPHER, Cursor


def read_statements(text: str, schema: Schema, file: Path) -> Parsed:
    """Read a script of ``CREATE`` and ``MATCH ... CREATE`` statements as a situation.

    Raises
    ------
    ParseError
        It cannot be read; the error names the line and what was expected there.
    """
    findings = Findings(file)
    reader = _CypherReader(Cursor(text, CYPHER, file), schema, findings)
    reader.read()
    if not any(reader.rows.values()):
        raise ParseError(file, None, f"no CREATE of a {schema.nodes[0].label} or another node")
    parsed = assemble(schema, RowSink.from_rows(schema, reader.rows, reader.lines), findings)
    if parsed is None:
        raise AssertionError("rows with known lines always assemble")
    return parsed


@dataclass(frozen=True, slots=True)
class _Node:
    """A node that a pattern names; `there` where a node with that key has been created."""

    label: str
    key: Cell
    there: bool


class _CypherReader:
    """Reads statements into rows whose values stand in the order of the schema's columns."""

    def __init__(self, cursor: Cursor, schema: Schema, findings: Findings) -> None:
        self.cursor = cursor
        self.schema = schema
        self.findings = findings
        self.rows: dict[str, list[tuple[Cell, ...]]] = {t.name: [] for t in schema.tables}
        self.lines: dict[str, list[int]] = {t.name: [] for t in schema.tables}
        self._created: set[tuple[str, Cell]] = set()
        self._variables: dict[str, _Node] = {}
        self._aligned: dict[tuple[str, ...], list[str | None]] = {}

    def read(self) -> None:
        cursor = self.cursor
        while cursor.token.kind != "end":
            if cursor.take(";"):
                self._variables.clear()
            elif cursor.at("CREATE", "CONSTRAINT") or cursor.at("CREATE", "INDEX"):
                cursor.skip_statement()
            elif cursor.take("CREATE"):
                self._patterns(matching=False)
            elif cursor.take("MATCH"):
                self._patterns(matching=True)
            else:
                cursor.fail("MATCH, CREATE or ';'")

    def _patterns(self, *, matching: bool) -> None:
        while True:
            left = self._node(matching)
            if not matching and (self.cursor.at("-") or self.cursor.at("<")):
                self._edge(left)
            if not self.cursor.take(","):
                break

    def _node(self, matching: bool) -> _Node:
        cursor = self.cursor
        cursor.expect("(")
        line = cursor.line
        variable = "" if cursor.at(":") else cursor.name("a variable or ':'")
        if cursor.take(")"):
            if variable not in self._variables:
                raise ParseError(
                    cursor.file, line, f"'{variable}' is not bound by a MATCH or CREATE before it"
                )
            return self._variables[variable]
        cursor.expect(":")
        label = cursor.name("a node's label")
        schema = next((node for node in self.schema.nodes if node.label == label), None)
        if schema is None:
            labels = ", ".join(node.label for node in self.schema.nodes)
            raise ParseError(cursor.file, line, f"found label '{label}'; expected one of {labels}")
        properties = self._properties()
        cursor.expect(")")
        key = self._matched(schema, properties, line) if matching else None
        if key is None:
            key = self._create_node(schema, properties, line)
        node = _Node(label, key, (label, key) in self._created)
        if variable:
            self._variables[variable] = node
        return node

    def _properties(self) -> dict[str, Cell]:
        cursor = self.cursor
        properties: dict[str, Cell] = {}
        if not cursor.take("{"):
            return properties
        while not cursor.at("}"):
            name = cursor.name("a property's name")
            cursor.expect(":")
            properties[name] = cursor.value()
            if not cursor.take(","):
                break
        cursor.expect("}")
        return properties

    def _matched(self, node: NodeSchema, properties: dict[str, Cell], line: int) -> Cell:
        if list(properties) != [node.key]:
            raise ParseError(
                self.cursor.file,
                line,
                f"MATCH of a {node.label} by {list(properties)}; expected its key '{node.key}'",
            )
        column = self.schema.table(node.table).column(node.key_column)
        return to_cell(properties[node.key], column, line, self.findings)

    def _create_node(self, node: NodeSchema, properties: dict[str, Cell], line: int) -> Cell:
        row = self._row(node, properties, {}, line)
        names = self.schema.table(node.table).column_names
        key = row[names.index(node.key_column)]
        self._created.add((node.label, key))
        return key

    def _edge(self, left: _Node) -> None:
        cursor = self.cursor
        line = cursor.line
        backwards = cursor.take("<")
        cursor.expect("-", "[")
        if not cursor.at(":"):
            cursor.name("a variable or ':'")
        cursor.expect(":")
        label = cursor.name("a relationship's type")
        properties = self._properties()
        cursor.expect("]", "-")
        if not backwards:
            cursor.expect(">")
        right = self._node(matching=False)
        source, target = (right, left) if backwards else (left, right)
        edge = self._edge_schema(label, source, target, line)
        if not (source.there and target.there):
            missing = source if not source.there else target
            note_dangling(edge.table, self.schema.node(missing.label).table, line, self.findings)
            return
        ends = {edge.source[1]: source.key, edge.target[1]: target.key}
        self._row(edge, properties, ends, line)

    def _edge_schema(self, label: str, source: _Node, target: _Node, line: int) -> EdgeSchema:
        for edge in self.schema.edges:
            if (edge.label, edge.source[0], edge.target[0]) == (label, source.label, target.label):
                return edge
        expected = ", ".join(
            f"(:{e.source[0]})-[:{e.label}]->(:{e.target[0]})" for e in self.schema.edges
        )
        found = f"(:{source.label})-[:{label}]->(:{target.label})"
        raise ParseError(self.cursor.file, line, f"found {found}; expected one of {expected}")

    def _row(
        self,
        part: NodeSchema | EdgeSchema,
        properties: dict[str, Cell],
        ends: dict[str, Cell],
        line: int,
    ) -> tuple[Cell, ...]:
        """Append the row that a node's or edge's properties make, and return it."""
        wanted = dict(part.properties)
        known = (part.label, *properties)
        if known not in self._aligned:
            self._aligned[known] = align(
                list(properties), list(wanted), f"'{part.label}'", line, self.findings
            )
        by_column = dict(ends)
        for meant, value in zip(self._aligned[known], properties.values(), strict=True):
            if meant is not None:
                by_column[wanted[meant]] = value
        table = self.schema.table(part.table)
        row = tuple(
            to_cell(by_column.get(column.name), column, line, self.findings)
            for column in table.columns
        )
        self.rows[part.table].append(row)
        self.lines[part.table].append(line)
        return row
