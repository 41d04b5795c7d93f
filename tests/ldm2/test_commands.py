"""``dqa memory build`` and ``dqa memory refine``: options and what they print."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dqa import plugins
from dqa.core.errors import DqaError, UsageError
from dqa.core.trajectories import Trajectory
from dqa_ldm2 import building
from dqa_ldm2.commands.main import app
from dqa_ldm2.memory.opening import open_memory
from tests.ldm2.rooms import ROOMS, experts

COMMON = ("--world", "rooms", "--memory", "kept.db")


@pytest.fixture(autouse=True)
def _rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let commands know the world of the tests, and run where nothing is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "expert_trajectories", _shown)
    monkeypatch.setattr(plugins, "world", {"rooms": ROOMS}.__getitem__)


def _shown(
    factory: Any, seeds: Sequence[int], settings: Any, *, player: str
) -> Iterable[Trajectory]:
    assert player == "expert"
    return experts(factory, seeds, settings)


def run(*arguments: str) -> Any:
    """Run a command, and return what it printed."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def test_a_memory_is_built_and_refined() -> None:
    """What was made is told in one line, by whom; then in JSON."""
    with pytest.raises(UsageError, match="dqa memory build"):
        run("refine", *COMMON, "--games", "3")
    built = run("build", *COMMON, "--games", "6", "--batch", "4")
    assert "kept.db: by scripted:analyst" in built.stdout
    assert "20 tuples of 6 trajectories in 2 new batches" in built.stdout
    with open_memory("kept.db") as kept:
        assert kept.batches() == (1, 2)
    elsewhere = ("--set", "rooms.usual=0.3", "--set", "rooms.steps=6", "--depth", "7")
    told = run("refine", *COMMON, "--games", "3", *elsewhere, "--json")
    report = json.loads(told.stdout)
    assert [one["source"] for one in report["goals"]] == [f"rooms {100_000 + n}" for n in range(3)]
    assert [one["batch"] for one in report["goals"]] == [1, 2, 1]
    lines = run("refine", *COMMON, "--games", "3", *elsewhere)
    assert "of 3 games brought more than before" in lines.stdout
    assert "replies on exploring" in lines.stdout
    assert lines.stderr.count("rooms 10000") == 3


def test_where_nothing_can_be_kept_nothing_is_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder that is not there, or a file that is no memory, is told before any game."""

    def play(*_: object, **__: object) -> Iterable[Trajectory]:
        raise AssertionError

    monkeypatch.setattr(building, "expert_trajectories", play)
    (tmp_path / "notes.db").write_text("no database, but some notes of somebody\n" * 99)
    for place in ("nowhere/kept.db", "notes.db"):
        with pytest.raises(DqaError):
            run("build", "--world", "rooms", "--games", "6", "--memory", place)
    assert not (tmp_path / "nowhere").exists()
