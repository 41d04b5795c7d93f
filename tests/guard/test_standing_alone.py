"""The guard is a product of its own: it knows the contracts, and nothing of databases."""

from __future__ import annotations

import ast
from pathlib import Path

import dqa.guard

FOLDER = Path(dqa.guard.__file__).parent
CORE = {
    *(
        "cypher",
        "database",
        "errors",
        "files",
        "fitting",
        "journal",
        "parts",
        "paths",
        "relevance",
        "run_stores",
        "schema",
        "secrets",
        "session",
        "situation",
        "spans",
        "summaries",
        "turns",
    ),
    "walls",
}


def test_the_guard_imports_the_contracts_alone() -> None:
    """No backend, no loader, no question."""
    for path in sorted(FOLDER.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                if name == "dqa" or name.startswith("dqa."):
                    allowed = [f"dqa.core.{part}" for part in sorted(CORE)]
                    assert name.startswith("dqa.guard") or name in allowed, f"{path}: {name}"
