"""A small world, loaded into every embedded database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.situation import Cell, Situation, Table
from dqa.databases.backends import BUILT_IN
from dqa.databases.base import Backend

BACKENDS: dict[str, Backend] = {name: BUILT_IN[name] for name in ("duckdb", "ladybug", "sqlite")}


def small_situation() -> Situation:
    """Three nodes in no alphabetical order, two flows, one missing number."""
    schema = plugins.scenario("locating").schema
    rows: dict[str, list[tuple[Cell, ...]]] = {
        "country": [("SWE", "lubeck", 10.5), ("DAN", "kiev", 2.0)],
        "trade_node": [
            ("lubeck", 1.25, False, 30.0, 0.5, 0.0),
            ("kiev", 2.0, True, 20.0, 0.25, 0.1),
            ("basra", float("nan"), True, 10.0, 0.0, 0.0),
        ],
        "flow": [("kiev", "lubeck", 0.3), ("basra", "kiev", 0.1)],
        "node_country": [
            ("lubeck", "SWE", True, False, 8.0, 8.0),
            ("kiev", "SWE", False, True, 1.0, 3.15),
            ("kiev", "DAN", True, False, 5.0, 5.0),
        ],
    }
    tables = {t.name: Table.from_rows(t, rows[t.name]) for t in schema.tables}
    return Situation(schema, "small", tables)


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
