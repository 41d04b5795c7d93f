"""``dqa memory build`` and ``dqa memory refine``: options and what they print."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from dqa import plugins
from dqa.core.errors import UsageError
from dqa_ldm2 import building, memories
from dqa_ldm2.commands.building import settings_of
from dqa_ldm2.commands.main import app
from tests.ldm2.kept import Kept, add_subtrajectory
from tests.ldm2.rooms import ROOMS, experts

COMMON = ("--world", "rooms", "--memory", "kept.db")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kept:
    """A memory that commands open, and a world that they know."""
    memory = Kept("kept.db")
    monkeypatch.chdir(tmp_path)
    parts = {
        "dqa.worlds.experts": SimpleNamespace(expert_trajectories=experts),
        "dqa_ldm2.memory.opening": SimpleNamespace(open_memory=lambda _: memory),
        "dqa_ldm2.memory.adding": SimpleNamespace(add_subtrajectory=add_subtrajectory),
    }
    for module in (building, memories):
        monkeypatch.setattr(module, "import_module", parts.__getitem__)
    monkeypatch.setattr("dqa_ldm2.refining.refinement.import_module", parts.__getitem__)
    monkeypatch.setattr(plugins, "world", {"rooms": ROOMS}.__getitem__)
    return memory


def run(*arguments: str) -> Any:
    """Run a command, and return what it printed."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_a_memory_is_built_and_refined(kept: Kept) -> None:
    """What was made is told in one line, by whom; then in JSON."""
    built = run("build", *COMMON, "--games", "6", "--batch", "4")
    assert "kept.db: 24 tuples of 6 games in 2 batches, by scripted:analyst" in built.stdout
    assert kept.batches() == (1, 2)
    with pytest.raises(UsageError, match="dqa memory build"):
        run("refine", *COMMON, "--games", "3")
    Path("kept.db").touch()
    elsewhere = ("--set", "rooms.usual=0.3", "--set", "rooms.steps=6", "--depth", "7")
    told = run("refine", *COMMON, "--games", "3", *elsewhere, "--json")
    report = json.loads(told.stdout)
    assert [one["source"] for one in report["goals"]] == [f"rooms {100_000 + n}" for n in range(3)]
    assert [one["batch"] for one in report["goals"]] == [1, 2, 1]
    lines = run("refine", *COMMON, "--games", "3", *elsewhere)
    assert "of 3 games brought more than before" in lines.stdout
    assert "replies on exploring" in lines.stdout
    assert lines.stderr.count("rooms 10000") == 3
    assert kept.is_closed


def test_a_setting_of_something_else_is_refused() -> None:
    """It says how one is written."""
    assert settings_of("rooms", ["rooms.usual=0.5"]) == {"usual": "0.5"}
    for wrong in ("rooms.usual", "usual=1", "shop.x=1"):
        with pytest.raises(UsageError, match=r"rooms\.NAME=VALUE"):
            settings_of("rooms", [wrong])
