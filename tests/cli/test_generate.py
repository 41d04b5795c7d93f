"""`dqa data generate`: mixes and named sets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dqa as api
from tests.stored import record_of


def test_a_resumed_run_knows_its_set(dqa: Callable[..., Any], tmp_path: Path) -> None:
    """The spec of a run names it, and reads back as it."""
    few = ("--deciders", "first", "--databases", "sqlite", "--scenarios", "building")
    run = ("eval", "--set", "hard-1", *few, "--limit", "2", "--out", tmp_path / "run")
    assert dqa(*run).code == 0
    spec = record_of(tmp_path / "run")["spec"]
    assert spec["questions"] == {
        "source": "set",
        "name": "hard-1",
        "scenarios": ["building"],
        "limit": 2,
    }
    assert len(api.RunSpec.from_json(spec).questions.read().questions) == 2
    assert dqa("eval", "--resume", tmp_path / "run").code == 0
