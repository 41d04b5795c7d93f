"""Commands that do no work wait for nothing, and one broken plug-in hides no other."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dqa.cli import main
from tests.programs import run_python
from tests.sqlite_files import run_script

ENGINES = ("duckdb", "ladybug", "neo4j", "psycopg", "pyarrow", "pymysql", "sqlalchemy")
AGENTS = ("httpx", "langchain", "langchain_core", "langgraph", "langsmith", "openai")
NUMERICS = ("networkx", "numpy", "scipy")

RUNNING = """
import contextlib, io, json, sys
from dqa.cli.main import run

imported = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["dqa", *arguments]
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"SELECT 1\\n"))
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        try:
            run()
        except SystemExit as ended:
            code = ended.code or 0
    names = {name.split(".")[0] for name in sys.modules} | set(sys.modules)
    imported.append([code, sorted(names)])
print(json.dumps(imported))
"""
"""Run commands one after the other; print their exit codes and the imported modules after each."""


def too_much(*commands: tuple[Sequence[str], Sequence[str]]) -> list[object]:
    """Run commands in a new interpreter; return those that failed or imported banned modules."""
    done = run_python("-c", RUNNING, json.dumps([words for words, _ in commands]), check=True)
    return [
        (words, code, found)
        for (words, banned), (code, names) in zip(commands, json.loads(done.stdout), strict=True)
        if (found := sorted({*banned} & {*names})) or code
    ]


def test_commands_that_do_no_work_import_nothing_heavy() -> None:
    """No engine, no LangChain and no numerics; help and version are the lightest."""
    light = (*ENGINES, *AGENTS, *NUMERICS, "jinja2")
    listing = (*light, "sqlglot", "rich")
    lightest = (*listing, "pydantic")
    group: Any = get_command(main.app)
    ours = [name for name in group.commands if name not in {"dellma", "memory"}]
    helps = [(name, "--help") for name in ours]
    assert not too_much(
        (("--help",), lightest),
        (("--version",), lightest),
        (("list", "--json"), listing),
        (("list", "--settings", "first"), listing),
        (("data", "formats"), listing),
        *((words, (*light, "sqlglot")) for words in (*helps, ("dellma", "tree", "--help"))),
    )
    checks = [("check", "--dialect", dialect) for dialect in ("sqlite", "neo4j")]
    assert not too_much(*((words, (*light, "rich")) for words in checks))


def test_a_statement_and_a_baseline_import_no_framework_and_no_statistics(
    tmp_path: Path, release_dir: Path
) -> None:
    """A query needs its driver and the guard; a baseline needs no model."""
    file = run_script(tmp_path / "shop.db", "CREATE TABLE supplier (name TEXT)")
    banned = (*AGENTS, *NUMERICS, "pandas", "statsmodels", "pyarrow", "jinja2", "ray")
    specs = ("dqa.evaluation", "dqa.scenarios")
    run = ("eval", "--release", str(release_dir), "--limit", "1", "--scenarios", "locating")
    assert not too_much(
        (("query", str(file), "SELECT 1"), (*banned, *specs)),
        (("schema", str(file)), (*banned, *specs)),
        (
            (*run, "--deciders", "first", "--databases", "sqlite"),
            (*AGENTS, "pyarrow", "ladybug", "duckdb", "scipy.stats"),
        ),
    )


def test_help_says_of_every_command_what_its_docstring_says() -> None:
    """The list of commands imports none of them, and has the first sentence of each."""
    group: Any = get_command(main.app)
    sentences = {name: text for rows in group.sections().values() for name, text in rows}
    assert list(sentences) == list(group.commands)
    assert len(sentences) - len({"data", "games", "dellma", "memory"}) == 16
    for name in list(sentences)[:16]:
        first = (group.commands[name].help or "").split("\n\n")[0]
        assert " ".join(first.split()) == sentences[name]


BROKEN = {
    "missing": "import no_such_module_anywhere\n",
    "syntax": "def broken(:\n",
    "raising": "1 / 0\n",
    "nothing": 'def other():\n    """No help."""\n',
    "contract": "'''Mine.'''\nclass Plugin:\n    name = 'contract'\n\n\nPLUGIN = Plugin()\n",
}


@pytest.fixture
def with_broken(tmp_path: Path) -> dict[str, str]:
    """An environment in which plug-ins of every kind are installed that cannot be used."""
    site = tmp_path / "site"
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("deciders", "databases", "commands", "readers", "formats")
    lines = [
        f"[dqa.{group}]\n" + "".join(f"{name} = broken_{name}:PLUGIN\n" for name in BROKEN)
        for group in groups
    ]
    lines[0] += "react = broken_missing:PLUGIN\n"  # LDM2 has a decider of this name
    (info / "entry_points.txt").write_text("".join(lines))
    for name, text in BROKEN.items():
        (site / f"broken_{name}.py").write_text(text)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def ran(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where broken plug-ins are installed."""
    return run_python("-m", "dqa", *arguments, env=environment)


def test_a_listing_survives_what_cannot_be_loaded(with_broken: dict[str, str]) -> None:
    """Each says why, and every other is listed. Only the docstring of a module is its help."""
    helped = re.findall(r"(\w+) +(?:Commands of \1|Mine)\.\n", ran(with_broken, "--help").stdout)
    assert helped == sorted(BROKEN)
    listed = ran(with_broken, "list", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    document = json.loads(listed.stdout)
    for kind, whole in (("deciders", {"planrag", "first"}), ("databases", {"sqlite", "neo4j"})):
        entries = {entry["name"]: entry["description"] for entry in document[kind]}
        assert whole <= set(entries)
        assert not [name for name in whole if "cannot" in entries[name]]
        told = {name: entries[name] for name in BROKEN}
        assert "ModuleNotFoundError: No module named 'no_such_module" in told["missing"]
        assert "SyntaxError" in told["syntax"]
        assert "ZeroDivisionError" in told["raising"]
        assert "has no attribute 'PLUGIN'" in told["nothing"]
        assert "has the wrong type" in told["contract"]
        if kind == "deciders":
            assert re.search(r"2 packages .*'react': broken_missing.*, dqa_ldm2", entries["react"])
        assert not [line for line in told.values() if "\n" in line]
