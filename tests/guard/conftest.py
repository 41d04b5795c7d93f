"""The small world of the database tests, loaded into every embedded database."""

from tests.databases.conftest import backend, database, relational, situation

__all__ = ["backend", "database", "relational", "situation"]
