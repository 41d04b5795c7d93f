"""The contract of engines, on embedded databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dqa.databases.backends import BUILT_IN
from tests.databases.conftest import BACKENDS
from tests.databases.contract import EngineContract
from tests.databases.engines import Target


@pytest.fixture(scope="module", params=sorted(BACKENDS))
def lasting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    """Return each engine."""
    target = Target(BUILT_IN[request.param], str(tmp_path_factory.mktemp("contract")))
    yield target
    target.clean()


class TestEmbedded(EngineContract):
    """SQLite, DuckDB and LadybugDB, each situation in a file of its own."""
