"""Neo4j: the databases of users, and situations that share one database."""
