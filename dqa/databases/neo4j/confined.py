"""A Neo4j database behind the guard; a loaded situation's statements see its own nodes alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Self

from dqa.core.database import Limits
from dqa.core.errors import DatabaseUnavailableError
from dqa.core.schema import EdgeInfo, NodeInfo
from dqa.core.session import Session
from dqa.databases.neo4j.session import Neo4jSession
from dqa.guard import Audit, GuardedDatabase, Policy
from dqa.guard.cypher import read_statement
from dqa.guard.cypher_policy import VisibleGraph


class ConfinedGraph(GuardedDatabase):
    """A Neo4j database whose statements find nodes with its session's label, where it has one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._known: set[str] = set()

    def _walled(self, policy: Policy) -> Policy:
        database = self._session.database if isinstance(self._session, Neo4jSession) else None
        return replace(super()._walled(policy), inside=self._session.namespace, database=database)

    def restrict(
        self,
        policy: Policy | None = None,
        audit: Audit | None = None,
        limits: Limits | None = None,
        *,
        checked: bool = False,
    ) -> Self:
        """Set what may be read, as every database does; nodes are shown without hidden labels."""
        super().restrict(policy, audit, limits, checked=checked)
        if isinstance(self._session, Neo4jSession):
            shown = VisibleGraph.of(self.policy, fold=False)
            hides = shown.limits_labels or shown.limits_properties
            self._session.show(shown.shows_label, warns=not hides)
        return self

    def _confined(self, statement: str, until: float) -> str:
        """Return a statement on a situation kept to its nodes."""
        if self._session.namespace is not None and statement not in self._known:
            self._require_known(statement, until)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known.add(statement)
        return super()._confined(statement, until)

    def _require_known(self, statement: str, until: float) -> None:
        """Refuse names that a situation's graph does not have: the server would find nothing."""
        if self._schema_by(until) is None:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' does not answer: its schema could not be read in the time "
                "of the statement that needs it. Ask again."
            )
        reader = read_statement(statement, self.dialect, self.policy)
        labels = {i for element in reader.elements for i in element.names}.union(reader.tested)
        properties = {i for element in reader.elements for i in element.keys}
        properties |= {
            i
            for value, i in reader.properties
            if value is not None and reader.texts[value] in reader.variables
        }
        for places, known, problem in (
            (labels, self._names[0], "There is no label or type"),
            (properties, self._names[1], "Cannot find property"),
        ):
            for name in sorted({reader.texts[i] for i in places} - known):
                raise self._unknown(f"{problem} {name}", name, statement, until)

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Labels and types; properties."""
        schema = self.schema()
        parts: tuple[NodeInfo | EdgeInfo, ...] = (*schema.nodes, *schema.edges)
        return (
            frozenset(part.label for part in parts),
            frozenset(field.name for part in parts for field in part.properties),
        )


_KEPT = 4_096
"""Statements remembered."""
