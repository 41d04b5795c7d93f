"""The worked example on real servers: SQLite's answers, and a proposed folder with one error."""

from __future__ import annotations

from pathlib import Path

import pytest

import dqa
from benchmarks.warehouse import made, measure
from dqa.scenarios import catalogue
from tests.confirming import confirm

LINES = 200
GRAPH = ["Plant", "Product", "CustomerOrder", "Shipment"]


@pytest.mark.parametrize("name", ["mysql", "postgres", "neo4j"])
def test_a_server_answers_as_sqlite_does_and_is_checked(
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Outcomes, contexts and heuristics are equal; of a proposed folder, only the error is found.

    One question of each scenario has every statement; `tests/examples` decides all of them.
    """
    url = request.getfixturevalue(f"{name}_url")
    # The example's scenarios are registered for this test alone.
    monkeypatch.setattr(catalogue, "_registered", dict(catalogue._registered))
    with made("sqlite", LINES, tmp_path, {}) as file:
        answers = measure(file, most=1)
    folder = tmp_path / "plants"
    with made(name, LINES, tmp_path, {name: url}) as there:
        found = measure(there, most=1)
        assert len(found.outcomes) == 3
        assert found.differs(answers) == []
        tables = GRAPH if name == "neo4j" else ()
        proposed = dqa.propose_scenario(
            there, folder, question="Which plant to stop?", tables=tables
        )
        assert proposed.column == "name"
        confirm(folder)
        assert there not in "".join(file.read_text("utf-8") for file in folder.iterdir())
        outcomes = folder / f"outcomes.{'cypher' if name == 'neo4j' else 'sql'}"
        lines = outcomes.read_text("utf-8").split("\n")
        number = next(n for n, line in enumerate(lines) if "c.name AS" in line)
        lines[number] = lines[number].replace("c.name AS", "c.nmae AS", 1)
        outcomes.write_text("\n".join(lines), "utf-8")
        checked = dqa.check_scenario(folder, there)
    errors = [one for one in checked.findings if one.level == "error"]
    assert {one.file for one in errors} == {str(outcomes)}
    (error,) = [one for one in errors if one.line == number + 1]
    assert "name" in error.problem
    assert checked.statements >= 3
