"""The worked example on real servers: the decisions are those of SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.warehouse import decide, made, measure

LINES = 1_000


@pytest.mark.parametrize("name", ["mysql", "postgres", "neo4j"])
def test_a_server_decides_as_sqlite_does(
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    """Outcomes, contexts and heuristics are the same, and so is what the methods choose."""
    url = request.getfixturevalue(f"{name}_url")
    with (
        made("sqlite", LINES, tmp_path, {}) as file,
        made(name, LINES, tmp_path, {name: url}) as there,
    ):
        assert measure(there).differs(measure(file)) == []
        assert decide(there) == decide(file)
