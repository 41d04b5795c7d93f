"""Proposed folders and their check on real servers."""

from __future__ import annotations

from pathlib import Path

import pytest

import dqa
from benchmarks.warehouse import made
from tests.confirming import confirm

SCENARIOS = Path(__file__).parents[2] / "examples" / "warehouse"
GRAPH = ["Plant", "Product", "Warehouse", "Customer", "CustomerOrder", "Shipment", "Supplier"]


@pytest.mark.parametrize("name", ["mysql", "postgres", "neo4j"])
def test_a_server_is_proposed_a_folder_and_a_broken_one_is_told(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The proposal and the examples are good; a wrong name is found where it stands."""
    url = request.getfixturevalue(f"{name}_url")
    folder = tmp_path / "plants"
    with made(name, 300, tmp_path, {name: url}) as there:
        tables = GRAPH if name == "neo4j" else ()
        found = dqa.propose_scenario(there, folder, question="Which plant to stop?", tables=tables)
        assert found.column == "name"
        confirm(folder)
        checked = dqa.check_scenario(folder, there)
        assert checked.is_good, checked.to_text()
        assert checked.statements >= 3
        whole = "".join(file.read_text("utf-8") for file in folder.iterdir())
        assert there not in whole
        for scenario in ("stop-plant", "switch-supplier"):
            checked = dqa.check_scenario(SCENARIOS / scenario, there)
            assert checked.is_good, checked.to_text()
        ending = "cypher" if name == "neo4j" else "sql"
        outcomes = folder / f"outcomes.{ending}"
        text = outcomes.read_text("utf-8")
        assert ".name" in text
        outcomes.write_text(text.replace("c.name AS", "c.nmae AS", 1), "utf-8")
        wanted = next(n for n, line in enumerate(text.split("\n"), 1) if "c.name AS" in line)
        findings = dqa.check_scenario(folder, there).findings
        (error,) = [one for one in findings if one.level == "error" and one.line == wanted]
        assert error.file == str(outcomes)
        assert "name" in error.problem
