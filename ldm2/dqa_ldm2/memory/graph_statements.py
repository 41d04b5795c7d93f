"""What a memory in Neo4j is asked and told, in Cypher."""

from __future__ import annotations

from typing import Final

LABELS: Final = ("MemoryBatch", "GoalType", "ObservationType", "StateAction")
_UNIQUE: Final = (
    ("MemoryBatch", "number"),
    ("MemoryVersion", "number"),
    ("GoalType", "id"),
    ("ObservationType", "id"),
    ("StateAction", "id"),
)
MAKE: Final = {
    "dqa_memory_name": "CREATE CONSTRAINT dqa_memory_name IF NOT EXISTS "
    "FOR (n:dqa_memory) REQUIRE n.name IS UNIQUE",
    **{
        f"dqa_{label}_{key}": f"CREATE CONSTRAINT dqa_{label}_{key} IF NOT EXISTS "
        f"FOR (n:{label}) REQUIRE (n.memory, n.{key}) IS UNIQUE"
        for label, key in _UNIQUE
    },
    "dqa_StateAction_batch": "CREATE INDEX dqa_StateAction_batch IF NOT EXISTS "
    "FOR (n:StateAction) ON (n.memory, n.batch)",
}
"""What makes a database one of memories, by the names of constraints and indexes."""
MADE: Final = "SHOW INDEXES YIELD name WHERE name STARTS WITH 'dqa_' RETURN name"
BEGIN: Final = "MERGE (m:dqa_memory {name: $memory}) ON CREATE SET m += $first"
LOCK: Final = "MATCH (m:dqa_memory {name: $memory}) SET m.locked = true RETURN properties(m) AS m"
VERSIONS: Final = """
MATCH (v:MemoryVersion {memory: $memory}) RETURN properties(v) AS v ORDER BY v.number
"""
PLACED: Final = """
MATCH (b:MemoryBatch {memory: $memory})-[:HAS]->(g:GoalType)-[:HAS]->(o:ObservationType)
  -[:HOLDS]->(t:StateAction)
"""
READ: Final = """
MATCH (b:MemoryBatch)-[:HAS]->(g:GoalType)-[:HAS]->(o:ObservationType)
  -[:HOLDS]->(t:StateAction)
WHERE t.memory = '{memory}' AND t.id IN [{ids}] AND t.live
RETURN t.id AS id, b.number AS batch, t.version AS version, g.name AS goal_type,
  o.name AS observation_type, t.goal AS goal, t.history AS history, t.observation AS observation,
  t.action AS action, t.source AS source, t.step AS step, t.reward AS reward
ORDER BY id
""".strip()
GOALS: Final = """
MATCH (t:StateAction {memory: $memory}) WHERE t.live
RETURN DISTINCT t.goal AS goal, t.source AS source
"""
COLUMNS: Final = READ[READ.index("RETURN") :]
STATE: Final = "(t.since <= {0} AND (v.undone_after IS NULL OR v.undone_after > {0}))"
_ADDED_SOURCES: Final = """
MATCH (t:StateAction {memory: $memory}) WHERE t.live
MATCH (v:MemoryVersion {memory: $memory, number: t.version})
WHERE $making IS NULL OR v.making = $making
RETURN DISTINCT t.source AS source
"""
_REPEATED_SOURCES: Final = """
MATCH (v:MemoryVersion {memory: $memory})-[r:REPEATED]->()
WHERE v.undone_after IS NULL AND ($making IS NULL OR v.making = $making)
RETURN DISTINCT r.source AS source
"""
SOURCES: Final = (_ADDED_SOURCES, _REPEATED_SOURCES)
