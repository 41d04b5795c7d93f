"""Neo4j as a backend: a label a situation.

Neo4j Community has one database, so a situation's namespace is a label of its own that each of its
nodes carries beside its scenario's. Statements on an opened situation are rewritten so that every
node pattern asks for that label, and no result shows it: a situation looks as if it were alone. A
tag, a node ``(:dqa_situation)`` without that label and so out of every statement's reach, says what
the namespace holds, how it reads as a graph, and in which order its rows stood.

Locations are URLs: ``bolt://user:password@host:7687`` or ``neo4j+s://…``, with ``/name`` for a
database that is not the user's default, and ``?namespace=dqa_…`` for one loaded situation.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dqa.databases.base import Backend
from dqa.databases.namespaces import NamespaceBackend, Namespaces
from dqa.databases.servers import require_driver

if TYPE_CHECKING:
    from dqa.core.database import Kind

__all__ = ["BACKEND", "Neo4jBackend"]

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


class Neo4jBackend(NamespaceBackend):
    """Opens Neo4j databases, and loads situations beside each other into them."""

    name = "neo4j"
    kind: Kind = "graph"
    dialect = "neo4j"
    needs_location = (
        "Neo4j is a server: name its URL, bolt://user:password@host:7687, to use it or to load a "
        "situation into it."
    )

    def accepts(self, location: str) -> bool:
        """Whether `location` is a ``bolt://`` or ``neo4j://`` URL; also ``+s`` and ``+ssc``."""
        return location.partition("://")[0] in _SCHEMES and "://" in location

    def _connect(self, location: str) -> AbstractContextManager[Namespaces]:
        require_driver("neo4j", "neo4j")
        from dqa.databases.neo4j.namespaces import connect

        return connect(location)


BACKEND: Backend = Neo4jBackend()
