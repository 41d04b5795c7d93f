"""Compares a scenario's tables, nodes and edges with those of a live database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dqa.core.cypher import quote_name
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, StatementTimeoutError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo
from dqa.core.situation import ColumnType
from dqa.core.text import visible
from dqa.loaders.inspection.findings import Findings, Level, nearest
from dqa.scenarios.column_types import can_hold, column_type
from dqa.scenarios.document import EdgePart, NodePart, ScenarioDocument, TablePart
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.tables import quoted_for
from dqa.scenarios.toml_lines import Place

_FOLDED = frozenset({"sqlite", "duckdb", "ladybug", "ansi"})
"""Dialects that compare names without regard to case, or may."""
_FOLDED_COLUMNS = _FOLDED | {"mysql", "mariadb"}
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """Checks the data part of a scenario's document.

    Attributes
    ----------
    document, merged
        The document, and where its fields stand.
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
        schema = self.database.schema()
        if self.database.kind == "relational":
            for index, table in enumerate(self.document.tables):
                self._table(("tables", index), table, schema)
            return
        for index, node in enumerate(self.document.nodes):
            self._node(("nodes", index), node, schema)
        for index, edge in enumerate(self.document.edges):
            self._edge(("edges", index), edge, schema)

    # --- tables ---

    def _table(self, here: Place, table: TablePart, schema: DatabaseSchema) -> None:
        known = {info.name: info for info in schema.tables}
        name = self._named((*here, "name"), "table", table.name, known, _FOLDED)
        if name is None:
            return
        info = known[name]
        fields = {field.name: field for field in info.columns}
        missing: set[str] = set()
        for index, column in enumerate(table.columns):
            place = (*here, "columns", index)
            what = f"column of '{info.name}'"
            held = self._named((*place, "name"), what, column.name, fields, _FOLDED_COLUMNS)
            if held is None:
                missing.add(column.name)
            else:
                self._type((*place, "type"), info.name, fields[held], column.type)
        if missing.isdisjoint(table.key):
            self._key((*here, "key"), table, info)

    def _key(self, place: Place, table: TablePart, info: TableInfo) -> None:
        """Report a key with the same values in several rows."""
        declared = {name.casefold() for name in info.key}
        if declared and declared <= {name.casefold() for name in table.key}:
            return
        name = quoted_for(self.database, info.name)
        columns = ", ".join(quoted_for(self.database, key) for key in table.key)
        shown = ", ".join(table.key)
        try:
            repeated = self._count(
                f"SELECT COUNT(*) FROM (SELECT {columns} FROM {name} GROUP BY {columns} "  # noqa: S608
                "HAVING COUNT(*) > 1) repeated"
            )
        except QueryError as error:
            reason = f"the database says: {visible(str(error))}"
            if isinstance(error, StatementTimeoutError):
                reason = f"that takes longer than {self.seconds:g} s"
            problem = f"whether ({shown}) is a key of '{table.name}' could not be checked"
            self._report("note", place, f"{problem}: {reason}")
            return
        if repeated:
            named = ", ".join(f'"{key}"' for key in info.key)
            fix = f"the database's key is [{named}]" if info.key else "name columns that do"
            problem = f"({shown}) is no key of '{table.name}': {repeated:,} of its values are in"
            # A table without a key in the database may have none at all.
            level: Level = "error" if info.key else "warning"
            self._report(level, place, f"{problem} several rows; {fix}")
        elif not info.key:
            problem = f"'{table.name}' has no primary key in the database; by its rows ({shown})"
            self._report("note", place, f"{problem} is one today: make sure that it stays one")

    # --- graphs ---

    def _node(self, here: Place, node: NodePart, schema: DatabaseSchema) -> None:
        known = {info.label: info for info in schema.nodes}
        name = self._named((*here, "label"), "label", node.label, known, _FOLDED)
        if name is None or not self._properties(here, node.label, node, known[name]):
            return
        if known[name].key == node.key:
            return
        label, key = quote_name(node.label), quote_name(node.key)
        try:
            repeated = self._count(
                f"MATCH (n:{label}) WITH n.{key} AS k, count(*) AS c WHERE c > 1 RETURN count(k)"
            )
        except QueryError:
            return
        if repeated:
            problem = f"'{node.key}' is no key of '{node.label}': {repeated:,} of its values"
            self._report("error", (*here, "key"), f"{problem} are those of several nodes")

    def _edge(self, here: Place, edge: EdgePart, schema: DatabaseSchema) -> None:
        labels = [info.label for info in schema.edges]
        label = self._named((*here, "label"), "relationship type", edge.label, labels, _FOLDED)
        if label is None:
            return
        ends = (edge.source[0], edge.target[0])
        same = {(i.source, i.target): i for i in reversed(schema.edges) if i.label == label}
        if ends in same:
            self._properties(here, edge.label, edge, same[ends])
        elif {info.label for info in schema.nodes}.issuperset(ends):
            joins = ", ".join(f"(:{source})->(:{target})" for source, target in reversed(same))
            problem = f"'{edge.label}' joins {joins} in the database"
            self._report("error", (*here, "source"), f"{problem}, not (:{ends[0]})->(:{ends[1]})")

    def _properties(
        self, here: Place, owner: str, part: NodePart | EdgePart, info: NodeInfo | EdgeInfo
    ) -> bool:
        """Check names and types of properties; return whether the database has all of them."""
        fields = {field.name: field for field in info.properties}
        types = {t.name: {c.name: c.type for c in t.columns} for t in self.document.tables}
        is_complete = True
        for name, column in part.properties.items():
            place = (*here, "properties", name)
            held = self._named(place, f"property of '{owner}'", name, fields, _FOLDED)
            wanted = types.get(part.table, {}).get(column)
            if held is None:
                is_complete = False
            elif wanted is not None:
                self._type(place, owner, fields[held], wanted)
        return is_complete

    # --- findings ---

    def _named(
        self, place: Place, what: str, name: str, known: Iterable[str], folded: frozenset[str]
    ) -> str | None:
        """Return a name as the database has it; None for an unknown one, which is reported."""
        names = sorted(known)
        if name in names:
            return name
        dialect = self.database.dialect
        # Only MySQL ignores the case of letters beyond ASCII.
        if dialect in folded and (name.isascii() or dialect in {"mysql", "mariadb"}):
            same = [other for other in names if other.lower() == name.lower()]
            if same:
                return same[0]
        near = nearest(name, names)
        self.found.unknown.add(name)
        self.found.right |= set() if near is None else {near}
        listed = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        hint = f"; did you mean '{near}'?" if near is not None else ""
        problem = f"the database has no {what} '{name}' (it has: {listed or 'none'}){hint}"
        self._report("error", place, problem, None if near is None else (name, near))
        return None

    def _type(self, place: Place, owner: str, field: Field, wanted: ColumnType) -> None:
        if not can_hold(field.type, wanted):
            kind = column_type(field.type)
            problem = f"'{field.name}' of '{owner}' is {field.type} in the database, which holds"
            fix = f'{kind} values, not {wanted}; write type = "{kind}"'
            self._report("error", place, f"{problem} {fix}", (f'"{wanted}"', f'"{kind}"'))

    def _report(
        self, level: Level, place: Place, problem: str, swap: tuple[str, str] | None = None
    ) -> None:
        self.found.add_field(level, self.merged, place, problem, swap)

    def _count(self, statement: str) -> int:
        rows = self.database.query(statement, Limits(rows=1, seconds=self.seconds)).rows
        return int(str(rows[0][0]))
