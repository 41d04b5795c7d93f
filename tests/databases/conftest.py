"""A small world, loaded into every embedded database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa.core.database import Database
from dqa.core.situation import Situation
from dqa.databases.backends import BUILT_IN
from dqa.databases.base import Backend
from tests.databases.engines import small_situation

BACKENDS: dict[str, Backend] = {name: BUILT_IN[name] for name in ("duckdb", "ladybug", "sqlite")}


@pytest.fixture(scope="session")
def situation() -> Situation:
    """Return the small world."""
    return small_situation()


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """Return each embedded backend in turn."""
    return BACKENDS[request.param]


@pytest.fixture(scope="module")
def database(backend: Backend, situation: Situation) -> Iterator[Database]:
    """Give the small world in each embedded database in turn."""
    loaded = backend.load(situation)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def relational(situation: Situation) -> Iterator[Database]:
    """Give the small world in SQLite."""
    loaded = BUILT_IN["sqlite"].load(situation)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def graph(situation: Situation) -> Iterator[Database]:
    """Give the small world in LadybugDB."""
    loaded = BUILT_IN["ladybug"].load(situation)
    yield loaded
    loaded.close()
