"""Neo4j over Bolt: a user's own databases, and situations that live beside each other in one."""
