"""The contract of engines, on real servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases.contract import EngineContract
from tests.databases.engines import Target
from tests.integration.conftest import targeted


@pytest.fixture(scope="module", params=["mysql", "postgres", "neo4j"])
def lasting(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Return each server. Neo4j writes several batches."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dqa.databases.neo4j.namespaces._BATCH", 700)
        yield from targeted(request.param, request, Path())


class TestServers(EngineContract):
    """MariaDB or MySQL, PostgreSQL and Neo4j."""
