"""Commands that do no work wait for nothing, and one broken plug-in hides no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from dqa.cli import main

ENGINES = ("duckdb", "ladybug", "neo4j", "psycopg", "pyarrow", "pymysql", "sqlalchemy")
AGENTS = ("httpx", "langchain", "langchain_core", "langgraph", "langsmith", "openai")
NUMERICS = ("networkx", "numpy", "scipy")

TRACED = """
import json, sys
from dqa.cli.main import run
try:
    run()
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "also"),
    [
        (("--help",), ("pydantic", "sqlglot", "rich", "jinja2")),
        (("--version",), ("pydantic", "sqlglot", "rich", "jinja2")),
        (("list",), ("sqlglot", "rich", "jinja2")),
        (("list", "--json"), ("sqlglot", "rich", "jinja2")),
        (("list", "--settings", "first"), ("sqlglot", "rich", "jinja2")),
        (("formats",), ("sqlglot", "rich", "jinja2")),
        (("check", "--dialect", "sqlite"), ("rich", "jinja2")),
        (("check", "--dialect", "neo4j"), ("rich", "jinja2")),
        *(((name, "--help"), ("jinja2", "sqlglot")) for name in main._COMMANDS),
        (("dellma", "--help"), ("jinja2", "sqlglot")),
        (("dellma", "replay", "--help"), ("jinja2", "sqlglot", "threadpoolctl")),
    ],
)
def test_nothing_heavy_is_imported(arguments: tuple[str, ...], also: tuple[str, ...]) -> None:
    """No engine and no LangChain, and no numerics either where nothing is counted."""
    done = subprocess.run(
        [sys.executable, "-c", TRACED, *arguments],
        capture_output=True,
        check=True,
        input=b"SELECT 1\n",
    )
    imported = set(json.loads(done.stderr.splitlines()[-1]))
    assert imported & {*ENGINES, *AGENTS, *NUMERICS, *also} == set()


def test_a_run_without_agents_imports_no_framework_for_them_and_no_statistics(
    release_dir: Path,
) -> None:
    """A baseline on one question waits for neither LangChain nor SciPy's distributions."""
    run = ("eval", "--release", str(release_dir), "--limit", "1", "--scenarios", "locating")
    command = [sys.executable, "-c", TRACED.replace('.split(".")[0]', ""), *run]
    command += ["--deciders", "first", "--databases", "sqlite"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    imported = set(json.loads(done.stderr.splitlines()[-1]))
    assert imported & {*AGENTS, "pyarrow", "ladybug", "duckdb", "scipy.stats"} == set()


def test_help_says_of_every_command_what_its_docstring_says() -> None:
    """The list of commands imports none of them, so it has the sentences itself."""
    commands = get_command(main.app).commands  # type: ignore[attr-defined]
    assert set(commands) > {"eval", "ask", "list", "dellma"}
    for name, (_, sentence) in main._COMMANDS.items():
        first = " ".join((commands[name].help or "").split("\n\n")[0].split())
        assert first == sentence


BROKEN = {
    "missing": "import no_such_module_anywhere\n",
    "syntax": "def broken(:\n",
    "raising": "1 / 0\n",
    "nothing": "OTHER = 1\n",
    "contract": "class Plugin:\n    name = 'contract'\n\n\nPLUGIN = Plugin()\n",
}


@pytest.fixture
def with_broken(tmp_path: Path) -> dict[str, str]:
    """An environment in which plug-ins of every kind are installed that cannot be used."""
    site = tmp_path / "site"
    info = site / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("deciders", "databases", "commands", "events", "readers", "formats")
    lines = [
        f"[dqa.{group}]\n" + "".join(f"{name} = broken_{name}:PLUGIN\n" for name in BROKEN)
        for group in groups
    ]
    (info / "entry_points.txt").write_text("".join(lines))
    for name, text in BROKEN.items():
        (site / f"broken_{name}.py").write_text(text)
    return {**os.environ, "PYTHONPATH": str(site)}


def ran(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command where broken plug-ins are installed."""
    return subprocess.run(
        [sys.executable, "-m", "dqa", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_listing_survives_what_cannot_be_loaded(with_broken: dict[str, str]) -> None:
    """Each says why, and every other is listed."""
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
        assert "breaks its contract: it is of type" in told["contract"]
        assert not [line for line in told.values() if "\n" in line]


@pytest.mark.parametrize(
    "name",
    [
        "missing",
        *(pytest.param(name, marks=pytest.mark.slow) for name in BROKEN if name != "missing"),
    ],
)
def test_what_is_broken_is_one_line_where_it_is_named(
    with_broken: dict[str, str], name: str
) -> None:
    """As a decider, as a command, as a format."""
    for arguments in (
        ("eval", "--generate", "1", "--deciders", name),
        (name,),
        ("formats", name),
    ):
        done = ran(with_broken, *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: The ")
        assert f"'{name}' is registered as broken_{name}:PLUGIN" in line


@pytest.mark.slow
def test_what_is_broken_is_in_nobodys_way(with_broken: dict[str, str], tmp_path: Path) -> None:
    """A run that names none of it works, its traces are read, and help is printed."""
    out = str(tmp_path / "run")
    run = ("eval", "--generate", "1", "--deciders", "first", "--databases", "sqlite", "--out", out)
    assert ran(with_broken, *run).returncode == 0
    assert ran(with_broken, "trace", out, "locating/1").returncode == 0
    shown = ran(with_broken, "--help")
    assert shown.returncode == 0
    assert "What belongs to raising alone." in shown.stdout
    assert ran(with_broken, "show", "locating/1", "--generate", "1").returncode == 0
