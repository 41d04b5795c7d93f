"""Open Neo4j databases, and load several situations into one database."""
