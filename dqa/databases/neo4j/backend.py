"""Neo4j as a backend: one label per situation.

Neo4j Community has one database, so the namespace of a situation is a label of its own, which each
of its nodes has in addition to the label of its scenario. The guard rewrites statements on an
opened situation so that every node pattern requires that label, and no result shows it. A tag, the
node ``(:dqa_situation)``, lacks the label, so no statement reaches it. It describes the situation.

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
    is_server=True,
    namespaces="dqa.databases.neo4j.namespaces:Neo4jNamespaces",
    reader="dqa.databases.neo4j.server:parse_address",
    accepts=lambda location: has_scheme(location, "bolt", "neo4j"),
    driver="neo4j",
    example="bolt://user:password@host:7687",
)
