"""The golden worlds in databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa import plugins
from tests.planrag.analysis.golden_runs import Databases, worlds


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Every golden world, in a relational and in a graph database."""
    names = ("sqlite", "ladybug")
    opened = {(w, d): plugins.backend(d).load(worlds()[w]) for w in worlds() for d in names}
    yield opened
    for database in opened.values():
        database.close()
