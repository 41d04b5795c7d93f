"""The worked example on real servers: the decisions are those of SQLite."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.warehouse import Measured, decide, made, measure
from dqa.scenarios import catalogue

LINES = 200


@pytest.fixture(scope="module")
def in_a_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Measured, dict[str, dict[str, str]]]:
    """Return what SQLite answers, and what the methods choose."""
    with pytest.MonkeyPatch.context() as patch:
        # The example's scenarios are registered for this fixture alone.
        patch.setattr(catalogue, "_registered", dict(catalogue._registered))
        with made("sqlite", LINES, tmp_path_factory.mktemp("sqlite"), {}) as file:
            return measure(file), decide(file)


@pytest.mark.parametrize("name", ["mysql", "postgres", "neo4j"])
def test_a_server_decides_as_sqlite_does(
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    in_a_file: tuple[Measured, dict[str, dict[str, str]]],
) -> None:
    """Outcomes, contexts and heuristics are the same, and so is what the methods choose."""
    url = request.getfixturevalue(f"{name}_url")
    answers, choices = in_a_file
    with made(name, LINES, tmp_path, {name: url}) as there:
        assert measure(there).differs(answers) == []
        assert decide(there) == choices
