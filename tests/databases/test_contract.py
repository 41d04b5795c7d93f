"""The contract of engines, on embedded databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dqa.databases.backends import BUILT_IN
from tests.databases.conftest import BACKENDS
from tests.databases.contract import EngineContract
from tests.databases.engines import Target


class TestEmbedded(EngineContract):
    """SQLite, DuckDB and LadybugDB, each situation in a file of its own."""

    @pytest.fixture(params=sorted(BACKENDS))
    def target(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
        """Return each engine."""
        target = Target(BUILT_IN[request.param], str(tmp_path))
        yield target
        target.clean()
