"""Every command on the scenario that the documentation shows: by its folder, and by entry point."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dqa import plugins
from dqa.loaders.generator import generate
from dqa.scenarios import catalogue

Command = Callable[..., Any]

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
    blocks = dict(re.findall(r"```(text|toml)\n(.*?)```", text, re.DOTALL)[:2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.toml").write_text(blocks["toml"] + more, "utf-8")
    (folder / "question.txt").write_text(blocks["text"], "utf-8")
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
    monkeypatch.setattr(catalogue, "_added", catalogue._added.__wrapped__)
    monkeypatch.setattr(catalogue, "_installed", catalogue._installed.__wrapped__)
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
    made = dqa("generate", "--out", folder, "--scenarios", branches, "--questions", "3")
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
    shown = dqa("trace", run, "branches/1", "--decider", "oracle")
    assert "lost profit" in shown.out
    alone()
    assert "first 1, oracle 1" in dqa("analyse", run).out


def test_questions_are_shown_annotated_audited_and_loaded(
    dqa: Command, branches: str, alone: Callable[[], None], tmp_path: Path
) -> None:
    """And the database is listed and asked."""
    made = ("--generate", "2", "--scenarios", branches)
    listed = json.loads(dqa("list", "--scenarios", branches, "--json").out)
    described = "choose a branch to minimise the lost profit"
    assert {"name": "branches", "description": described} in listed["scenarios"]
    assert "branches" in {entry["name"] for entry in listed["simulators"]}
    alone()
    shown = json.loads(dqa("show", "branches/2", *made, "--json").out)
    assert shown["candidates"] == ["York", "Hull", "Bath"]
    alone()
    assert "2 of 2 official answers agree" in dqa("annotate", *made).out
    alone()
    assert "2 labels, 2 agree under stated" in dqa("audit", *made).out
    alone()
    file = tmp_path / "firm.db"
    loaded = dqa("load", *made, "--question", "branches/2", "--database", file)
    assert loaded.code == 0, loaded.err
    alone()
    assert "branches firm-1, 4 rows" in dqa("list", "--database", file).out
    about = ("ask", "--database", file, "--scenario", branches, "--target", "kept=Leeds")
    asked = json.loads(dqa(*about, "--decider", "oracle", "--json").out)
    assert asked["choice"] == shown["answer"]


def test_it_is_asked_about_a_database_of_ones_own(
    dqa: Command, branches: str, alone: Callable[[], None], tmp_path: Path
) -> None:
    """A line of one's own file of questions names the scenario, or its folder beside the file."""
    file = tmp_path / "firm.db"
    made = ("--generate", "1", "--scenarios", branches)
    assert dqa("load", *made, "--database", file).code == 0
    alone()
    named = branches if branches == "branches" else "site/branch_office/branches"
    line = {"scenario": named, "target": {"kept": "Leeds"}}
    questions = tmp_path / "closing.jsonl"
    questions.write_text(json.dumps(line), "utf-8")
    about = ("--questions", questions, "--database", file)
    ran = dqa("eval", *about, "--deciders", "oracle", "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert "100.0 (1/1)" in ran.out
    alone()
    assert "branches/1: " in dqa("annotate", *about).out
    alone()
    ran = dqa("analyse", tmp_path / "run")
    assert ran.code == 0, ran.err


def test_an_installed_scenario_takes_nothing_from_the_others(
    dqa: Command, installed: str, tmp_path: Path
) -> None:
    """Where nobody names scenarios, one that cannot take part is left out, and a line says so."""
    ran = dqa("eval", "--generate", "1", "--databases", "sqlite", "--deciders", "planrag", "--json")
    assert ran.code == 0, ran.err
    figures = json.loads(ran.out)["results"]
    assert {one["scenario"] for one in figures} == {"locating", "building"}
    assert "warning: branches: left out, as nobody named it" in ran.err
    harder = dqa("generate", "--out", tmp_path / "hard", "--questions", "1", "--hops", "2")
    assert harder.code == 0, harder.err
    assert "branches" not in harder.out
    named = dqa("eval", "--generate", "1", "--scenarios", installed, "--deciders", "planrag")
    assert named.code == 2
    assert "name a language model" in named.err


@pytest.mark.parametrize(
    "command",
    [
        ("eval", "--generate", "1", "--deciders", "first"),
        ("load", "--generate", "1", "--database", "firm.db"),
        ("show", "branches/1", "--generate", "1"),
        ("annotate", "--generate", "1"),
        ("generate", "--questions", "1", "--out", "made"),
    ],
)
def test_without_a_generator_a_line_says_what_is_needed(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """And where else its questions may come from."""
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.chdir(tmp_path)
    folder = documented(tmp_path / "branches", "")
    ran = dqa(*command, "--scenarios", folder)
    assert ran.code == 2
    (line,) = ran.err.strip().splitlines()
    assert "The scenario 'branches' has no generator" in line
    assert f"{folder}/scenario.toml: [generator] python = " in line
    assert "--questions" in line


def test_without_a_simulator_a_line_says_what_is_needed(dqa: Command) -> None:
    """Recorded outcomes are nothing that could be simulated."""
    with pytest.raises(Exception, match=r"'stocks' has no simulator.*\[outcomes\] of .*toml"):
        plugins.simulator("stocks")
    ran = dqa("annotate", "--generate", "1", "--scenarios", "stocks")
    assert (ran.code, len(ran.err.strip().splitlines())) == (2, 1)
    assert "no simulator" in ran.err


def test_a_broken_folder_is_told_where_it_is_wrong(
    dqa: Command, site: Path, tmp_path: Path
) -> None:
    """Not as a scenario that there is not."""
    folder = site / "branch_office" / "branches"
    document = folder / "scenario.toml"
    document.write_text(document.read_text("utf-8").replace("database =", "databases ="), "utf-8")
    ran = dqa("generate", "--out", tmp_path / "made", "--scenarios", folder, "--questions", "1")
    assert ran.code == 1
    assert f"{document}:" in ran.err
    assert "release.database: it is missing; add it" in ran.err


def test_no_question_of_a_generated_folder_is_left_out_unsaid(
    dqa: Command, site: Path, alone: Callable[[], None], tmp_path: Path
) -> None:
    """A scenario that is not installed is named; those that are wanted alone are read."""
    branches = site / "branch_office" / "branches"
    folder = tmp_path / "made"
    both = f"{branches},building"
    assert dqa("generate", "--out", folder, "--scenarios", both, "--questions", "1").code == 0
    alone()
    ran = dqa("eval", "--generated", folder, "--deciders", "first")
    assert ran.code == 1
    assert "has questions of the scenario 'branches', which is not installed" in ran.err
    wanted = ("--scenarios", "building", "--deciders", "first", "--databases", "sqlite")
    ran = dqa("eval", "--generated", folder, *wanted)
    assert ran.code == 0, ran.err


def test_a_graph_is_not_needed(dqa: Command, site: Path, tmp_path: Path) -> None:
    """Without nodes a scenario is generated, written and decided on relational databases."""
    document = site / "branch_office" / "branches" / "scenario.toml"
    text = document.read_text("utf-8")
    start, end = text.index("[[nodes]]"), text.index("[generator]")
    document.write_text(text[:start] + text[end:], "utf-8")
    folder = ("--scenarios", document.parent)
    made = dqa("generate", "--out", tmp_path / "made", *folder, "--questions", "1")
    assert made.code == 0, made.err
    decided = ("eval", "--generated", tmp_path / "made", *folder, "--deciders", "oracle")
    assert dqa(*decided, "--databases", "sqlite,duckdb").code == 0
    ran = dqa(*decided, "--databases", "ladybug")
    assert ran.code != 0
    assert "[[nodes]]" in ran.err


def test_python_takes_a_folder_in_place_of_a_name(site: Path) -> None:
    """As every command does."""
    import dqa as toolkit

    made = toolkit.generate([str(site / "branch_office" / "branches")], 2)
    assert [question.key for question in made.questions] == ["branches/1", "branches/2"]
    assert made.questions == generate(["branches"], 2).questions


def test_the_documented_questions_of_one_scenario_are_scored_in_place(
    dqa: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/evaluation.md as it is written: a line has its target, and no answer."""
    monkeypatch.setattr(catalogue, "_registered", {})
    monkeypatch.chdir(tmp_path)
    documented(tmp_path / "branches", "")
    with closing(sqlite3.connect("firm.db")) as database, database:
        database.execute("CREATE TABLE branch (name TEXT, revenue REAL, rent REAL, wages REAL)")
        rows = [("Leeds", 90, 20, 60), ("York", 80, 20, 40), ("Hull", 70, 30, 25)]
        database.executemany("INSERT INTO branch VALUES (?, ?, ?, ?)", rows)
    text = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    (block,) = re.findall(r"```bash\n(echo .*?)```", text, re.DOTALL)
    written, command = block.strip().splitlines()
    _, line, _, file = shlex.split(written)
    Path(file).write_text(f"{line}\n", "utf-8")
    ran = dqa(*shlex.split(command)[1:])
    assert ran.code == 0, ran.err
    assert re.search(r"oracle\s.*100\.0 \(1/1\)", ran.out)
    assert re.search(r"first\s.*100\.0 \(1/1\)", ran.out)  # Hull: 15, York: 20
