"""Compares a scenario's tables, nodes and edges with those of a live database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from dqa.core.database import Database
from dqa.core.schema import EdgeInfo, NodeInfo, Part, TableInfo
from dqa.core.situation import ColumnType
from dqa.loaders.inspection.findings import Findings, Level, hint
from dqa.scenarios.column_types import can_hold, column_type
from dqa.scenarios.document import EdgePart, NodePart, ScenarioDocument, TablePart
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.toml_lines import FieldPath

_FOLDED = frozenset({"sqlite", "duckdb", "ladybug", "ansi"})
"""Dialects that compare names without regard to case, or may."""
_MOST_NAMED = 10

_Known = TypeVar("_Known")


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """Checks the data part of a scenario's document.

    Attributes
    ----------
    document, merged
        The document, and the lines of its fields.
    database, found
        The database, and the collector of findings.
    """

    document: ScenarioDocument
    merged: MergedDocument
    database: Database
    found: Findings

    def run(self) -> None:
        """Check everything that the kind of database needs."""
        schema, document = self.database.schema(), self.document
        if self.database.kind == "relational":
            tables = {info.name: info for info in schema.tables}
            for index, table in enumerate(document.tables):
                self._table(("tables", index), table, tables)
            return
        types = {t.name: {c.name: c.type for c in t.columns} for t in document.tables}
        nodes = {info.label: info for info in schema.nodes}
        edges = {info.label: info for info in schema.edges}
        for index, node in enumerate(document.nodes):
            here: FieldPath = ("nodes", index)
            held = self._named((*here, "label"), "label", node.label, nodes)
            if held is not None:
                self._properties(here, node, held, types.get(node.table, {}))
        for index, edge in enumerate(document.edges):
            here = ("edges", index)
            label = self._named((*here, "label"), "relationship type", edge.label, edges)
            ends = (edge.source[0], edge.target[0])
            same = {(i.source, i.target): i for i in schema.edges if label and i.name == label.name}
            if ends in same:
                self._properties(here, edge, same[ends], types.get(edge.table, {}))
            elif label is not None and {*nodes}.issuperset(ends):
                joins = ", ".join(f"(:{source})->(:{target})" for source, target in same)
                problem = f"'{edge.label}' joins {joins} in the database, not (:{ends[0]})->"
                self._report("error", (*here, "source"), f"{problem}(:{ends[1]})")

    def _table(self, here: FieldPath, table: TablePart, known: Mapping[str, TableInfo]) -> None:
        info = self._named((*here, "name"), "table", table.name, known)
        if info is None:
            return
        for index, column in enumerate(table.columns):
            self._field((*here, "columns", index), info, column.name, column.type)

    def _properties(
        self,
        here: FieldPath,
        part: NodePart | EdgePart,
        info: NodeInfo | EdgeInfo,
        types: Mapping[str, ColumnType],
    ) -> None:
        """Check the properties of a part."""
        for name, column in part.properties.items():
            self._field((*here, "properties", name), info, name, types.get(column))

    def _field(self, path: FieldPath, info: Part, name: str, kind: ColumnType | None) -> None:
        """Check the name and the type of a column or property."""
        what = "column" if info.kind == "table" else "property"
        fields = {field.name: field for field in info.fields}
        field = self._named(path, f"{what} of '{info.name}'", name, fields)
        if field is not None and kind is not None and not can_hold(field.type, kind):
            held = column_type(field.type)
            problem = f"'{field.name}' of '{info.name}' is {field.type} in the database, which "
            problem += f'holds {held} values, not {kind}; write type = "{held}"'
            self._report("error", path, problem)

    def _named(
        self, path: FieldPath, what: str, name: str, known: Mapping[str, _Known]
    ) -> _Known | None:
        """Return the part that a name means in the database; None is reported."""
        if name in known:
            return known[name]
        dialect = self.database.dialect
        # MySQL ignores the case of columns only, but of all letters; others that of ASCII.
        is_mysql = dialect in {"mysql", "mariadb"} and what.startswith("column")
        if is_mysql or (dialect in _FOLDED and name.isascii()):
            same = [other for other in known if other.lower() == name.lower()]
            if same:
                return known[same[0]]
        listed = ", ".join([*sorted(known)[:_MOST_NAMED], *(["..."] * (len(known) > _MOST_NAMED))])
        problem = f"the database has no {what} '{name}' (it has: {listed or 'none'})"
        self._report("error", path, problem + hint(name, known))
        return None

    def _report(self, level: Level, path: FieldPath, problem: str) -> None:
        self.found.add_field(level, self.merged, path, problem)
