"""Compares a scenario's tables, nodes and edges with those of a live database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError
from dqa.core.schema import EdgeInfo, NodeInfo, Part, TableInfo, cypher_name
from dqa.core.situation import ColumnType
from dqa.core.text import visible
from dqa.loaders.inspection.findings import Findings, Level, hint
from dqa.scenarios.column_types import can_hold, column_type
from dqa.scenarios.document import EdgePart, NodePart, ScenarioDocument, TablePart
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.tables import quoted_for
from dqa.scenarios.toml_lines import Place

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
    seconds
        The time limit of a statement.
    """

    document: ScenarioDocument
    merged: MergedDocument
    database: Database
    found: Findings
    seconds: float

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
            here: Place = ("nodes", index)
            held = self._named((*here, "label"), "label", node.label, nodes)
            if held is not None and self._properties(here, node, held, types.get(node.table, {})):
                self._node_key((*here, "key"), node, held)
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

    def _table(self, here: Place, table: TablePart, known: Mapping[str, TableInfo]) -> None:
        info = self._named((*here, "name"), "table", table.name, known)
        if info is None:
            return
        has_key = True
        for index, column in enumerate(table.columns):
            is_there = self._field((*here, "columns", index), info, column.name, column.type)
            has_key &= is_there or column.name not in table.key
        declared = {name.casefold() for name in info.key}
        if has_key and not (declared and declared <= {name.casefold() for name in table.key}):
            self._key((*here, "key"), table, info)

    def _key(self, place: Place, table: TablePart, info: TableInfo) -> None:
        """Report a key with the same values in several rows."""
        columns = ", ".join(quoted_for(self.database, name) for name in table.key)
        statement = (
            f"SELECT COUNT(*) FROM (SELECT {columns} FROM {quoted_for(self.database, info.name)} "  # noqa: S608
            f"GROUP BY {columns} HAVING COUNT(*) > 1) repeated"
        )
        shown = ", ".join(table.key)
        repeated = self._count(place, statement, f"({shown}) is a key of '{table.name}'")
        if repeated is None:
            return
        if repeated:
            fix = f"the database's key is {[*info.key]}" if info.key else "name columns that do"
            problem = f"({shown}) is no key of '{table.name}': {repeated:,} of its values are in "
            # A table without a key in the database may have none at all.
            level: Level = "error" if info.key else "warning"
            self._report(level, place, f"{problem}several rows; {fix}")
        elif not info.key:
            problem = f"'{table.name}' has no primary key in the database; by its rows ({shown})"
            self._report("note", place, f"{problem} is one today: make sure that it stays one")

    def _node_key(self, place: Place, node: NodePart, info: NodeInfo) -> None:
        """Report a key with the same value in several nodes."""
        if info.key == node.key:
            return
        label, key = cypher_name(info.label), cypher_name(node.key)
        statement = (
            f"MATCH (n:{label}) WITH n.{key} AS value, count(*) AS many "
            "WHERE many > 1 RETURN count(value)"
        )
        if self._count(place, statement, f"'{node.key}' is a key of '{node.label}'"):
            problem = f"'{node.key}' is no key of '{node.label}': several nodes have the same value"
            self._report("error", place, problem)

    def _count(self, place: Place, statement: str, checked: str) -> int | None:
        """Return the only number of a statement; None for one that fails, which is reported."""
        try:
            rows = self.database.query(statement, Limits(rows=1, seconds=self.seconds)).rows
        except QueryError as error:
            problem = f"whether {checked} could not be checked: {visible(str(error))}"
            self._report("note", place, problem)
            return None
        return int(str(rows[0][0]))

    def _properties(
        self,
        here: Place,
        part: NodePart | EdgePart,
        info: NodeInfo | EdgeInfo,
        types: Mapping[str, ColumnType],
    ) -> bool:
        """Check the properties of a part; return whether the database has all of them."""
        has_all = True
        for name, column in part.properties.items():
            has_all &= self._field((*here, "properties", name), info, name, types.get(column))
        return has_all

    def _field(self, place: Place, info: Part, name: str, kind: ColumnType | None) -> bool:
        """Check the name and the type of a column or property; return whether it exists."""
        what = "column" if info.kind == "table" else "property"
        fields = {field.name: field for field in info.fields}
        field = self._named(place, f"{what} of '{info.name}'", name, fields)
        if field is not None and kind is not None and not can_hold(field.type, kind):
            held = column_type(field.type)
            problem = f"'{field.name}' of '{info.name}' is {field.type} in the database, which "
            problem += f'holds {held} values, not {kind}; write type = "{held}"'
            self._report("error", place, problem)
        return field is not None

    def _named(
        self, place: Place, what: str, name: str, known: Mapping[str, _Known]
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
        self._report("error", place, problem + hint(name, known))
        return None

    def _report(self, level: Level, place: Place, problem: str) -> None:
        self.found.add_field(level, self.merged, place, problem)
