"""The structure that docs/architecture.md promises."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dqa import plugins
from dqa.core.errors import UnknownNameError

ROOT = Path(__file__).parents[1]
CONTRACTS = {"errors", "situation", "question", "decision", "simulator", "secrets"}
MAY_IMPORT = {
    "scenarios": CONTRACTS,
    "databases": CONTRACTS | {"databases"},
    "deciders": CONTRACTS | {"databases", "deciders", "loaders", "plugins", "models"},
    "models": CONTRACTS | {"databases", "models"},
    "loaders": CONTRACTS | {"scenarios", "databases", "plugins", "loaders"},
}


def modules() -> Iterator[tuple[Path, set[str]]]:
    """Every module of `dqa` with the absolute names it imports anywhere."""
    for path in sorted((ROOT / "dqa").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        yield path, names


def test_dqa_imports_no_plug_in_package() -> None:
    """Agents and simulators are found by entry point only."""
    for path, names in modules():
        assert not [n for n in names if n.startswith(("dqa_planrag", "dqa_simulators"))], path


def test_data_flows_one_way() -> None:
    """No package imports one that comes after it."""
    for path, names in modules():
        parts = path.relative_to(ROOT / "dqa").parts
        if parts[0] not in MAY_IMPORT:
            continue
        allowed = MAY_IMPORT[parts[0]] | {parts[0]}
        used = {n.split(".")[1] for n in names if n.startswith("dqa.")}
        assert used <= allowed | {"__version__"}, f"{path}: {sorted(used - allowed)}"


def test_nothing_but_the_query_layer_talks_to_a_driver() -> None:
    """Everything else reads through `Database`."""
    drivers = {"sqlite3", "sqlalchemy", "ladybug", "pymysql", "psycopg", "duckdb", "neo4j"}
    for path, names in modules():
        if path.relative_to(ROOT / "dqa").parts[0] == "databases":
            continue
        assert not {n.split(".")[0] for n in names} & drivers, path


@pytest.mark.parametrize("heavy", ["langgraph", "scipy", "pyarrow", "langchain_core", "ladybug"])
def test_help_needs_no_heavy_import(heavy: str) -> None:
    """The command line answers before any of these is loaded."""
    script = f"import sys, dqa.cli.main; sys.exit({heavy!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_an_unknown_plug_in_lists_what_there_is() -> None:
    """The message names every decider."""
    with pytest.raises(UnknownNameError, match=r"iterrag.*planrag.*singlerag"):
        plugins.decider("nobody")
