"""Writers lose nothing: what was written is read back equal, in the order of their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dqa import plugins
from dqa.core.errors import DataError
from dqa.core.situation import Schema, Situation, Table
from dqa.databases.base import Backend
from dqa.databases.duckdb import backend as duckdb
from dqa.databases.ladybug import backend as ladybug
from dqa.databases.sqlite import backend as sqlite
from dqa.loaders.readback import read_situation, sort_rows
from dqa.loaders.release import read_release

BACKENDS: tuple[Backend, ...] = (duckdb.BACKEND, ladybug.BACKEND, sqlite.BACKEND)
by_backend = pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)


def shuffled(buildings: int) -> Situation:
    """Return a Building world whose rows are in a random order, seeded."""
    schema, draw = plugins.scenario("building").schema, np.random.default_rng(3)
    ids, goods = draw.permutation(buildings), draw.permutation(50)
    edges = {"goods_id": draw.permutation(np.arange(buildings) % 50), "building_id": ids}
    columns: dict[str, dict[str, Any]] = {
        "goods": {
            "goods_name": [f"goods '{code}' \\ \"é\"" for code in goods],
            "code": goods,
            "base_price": draw.random(50),
            "current_price": np.full(50, np.nan),
            "pop_demand": draw.random(50) * 1e300,
        },
        "building": {"id": ids, "name": ["mill"] * buildings, "level": ids * 10**15},
        "supply": {
            **edges,
            "max_supply": draw.random(buildings),
            "current_output": draw.random(buildings) * 5e-324,
            "level": ids,
        },
        "demand": {
            **edges,
            "max_demand": draw.random(buildings),
            "current_input": np.full(buildings, 0.1 + 0.2),
            "level": -ids,
        },
    }
    tables = {table.name: Table(table, columns[table.name]) for table in schema.tables}
    return Situation(schema, "shuffled", tables)


def round_trip(situation: Situation, backend: Backend) -> Situation:
    """Write, read back, close."""
    database = backend.load(situation)
    try:
        return read_situation(database, situation.schema, situation.name)
    finally:
        database.close()


@by_backend
@pytest.mark.parametrize(
    "every",
    [
        pytest.param(16, marks=pytest.mark.slow),
        pytest.param(1, marks=pytest.mark.deep),
    ],
)
def test_released_databases_come_back_equal(
    backend: Backend, every: int, release_dir: Path
) -> None:
    """All values of all rows, in order; a sample, or every database."""
    situations = {s.content_hash: s for s in read_release(release_dir).situations.values()}
    assert len(situations) > 30
    for situation in list(situations.values())[::every]:
        again = round_trip(situation, backend)
        assert again == sort_rows(situation)


@by_backend
@pytest.mark.parametrize("buildings", [0, 1, 2_000])
def test_any_size_and_order_comes_back_equal(backend: Backend, buildings: int) -> None:
    """Empty tables, shuffled keys, quotes in names, extreme and missing numbers."""
    situation = shuffled(buildings)
    assert round_trip(situation, backend) == sort_rows(situation)


@by_backend
@pytest.mark.parametrize("in_file", [False, True])
def test_a_key_that_occurs_twice_is_refused_and_leaves_nothing(
    backend: Backend, in_file: bool, tmp_path: Path
) -> None:
    """The error names the situation; no half-written file stays."""
    situation = shuffled(3)
    doubled = situation.replace(building=situation["building"].replace(id=[1, 1, 2]))
    with pytest.raises(DataError, match="'shuffled'"):
        backend.load(doubled, str(tmp_path / "x.db") if in_file else None)
    assert not list(tmp_path.iterdir())


def test_a_graph_needs_every_table_mapped() -> None:
    """What would silently be lost is an error."""
    situation = shuffled(2)
    schema = situation.schema
    partial = Schema(schema.scenario, schema.tables, schema.nodes, schema.edges[:1])
    with pytest.raises(DataError, match="supply"):
        ladybug.BACKEND.load(Situation(partial, "partial", situation.tables))


@pytest.mark.deep
def test_many_databases_fit_in_one_process() -> None:
    """Each takes little address space, so an evaluation can hold all of its databases open."""
    situation = shuffled(1)
    databases = [ladybug.BACKEND.load(situation) for _ in range(40)]
    for database in databases:
        assert database.query("MATCH (b:Building) RETURN count(*)").rows == ((1,),)
        database.close()
