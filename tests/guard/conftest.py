"""The small world of the database tests, loaded into every embedded database."""

from tests.databases.conftest import backend, database, situation

__all__ = ["backend", "database", "situation"]
