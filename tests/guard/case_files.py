"""The case files of the guard: statements, policies and their verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("guard_cases")


def read_cases(name: str) -> Any:
    """Return the content of a JSON file."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def dialect_cases(dialect: str) -> list[dict[str, Any]]:
    """Return a dialect's attacks and harmless statements, each with its verdict."""
    lines = (FOLDER / f"{dialect}.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]
