"""Compare a scenario's tables, nodes and edges with those of a live database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from dqa.core.database import Database
from dqa.core.schema import Part
from dqa.core.situation import ColumnType
from dqa.guard import DEFAULT, GuardedDatabase, Policy
from dqa.loaders.inspection.findings import Findings
from dqa.scenarios.checks import hint
from dqa.scenarios.column_types import can_hold, column_type
from dqa.scenarios.document import EdgePart, ScenarioDocument
from dqa.scenarios.including import FieldPath

_FOLDED = frozenset({"sqlite", "duckdb", "ladybug", "ansi"})
"""Dialects that ignore the case of names."""
_MOST_NAMED = 10

_Known = TypeVar("_Known")


def check_schema(document: ScenarioDocument, database: Database, found: Findings) -> None:
    """Report which tables, nodes and edges of a scenario are missing in the database.

    A table or label that the policy hides is not an error, because the scenario may not need it.
    """
    policy = database.policy if isinstance(database, GuardedDatabase) else DEFAULT
    check, schema = _Check(database, found, policy), database.schema()
    if database.kind == "relational":
        tables = {info.name: info for info in schema.tables}
        for index, table in enumerate(document.tables):
            path: FieldPath = ("tables", index)
            is_shown = policy.allows_table(table.name)
            info = check.named((*path, "name"), "table", table.name, tables, is_shown=is_shown)
            for position, column in enumerate(table.columns):
                check.field((*path, "columns", position), info, column.name, column.type)
        return
    types = {(t.name, c.name): c.type for t in document.tables for c in t.columns}
    nodes = {info.label: info for info in schema.nodes}
    for index, node in enumerate(document.nodes):
        path = ("nodes", index)
        is_shown = policy.shows_label(node.label)
        label = check.named((*path, "label"), "label", node.label, nodes, is_shown=is_shown)
        for name, of in node.properties.items():
            check.field((*path, "properties", name), label, name, types.get((node.table, of)))
    for index, edge in enumerate(document.edges):
        path = ("edges", index)
        joined = check.edge(path, edge, nodes)
        for name, of in edge.properties.items():
            check.field((*path, "properties", name), joined, name, types.get((edge.table, of)))


@dataclass(frozen=True, slots=True)
class _Check:
    """Looks up the names and types of a document in a database."""

    database: Database
    found: Findings
    policy: Policy

    def edge(self, path: FieldPath, edge: EdgePart, nodes: Mapping[str, Part]) -> Part | None:
        """Return the relationships of the database that join the labels of an edge.

        If there are no such relationships, report that.
        """
        edges = self.database.schema().edges
        types = {info.label: info for info in edges}
        ends = edge.source[0], edge.target[0]
        is_shown = self.policy.shows_type(edge.label) and all(map(self.policy.shows_label, ends))
        what = "relationship type"
        named = self.named((*path, "label"), what, edge.label, types, is_shown=is_shown)
        same = {(i.source, i.target): i for i in edges if named and i.label == named.label}
        if named is not None and is_shown and ends not in same and {*nodes}.issuperset(ends):
            joins = ", ".join(f"(:{source})->(:{target})" for source, target in same)
            wanted = f"(:{ends[0]})->(:{ends[1]})"
            problem = f"in the database, '{edge.label}' connects {joins}, not {wanted}"
            self.found.add_field((*path, "source"), problem)
        return same.get(ends)

    def field(self, path: FieldPath, part: Part | None, name: str, kind: ColumnType | None) -> None:
        """Check the name and the type of a column or property.

        Do nothing if the database lacks the table, label or relationship type.
        """
        if part is None:
            return
        fields = {field.name: field for field in part.fields}
        is_column = part.kind == "table"
        what = "column" if is_column else "property"
        shows = self.policy.allows_column if is_column else self.policy.shows_property
        is_shown = shows(part.name, name)
        field = self.named(path, f"{what} of '{part.name}'", name, fields, is_shown=is_shown)
        if field is not None and kind is not None and not can_hold(field.type, kind):
            held = column_type(field.type)
            problem = f"'{field.name}' of '{part.name}' is {field.type} in the database, which "
            problem += f'holds {held} values, not {kind}; write type = "{held}"'
            self.found.add_field(path, problem)

    def named(
        self, path: FieldPath, what: str, name: str, known: Mapping[str, _Known], *, is_shown: bool
    ) -> _Known | None:
        """Return the table, label or relationship type called `name`.

        If the database lacks it, or the policy hides it, report this and return None.
        """
        dialect = self.database.dialect
        # MySQL ignores the case of columns only.
        is_mysql = dialect in {"mysql", "mariadb"} and what.startswith("column")
        by_case = {one.lower(): one for one in known} if is_mysql or dialect in _FOLDED else {}
        meant = name if name in known else by_case.get(name.lower())
        if meant is not None:
            return known[meant]
        if not is_shown:
            problem = f"the policy hides the {what} '{name}', or the database lacks it"
            self.found.add_field(path, problem, "note")
            return None
        listed = ", ".join([*sorted(known)[:_MOST_NAMED], *(["..."] * (len(known) > _MOST_NAMED))])
        problem = f"the database has no {what} '{name}' (it has: {listed or 'none'})"
        self.found.add_field(path, problem + hint(name, known))
        return None
