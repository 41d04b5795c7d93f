"""Every command on the scenario that the documentation shows: by its folder, and by entry point."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from dqa.scenarios import catalogue
from tests.cli.conftest import Command
from tests.sqlite_files import run_script

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "scenarios" / "branch_office"
PARTS = """
[generator]
python = "branch_office:FIRMS"

[release]
database = "q{question_num}"
"""


def documented(folder: Path, more: str = PARTS) -> Path:
    """Write the documented scenario's folder, with `more` in its document."""
    text = (ROOT / "docs" / "scenarios.md").read_text("utf-8")
    blocks = dict(re.findall(r"```(text|sql|toml)\n(.*?)```", text, re.DOTALL)[:3])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.toml").write_text(blocks["toml"] + more, "utf-8")
    (folder / "question.txt").write_text(blocks["text"], "utf-8")
    (folder / "outcomes.sql").write_text(blocks["sql"], "utf-8")
    (folder / "rules.md").write_text("1. A branch that is closed earns nothing.\n", "utf-8")
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with the stranger's, which nothing registers yet."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "branch_office", ignore=shutil.ignore_patterns("__pycache__"))
    documented(folder / "branch_office" / "branches")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.delitem(sys.modules, "branch_office", raising=False)
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Install the package, and return the name of its scenario."""
    info = site / "branch_office-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: branch-office\nVersion: 1.0\n")
    points = "[dqa.scenarios]\nbranches = branch_office:BRANCHES\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.setattr(catalogue, "_added", cache(catalogue._added.__wrapped__))
    monkeypatch.setattr(catalogue, "_installed", cache(catalogue._installed.__wrapped__))
    return "branches"


@pytest.fixture(params=["folder", "entry point"])
def branches(request: pytest.FixtureRequest, site: Path) -> str:
    """What commands take in place of the scenario's name."""
    if request.param == "folder":
        return str(site / "branch_office" / "branches")
    name: str = request.getfixturevalue("installed")
    return name


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forget what a command registered, as the next process would."""
    return lambda: monkeypatch.setattr(catalogue, "_registered", {})


def test_questions_are_generated_written_and_decided(
    dqa: Command, branches: str, alone: Callable[[], None], tmp_path: Path
) -> None:
    """On the spot, and from a folder; the run is analysed and traced in another process."""
    folder, run = tmp_path / "made", tmp_path / "run"
    made = dqa("data", "generate", "--out", folder, "--scenarios", branches, "--questions", "3")
    assert made.code == 0, made.err
    assert "branches: 3 questions on 3 databases" in made.out
    assert json.loads((folder / "manifest.json").read_text())["options"]["scenarios"] == [
        "branches"
    ]
    for source in (("--generated", folder), ("--generate", "3")):
        alone()
        ran = dqa("eval", *source, "--scenarios", branches, "--deciders", "oracle", "--json")
        assert ran.code == 0, ran.err
        figures = json.loads(ran.out)["results"]
        assert {(one["database"], one["correct"]) for one in figures} == {
            ("sqlite", 3),
            ("ladybug", 3),
        }
    alone()
    asked = ("eval", "--generate", "1", "--scenarios", branches, "--databases", "sqlite")
    assert dqa(*asked, "--deciders", "first,oracle", "--out", run).code == 0
    alone()
    shown = dqa("show", run, "branches/1", "--decider", "oracle")
    assert "lost profit" in shown.out
    alone()
    assert "first 1, oracle 1" in dqa("analyse", run).out


def test_an_installed_scenario_takes_nothing_from_the_others(
    dqa: Command, installed: str, tmp_path: Path
) -> None:
    """Where nobody names scenarios, one that cannot take part is left out, and a line says so."""
    ran = dqa("eval", "--generate", "1", "--databases", "sqlite", "--deciders", "planrag", "--json")
    assert ran.code == 0, ran.err
    figures = json.loads(ran.out)["results"]
    assert {one["scenario"] for one in figures} == {"locating", "building"}
    assert "The scenario branches is left out" in ran.err
    harder = dqa("data", "generate", "--out", tmp_path / "hard", "--questions", "1", "--hops", "2")
    assert harder.code == 0, harder.err
    assert "branches" not in harder.out
    named = dqa("eval", "--generate", "1", "--scenarios", installed, "--deciders", "planrag")
    assert named.code == 2
    assert "language model" in named.err


def test_the_documented_questions_of_one_scenario_are_scored_in_place(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/evaluation.md as it is written: a line has its target, and no answer."""
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.chdir(tmp_path)
    documented(tmp_path / "branches", "")
    run_script(
        "firm.db",
        "CREATE TABLE branch (name TEXT, revenue REAL, rent REAL, wages REAL);"
        "INSERT INTO branch VALUES ('Leeds', 90, 20, 60), ('York', 80, 20, 40);"
        "INSERT INTO branch VALUES ('Hull', 70, 30, 25);",
    )
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    (block,) = re.findall(r"```bash\n(echo .*?)```", text, re.DOTALL)
    written, command = block.strip().splitlines()
    _, line, _, file = shlex.split(written)
    Path(file).write_text(f"{line}\n", "utf-8")
    ran = dqa(*shlex.split(command)[1:])
    assert ran.code == 0, ran.err
    assert re.search(r"oracle\s.*100\.0 \(1/1\)", ran.out)
    assert re.search(r"first\s.*100\.0 \(1/1\)", ran.out)  # Hull: 15, York: 20
