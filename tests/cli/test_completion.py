"""A shell completes names: of options, deciders, scenarios, databases, sets and formats."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import typer
from typer.main import get_command

from dqa.cli.completion import by_target
from tests.programs import run_python

COMPLETING = """
import contextlib, io, json, os, sys
from dqa.cli.main import app

found = {}
for line in json.loads(sys.argv.pop()):
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    os.environ |= {"_DQA_COMPLETE": "complete_bash"} | words
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        app(prog_name="dqa")
    found[line] = printed.getvalue().split()
print(json.dumps([found, list(sys.modules)]))
"""
HEAVY = {"scipy", "langchain_core", "langgraph", "sqlalchemy", "ladybug", "duckdb"}
NAMES = {
    "dqa anal": {"analyse"},
    "dqa eval --deciders planrag,dellma-p": {"planrag,dellma-pairs"},
    "dqa eval --deciders first,firs": set(),
    "dqa eval --scenarios agriculture,loc": {"agriculture,locating"},
    "dqa eval --databases sqlite,lady": {"sqlite,ladybug"},
    "dqa eval --set hard": {"hard-1"},
    "dqa eval --model scripted:": {"scripted:analyst", "scripted:greedy", "scripted:random"},
    "dqa eval --protocol t": {"tools"},
    "dqa list --settings self": {"self-consistency"},
    "dqa check --dialect mar": {"mariadb"},
    "dqa init --databa": {"--database"},
    "dqa formats decision": {"decision_tree"},
    "dqa dellma por": {"portfolio"},
}


def test_names_are_completed_without_heavy_imports() -> None:
    """What is in a list already stays, and is not offered again."""
    done = run_python("-c", COMPLETING, json.dumps(list(NAMES)), check=True)
    found, imported = json.loads(done.stdout)
    assert {line: set(words) for line, words in found.items()} == NAMES
    assert HEAVY & set(imported) == set()


def test_a_target_is_completed_by_the_database(tmp_path: Path) -> None:
    """Keys first, then values, as a policy shows them."""
    folder, file, policy = tmp_path / "branches", tmp_path / "firm.db", tmp_path / "policy.json"
    folder.mkdir()
    (folder / "scenario.toml").write_text(SCENARIO, "utf-8")
    (folder / "rules.md").write_text("1. More is better.", "utf-8")
    (folder / "question.txt").write_text("Which one of $region, a $kind?", "utf-8")
    policy.write_text('{"masks": {"branch.region": "***"}}', "utf-8")
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("CREATE TABLE branch (name TEXT, region TEXT, profit REAL)")
        rows = [("a", "North"), ("b", "South West"), ("c", "East"), ("d", "North")]
        opened.executemany("INSERT INTO branch VALUES (?, ?, 1.0)", rows)

    def offered(given: str, database: Path = file, policy: Path | None = None) -> list[str]:
        context = typer.Context(get_command(typer.Typer(callback=lambda: None)))
        context.params = {"scenario": str(folder), "database": str(database), "target": []}
        context.params["policy"] = policy
        return by_target(context, given)

    assert offered("") == ["region=", "kind="]
    assert offered("region=") == ["region=East", "region=North", "region=South West"]
    assert offered("region=S") == ["region=South West"]
    assert offered("region=", policy=policy) == ["region=***"]
    assert offered("region=", tmp_path / "none.db") == offered("kind=") == []


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
