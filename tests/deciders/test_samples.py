"""Sample values in a schema: few, the same every time, and nothing that may not be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa import plugins
from dqa.core.database import Database
from dqa.core.situation import Situation
from dqa.deciders.parts import sampled_schema, shown_schema

BOOLEANS = {
    "duckdb": "is_home: BOOLEAN e.g. [false, true]",
    "ladybug": "is_home: BOOL e.g. [false, true]",
    "sqlite": "is_home: BOOLEAN e.g. [0, 1]",
}


@pytest.fixture(params=sorted(BOOLEANS))
def database(request: pytest.FixtureRequest, world: Situation) -> Iterator[Database]:
    """Give the world in each embedded database in turn."""
    opened = plugins.backend(request.param).load(world)
    yield opened
    opened.close()


def test_text_and_boolean_columns_show_their_first_values(
    world: Situation, database: Database
) -> None:
    """The values are sorted and distinct. Columns of numbers have no samples."""
    homes = sorted(set(world.tables["country"]["home_node"]))
    text = sampled_schema(database, 3).to_text()
    assert f'e.g. ["{homes[0]}", "{homes[1]}", "{homes[2]}"]' in text
    assert BOOLEANS[database.dialect] in text
    assert "local_value: DOUBLE," in text
    assert text == sampled_schema(database, 3).to_text()
    assert shown_schema(database, 3).to_text() == text
