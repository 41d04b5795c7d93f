"""A loaded situation of Neo4j behind the guard: its statements see its own nodes alone."""

from __future__ import annotations

from functools import cached_property

from dqa.core.errors import DatabaseUnavailableError
from dqa.core.schema import EdgeInfo, NodeInfo
from dqa.core.session import Session
from dqa.databases.neo4j.hiding import VARIABLE, without_label
from dqa.guard import DEFAULT, GuardedDatabase, Policy
from dqa.guard.cypher import parsed, scoped
from dqa.guard.cypher.facts import IN_MAP, ITSELF
from dqa.guard.cypher.lexer import tokens

_KEPT = 4_096
"""Statements remembered."""


class ConfinedGraph(GuardedDatabase):
    """A Neo4j database whose statements are kept to its session's label, where it has one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._rewritten: dict[str, str] = {}

    def _confined(self, statement: str, until: float) -> str:
        """Return a statement on a situation kept to its nodes."""
        label = self._session.namespace
        if label is None:
            return statement
        rewritten = self._rewritten.get(statement)
        if rewritten is None:
            rewritten = confined(statement, label, self.policy)
            self._require_known(statement, until)
            if len(self._rewritten) >= _KEPT:
                self._rewritten.clear()
            self._rewritten[statement] = rewritten
        return rewritten

    def _require_known(self, statement: str, until: float) -> None:
        """Refuse names that a situation's graph does not have: the server would find nothing."""
        if self._schema_by(until) is None:
            raise DatabaseUnavailableError(
                f"Database '{self.name}' does not answer: its schema could not be read in the time "
                "of the statement that needs it. Ask again."
            )
        facts = parsed(statement, self.dialect, self.policy)
        owners = {name for known in facts.owners for name in known or ()}
        owners |= {name for _, name in facts.tested if name is not None}
        for name in sorted(owners - self._names[0]):
            raise self._unknown(f"There is no label or type {name}", name, statement, until)
        for trace, name in facts.reads:
            is_element = trace & ITSELF and not trace & IN_MAP
            if is_element and name not in self._names[1]:
                raise self._unknown(f"Cannot find property {name}", name, statement, until)

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """Labels and types; properties."""
        schema = self.schema()
        parts: tuple[NodeInfo | EdgeInfo, ...] = (*schema.nodes, *schema.edges)
        return (
            frozenset(part.label for part in parts),
            frozenset(field.name for part in parts for field in part.properties),
        )


def confined(statement: str, label: str, policy: Policy = DEFAULT) -> str:
    """Return a statement that `policy` allows as it runs on a situation.

    Every node pattern asks for the namespace's label, and ``labels(n)`` is without it.

    Raises
    ------
    RefusedStatementError
        The statement calls what would tell of the whole database.
    """
    kept = scoped(statement, label, policy)
    _, texts, starts, ends, closing = tokens(kept, "neo4j")
    edits: list[tuple[int, str]] = []
    for at, text in enumerate(texts):
        bracket = at + 1
        if text.lower() == "labels" and bracket in closing and texts[bracket] == "(":
            edits.append((starts[at], f"[{VARIABLE} IN "))
            edits.append((ends[closing[bracket]], without_label(label)))
    parts: list[str] = []
    done = 0
    for position, text in sorted(edits):
        parts += kept[done:position], text
        done = position
    return "".join((*parts, kept[done:]))
