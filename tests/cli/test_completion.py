"""A shell completes names: of options, deciders, scenarios, databases, sets and formats."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from dqa.cli import completion
from dqa.cli.completion import by_target

FOUND = """
import sys
from dqa.cli.main import app
try:
    app(prog_name="dqa")
except SystemExit:
    heavy = {"scipy", "langchain_core", "langgraph", "sqlalchemy", "ladybug", "duckdb"}
    print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dqa anal", {"analyse"}),
        ("dqa eval --deciders planrag,dellma-p", {"planrag,dellma-pairs"}),
        ("dqa eval --deciders first,firs", set()),
        ("dqa eval --scenarios agriculture,loc", {"agriculture,locating"}),
        ("dqa eval --databases sqlite,lady", {"sqlite,ladybug"}),
        ("dqa eval --set hard", {"hard-1"}),
        ("dqa eval --model scripted:", {"scripted:analyst", "scripted:greedy", "scripted:random"}),
        ("dqa eval --protocol t", {"tools"}),
        ("dqa generate --resist ora", {"oracle"}),
        ("dqa ask --scenario buil", {"building"}),
        ("dqa list --settings self", {"self-consistency"}),
        ("dqa check --dialect mar", {"mariadb"}),
        ("dqa init --databa", {"--database"}),
        ("dqa formats decision", {"decision_tree"}),
        ("dqa dellma por", {"portfolio"}),
    ],
)
def test_names_are_completed_without_the_world(line: str, found: set[str]) -> None:
    """What was typed before in a list stays, what is in it already is not offered again."""
    done = subprocess.run(
        [sys.executable, "-c", FOUND],
        env={
            **os.environ,
            "_DQA_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == found
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("", ["region=", "kind="]),
        ("re", ["region="]),
        ("region=", ["region=East", "region=North", "region=South West"]),
        ("region=S", ["region=South West"]),
        ("kind=", []),
        ("nothing=", []),
    ],
)
def test_a_target_is_completed_by_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, found: list[str]
) -> None:
    """Keys first, then values that may be read; nothing, and no word, without such a database."""
    monkeypatch.setattr(completion, "_PATIENCE", 60.0)  # however busy the machine is
    folder, file = tmp_path / "branches", tmp_path / "firm.db"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO, "utf-8")
    (folder / "rules.md").write_text("1. More is better.", "utf-8")
    (folder / "question.txt").write_text("Which one of $region, a $kind?", "utf-8")
    with sqlite3.connect(file) as opened:
        opened.execute("CREATE TABLE branch (name TEXT, region TEXT, profit REAL)")
        rows = [("a", "North"), ("b", "South West"), ("c", "East"), ("d", "North")]
        opened.executemany("INSERT INTO branch VALUES (?, ?, 1.0)", rows)
    opened.close()

    def offered(database: Path, policy: Path | None = None) -> list[str]:
        context = typer.Context(get_command(typer.Typer(callback=lambda: None)))
        context.params = {"scenario": str(folder), "database": str(database), "target": []}
        context.params["policy"] = policy
        return by_target(context, given)

    assert offered(file) == found
    policy = tmp_path / "policy.json"
    policy.write_text('{"masks": {"branch.region": "***"}}', "utf-8")
    masked = ["region=***"] if given == "region=" else []
    assert offered(file, policy) == (masked if "=" in given else found)
    assert offered(tmp_path / "none.db") == ([] if "=" in given else found)


SCENARIO = """
name = "branches"
candidates = { noun = "branch", table = "branch", column = "name" }
outcomes = { unit = "profit", goal = "maximise", source = "recorded" }
parameters = { region = { table = "branch", column = "region" }, kind = {} }
[[tables]]
name = "branch"
key = ["name"]
columns = [{ name = "name", type = "text" }, { name = "region", type = "text" }]
"""
