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

from dqa.databases.base import Backend
from dqa.databases.servers import has_scheme

BACKEND = Backend(
    name="neo4j",
    kind="graph",
    dialect="neo4j",
    front="dqa.databases.neo4j.confined:ConfinedGraph",
    namespaces="dqa.databases.neo4j.namespaces:Neo4jNamespaces",
    reader="dqa.databases.neo4j.server:parse_address",
    accepts=lambda location: has_scheme(location, "bolt", "neo4j"),
    driver="neo4j",
    example="bolt://user:password@host:7687",
)
