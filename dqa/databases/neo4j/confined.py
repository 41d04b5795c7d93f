"""A guarded Neo4j database. Statements on a situation see only the nodes of the situation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from dqa.core.database import Limits, Rows
from dqa.core.display import Value
from dqa.core.errors import UnknownReferenceError
from dqa.core.schema import EdgeInfo, NodeInfo
from dqa.databases.errors import refused
from dqa.guard import GuardedDatabase, GuardVerdict, Policy
from dqa.guard.cypher_reading import CypherReader

_LABELS = "_LABEL"
"""The key of a node's labels in a result. If labels are hidden, statements may not use this key."""


class ConfinedGraph(GuardedDatabase):
    """A Neo4j database. If the session has a label, statements find only nodes with that label."""

    def _scoped(self, policy: Policy) -> Policy:
        database = next(iter(self._session.search_path), None)
        inside = self._session.namespace
        return replace(super()._scoped(policy), inside=inside, database=database)

    def _ran(self, statement: str, verdict: GuardVerdict, limits: Limits) -> Rows:
        """Run a statement.

        If a policy hides parts of the graph, remove hidden labels and all warnings from the result.
        """
        if self._session.namespace is not None:
            self._require_known(statement)
        hides_labels = self.policy.labels is not None
        if hides_labels and _LABELS in statement:
            raise refused(f"{_LABELS} is a reserved name here; use another name")
        rows = super()._ran(statement, verdict, limits)
        if hides_labels:
            shows = self.policy.shows_label
            cells = tuple(tuple(_visible(cell, shows) for cell in row) for row in rows.rows)
            rows = replace(rows, rows=cells)
        return replace(rows, warning="" if self.policy.limits_graph else rows.warning)

    def _require_known(self, statement: str) -> None:
        """Raise `UnknownReferenceError` for a name that the situation lacks.

        For such a name, the server would return no rows.
        """
        reader = CypherReader(statement, self.dialect, self.policy)
        labels = {i for element in reader.elements for i in element.names}.union(reader.tested)
        properties = {i for element in reader.elements for i in element.keys}
        properties |= {
            i
            for value, i in reader.properties
            if value is not None and reader.texts[value] in reader.variables
        }
        for kinds, known, problem in (
            (labels, self._names[0], "There is no label or type"),
            (properties, self._names[1], "Cannot find property"),
        ):
            for name in sorted({reader.texts[i] for i in kinds} - known):
                raise UnknownReferenceError(f"{problem} {name}", name)

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The labels and types of the situation, and its properties."""
        schema = self.schema()
        parts: tuple[NodeInfo | EdgeInfo, ...] = (*schema.nodes, *schema.edges)
        properties = (field.name for part in parts for field in part.properties)
        return frozenset(part.label for part in parts), frozenset(properties)


def _visible(cell: Value, shows: Callable[[str], bool]) -> Value:
    """Return a value in which nodes have only visible labels."""
    if isinstance(cell, list):
        return [_visible(item, shows) for item in cell]
    if not isinstance(cell, dict):
        return cell
    found = {key: _visible(item, shows) for key, item in cell.items()}
    labels = cell.get(_LABELS)
    if isinstance(labels, list):
        seen: list[Value] = [x for x in labels if isinstance(x, str) and shows(x)]
        found[_LABELS] = seen[0] if len(seen) == 1 else seen
    return found
