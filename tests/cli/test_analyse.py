"""`dqa analyse`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.stored import change_record, record_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, generated: Path) -> Path:
    """Return a real run of the scripted analyst, and of a baseline."""
    from typer.testing import CliRunner

    from dqa.cli.main import app

    out = tmp_path_factory.mktemp("runs") / "run"
    arguments = ["eval", "--generated", str(generated), "--databases", "sqlite,ladybug"]
    arguments += ["--deciders", "singlerag,iterrag,planrag,planrag-sim,first", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return out


def test_a_real_run_is_measured(dqa: Command, folder: Path) -> None:
    """Every table, what is left out, and who answered; the same at any width."""
    ran = dqa("analyse", folder)
    assert (ran.code, ran.err) == (0, "")
    for words in ("Figure 5", "Table 7", "Table 12", "Table 6", "Figure 6"):
        assert words in ran.out
    assert "SR: 'iterrag' retrieved once. MR: it retrieved more often." in ran.out
    assert "CAN: improper candidate. MIS: missed data." in ran.out
    assert "8 decisions." in ran.out
    assert "Model: scripted:analyst. A scripted program, not a language model." in ran.out
    assert "\x1b" not in ran.out


def test_json_tells_of_every_run(dqa: Command, folder: Path) -> None:
    """Measures and failures are equal on both kinds of database; a simulation misses nothing."""
    found = json.loads(dqa("analyse", folder, "--json").out)
    assert found["reference"] == "iterrag"
    assert found["models"] == ["scripted:analyst", "none"]
    runs = {(r["question"], r["database"], r["decider"]): r for r in found["runs"]}
    assert len(runs) == 4 * 2 * 5
    for (question, database, decider), run in runs.items():
        twin = runs[question, "sqlite" if database == "ladybug" else "ladybug", decider]
        assert (run["measures"], run["failure"]) == (twin["measures"], twin["failure"])
        assert (run["failure"] is None) == (run["outcome"] == "correct" or decider == "first")
        if decider == "planrag-sim":
            assert run["measures"]["simulations"] == 1
            assert "missed" not in run["measures"]["critical_values"].values()
        if decider == "singlerag":
            assert run["measures"]["retrievals"] == 1
    locating = [row for row in rows(found, "missed") if row["scenario"] == "locating"]
    missed = {row["decider"]: row["shares"]["any"]["count"] for row in locating}
    assert len(missed) == 4
    assert missed["planrag-sim"] == 0


def rows(found: dict[str, Any], measure: str) -> list[dict[str, Any]]:
    """Return the rows of one table."""
    (table,) = (table for table in found["tables"] if table["measure"] == measure)
    listed: list[dict[str, Any]] = table["rows"]
    return listed


@pytest.fixture
def orphan(folder: Path, tmp_path: Path) -> Path:
    """Return a run whose folder of questions is gone."""
    return changed(folder, tmp_path / "run", ("questions", "folder"), str(tmp_path / "gone"))


def changed(folder: Path, copy: Path, place: tuple[str, str], value: object) -> Path:
    """Return a copy of a run whose spec has another value in a place."""
    shutil.copytree(folder, copy)
    record = record_of(copy)
    record["spec"][place[0]][place[1]] = value
    change_record(copy, record)
    return copy


def test_a_folder_of_questions_that_moved_can_be_named(
    dqa: Command, folder: Path, generated: Path, orphan: Path, tmp_path: Path
) -> None:
    """Then all is known as before; a folder of other questions is refused."""
    assert "\nThe questions of 32 decisions are not available" in dqa("analyse", orphan).out
    ran = dqa("analyse", orphan, "--questions", generated)
    assert ran.out == dqa("analyse", folder).out
    other = tmp_path / "other"
    dqa("data", "generate", "--out", other, "--questions", "1", "--seed", "5")
    ran = dqa("analyse", orphan, "--questions", other)
    assert (ran.code, ran.out) == (2, "")
    assert "have changed since" in ran.err


def test_a_papers_tables_stand_beside_a_runs_figures(dqa: Command, folder: Path) -> None:
    """Printed ones above ours; every one of ours is one that the run prints elsewhere."""
    ran = dqa("analyse", folder, "--paper", "planrag")
    assert (ran.code, ran.err) == (0, "")
    for name in ("Table 4", "Table 5", "Table 6", "Table 7", "Table 10", "Table 11", "Table 12"):
        assert f"{name}. " in ran.out
    assert "Figure 5. " in ran.out
    assert "Figure 6. " in ran.out
    assert "evaluate with --strict-official to compare" in ran.out
    view = json.loads(dqa("analyse", folder, "--paper", "planrag", "--json").out)
    tables = {table["name"]: table for table in view["tables"]}

    def cells(rows: str, decider: str) -> dict[tuple[str, str], dict[str, Any]]:
        (row,) = (row for row in tables["Table 5"][rows] if row["decider"] == decider)
        return {(figure["scenario"], figure["column"]): figure for figure in row["figures"]}

    figures = json.loads(dqa("show", folder, "--json").out)
    assert cells("rows", "planrag")["locating", "relational"]["value"] == 0.645
    planrag = cells("ours", "planrag")
    for found in (one for one in figures["results"] if one["decider"] == "planrag"):
        ours = planrag[found["scenario"], found["kind"]]
        assert (ours["value"], ours["of"]) == (found["accuracy"], found["questions"])
    assert "planrag-no-replan" in {row["decider"] for row in tables["Table 4"]["rows"]}
    assert {row["decider"] for row in tables["Table 4"]["ours"]} == {
        "iterrag",
        "planrag",
        "singlerag",
    }
    assert {row["model"] for row in tables["Table 11"]["ours"]} == {"scripted:analyst"}
    drawn = dqa("analyse", folder, "--paper", "dellma")  # without an analysis of its own
    assert (drawn.code, drawn.err) == (0, "")
    assert "Figures 2 and 4. " in drawn.out
    for name in ("nothing", "bidder"):  # bidder has tables about games only
        assert dqa("analyse", folder, "--paper", name).code == 2
