"""Neo4j over Bolt: a user's own databases, and situations that live beside each other in one.

Neo4j Community has one database, so a situation's place is a label of its own that each of its
nodes carries beside its scenario's. Statements on an opened situation are rewritten so that every
node pattern asks for that label, and no result shows it: a situation looks as if it were alone. A
tag, a node ``(:dqa_situation)`` without that label and so out of every statement's reach, says what
the place holds, how it reads as a graph, and in which order its rows stood.

Locations are URLs: ``bolt://user:password@host:7687`` or ``neo4j+s://…``, with ``/name`` for a
database that is not the user's default, and ``?place=dqa_…`` for one loaded situation.
"""

from __future__ import annotations

from dqa.databases.neo4j.backend import BACKEND, Neo4jBackend
from dqa.databases.neo4j.database import Neo4jDatabase

__all__ = ["BACKEND", "Neo4jBackend", "Neo4jDatabase"]
