"""A scenario's tables, nodes and edges held against what a live database has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dqa.core.cypher import quote_name
from dqa.core.database import Database, Limits
from dqa.core.errors import QueryError, StatementTimeoutError
from dqa.core.schema import DatabaseSchema, EdgeInfo, Field, NodeInfo, TableInfo
from dqa.core.text import visible
from dqa.loaders.inspection.findings import Findings, Level, nearest
from dqa.loaders.inspection.quoting import ascii_lower
from dqa.scenarios.column_types import can_hold, column_type
from dqa.scenarios.document import EdgePart, NodePart, ScenarioDocument, TablePart
from dqa.scenarios.including import MergedDocument
from dqa.scenarios.tables import quoted_for
from dqa.scenarios.toml_lines import Place

_FOLDED = frozenset({"sqlite", "duckdb", "ladybug", "ansi"})
"""Dialects that compare names without regard to case, or whose names nobody can be sure of."""
_FOLDED_COLUMNS = _FOLDED | {"mysql", "mariadb"}
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """Checks the data of one scenario's document.

    Attributes
    ----------
    document, merged
        What is described, and where it is written.
    database
        What has to have it.
    found
        Where findings go.
    seconds
        What one statement may take.
    """

    document: ScenarioDocument
    merged: MergedDocument
    database: Database
    found: Findings
    seconds: float

    def run(self) -> None:
        """Check everything; what a database of the other kind would need is not looked at."""
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
        info = known.get(self._held(table.name, known, _FOLDED) or "")
        if info is None:
            self._unknown((*here, "name"), "table", table.name, known)
            return
        fields = {field.name: field for field in info.columns}
        whole = True
        for index, column in enumerate(table.columns):
            place = (*here, "columns", index)
            name = self._held(column.name, fields, _FOLDED_COLUMNS)
            if name is None:
                self._unknown((*place, "name"), f"column of '{info.name}'", column.name, fields)
                whole = whole and column.name not in table.key
            elif not can_hold(fields[name].type, column.type):
                self._type((*place, "type"), info.name, fields[name], column.type)
        if whole:
            self._key(here, table, info)

    def _key(self, here: Place, table: TablePart, info: TableInfo) -> None:
        """Check that no two rows have the key of one."""
        declared = {name.casefold() for name in info.key}
        if declared and declared <= {name.casefold() for name in table.key}:
            return
        name = quoted_for(self.database, info.name)
        columns = ", ".join(quoted_for(self.database, key) for key in table.key)
        twice = self._count(
            f"SELECT COUNT(*) FROM (SELECT {columns} FROM {name} GROUP BY {columns} "  # noqa: S608
            "HAVING COUNT(*) > 1) twice"
        )
        shown, place = ", ".join(table.key), (*here, "key")
        if isinstance(twice, QueryError):
            reason = f"the database says: {visible(str(twice))}"
            if isinstance(twice, StatementTimeoutError):
                reason = f"that takes longer than {self.seconds:g} s"
            problem = f"whether ({shown}) is a key of '{table.name}' could not be checked"
            self._tell("note", place, f"{problem}: {reason}")
        elif twice:
            named = ", ".join(f'"{key}"' for key in info.key)
            mend = f"the database's key is [{named}]" if info.key else "name columns that do"
            problem = f"({shown}) is no key of '{table.name}': {twice:,} of its values stand in"
            # Where the database has none either, there may be none.
            self._tell("error" if info.key else "warning", place, f"{problem} several rows; {mend}")
        elif not info.key:
            problem = f"'{table.name}' has no primary key in the database; by its rows ({shown})"
            self._tell("note", place, f"{problem} is one today: see that it stays one")

    # --- graphs ---

    def _node(self, here: Place, node: NodePart, schema: DatabaseSchema) -> None:
        known = {info.label: info for info in schema.nodes}
        info = known.get(self._held(node.label, known, _FOLDED) or "")
        if info is None:
            self._unknown((*here, "label"), "label", node.label, known)
            return
        if self._properties(here, node.label, node, info) and info.key != node.key:
            label, key = quote_name(node.label), quote_name(node.key)
            twice = self._count(
                f"MATCH (n:{label}) WITH n.{key} AS k, count(*) AS c WHERE c > 1 RETURN count(k)"
            )
            if isinstance(twice, int) and twice:
                problem = f"'{node.key}' is no key of '{node.label}': {twice:,} of its values"
                self._tell("error", (*here, "key"), f"{problem} are those of several nodes")

    def _edge(self, here: Place, edge: EdgePart, schema: DatabaseSchema) -> None:
        known = {info.label: info for info in schema.edges}
        label = self._held(edge.label, known, _FOLDED)
        if label is None:
            self._unknown((*here, "label"), "relationship type", edge.label, known)
            return
        ends = (edge.source[0], edge.target[0])
        same = [info for info in schema.edges if info.label == label]
        fits = [i for i in same if (i.source, i.target) == ends]
        labels = {info.label for info in schema.nodes}
        if not fits and labels.issuperset(ends):  # else the label is told already
            joins = ", ".join(f"(:{i.source})->(:{i.target})" for i in same)
            problem = (
                f"'{edge.label}' joins {joins} in the database, not (:{ends[0]})->(:{ends[1]})"
            )
            self._tell("error", (*here, "source"), problem)
        for info in fits[:1]:
            self._properties(here, edge.label, edge, info)

    def _properties(
        self, here: Place, owner: str, part: NodePart | EdgePart, info: NodeInfo | EdgeInfo
    ) -> bool:
        """Check names and types of properties; return whether all of them are there."""
        fields = {field.name: field for field in info.properties}
        types = {t.name: {c.name: c.type for c in t.columns} for t in self.document.tables}
        whole = True
        for name, column in part.properties.items():
            place = (*here, "properties", name)
            held = self._held(name, fields, _FOLDED)
            wanted = types.get(part.table, {}).get(column)
            if held is None:
                self._unknown(place, f"property of '{owner}'", name, fields)
                whole = False
            elif wanted is not None and not can_hold(fields[held].type, wanted):
                self._type(place, owner, fields[held], wanted)
        return whole

    # --- what is told ---

    def _held(self, name: str, known: Iterable[str], folded: frozenset[str]) -> str | None:
        """Return a name as the database has it; None where it has none."""
        names = list(known)
        if name in names or self.database.dialect not in folded:
            return name if name in names else None
        # No database takes "Strasse" for "Straße"; only MySQL's columns fold letters beyond ASCII.
        fold = str.lower if self.database.dialect in {"mysql", "mariadb"} else ascii_lower
        return next((other for other in names if fold(other) == fold(name)), None)

    def _unknown(self, place: Place, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        self.found.unknown.add(name)
        near = nearest(name, names)
        listed = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        hint = f"; did you mean '{near}'?" if near is not None else ""
        self.found.right |= {near} if near is not None else set()
        problem = f"the database has no {what} '{name}' (it has: {listed or 'none'}){hint}"
        self._tell("error", place, problem, None if near is None else (name, near))

    def _type(self, place: Place, owner: str, field: Field, wanted: str) -> None:
        kind = column_type(field.type)
        problem = f"'{field.name}' of '{owner}' is {field.type} in the database, which holds {kind}"
        mend = f'not {wanted}; write type = "{kind}"'
        self._tell("error", place, f"{problem} values, {mend}", (f'"{wanted}"', f'"{kind}"'))

    def _tell(
        self, level: Level, place: Place, problem: str, swap: tuple[str, str] | None = None
    ) -> None:
        where = self.merged.wrong(place, problem)
        told = f"{_field(place)}: {problem}"
        self.found.add(level, str(where.file), where.line, told, swap=swap)

    def _count(self, statement: str) -> int | QueryError:
        """Return the number that a statement counts, or why it cannot be counted."""
        try:
            rows = self.database.query(statement, Limits(rows=1, seconds=self.seconds)).rows
        except QueryError as error:
            return error
        return int(str(rows[0][0]))


def _field(place: Sequence[str | int]) -> str:
    return ".".join(map(str, place))
