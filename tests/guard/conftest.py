"""The small world of the database tests in every embedded database, and a session of Neo4j."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases.conftest import backend, database, relational, situation

__all__ = ["backend", "database", "neo4j_session", "relational", "situation"]


@pytest.fixture(scope="module")
def neo4j_session() -> Iterator[Any]:
    """Open a session of the server at `DQA_TEST_NEO4J_URL`."""
    url = os.environ.get("DQA_TEST_NEO4J_URL")
    if not url:
        pytest.skip("DQA_TEST_NEO4J_URL is not set")
    neo4j = pytest.importorskip("neo4j")
    credentials, _, host = url.removeprefix("bolt://").rpartition("@")
    user, _, password = credentials.partition(":")
    with (
        neo4j.GraphDatabase.driver(f"bolt://{host}", auth=(user, password)) as driver,
        driver.session() as session,
    ):
        yield session
