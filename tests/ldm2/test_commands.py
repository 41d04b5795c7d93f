"""``dqa memory``: build and refine memories on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dqa import plugins
from dqa.core.decider import Trajectory
from dqa.core.errors import DqaError, UsageError
from dqa_ldm2 import building, open_memory
from dqa_ldm2.commands.main import app
from tests.ldm2.rooms import ROOMS, experts

COMMON = ("--world", "rooms", "--memory", "rooms.db")


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Register the world of the tests for commands, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(building, "expert_trajectories", experts)
    monkeypatch.setattr(plugins, "world", {"rooms": ROOMS}.__getitem__)


def run(*arguments: str) -> Any:
    """Run a command and return its result."""
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.usefixtures("rooms")
def test_a_memory_is_built_and_refined() -> None:
    """The result is one line that names the model, or JSON."""
    with pytest.raises(UsageError, match="dqa memory build"):
        run("refine", *COMMON, "--games", "3")
    built = run("build", *COMMON, "--games", "6", "--batch", "4")
    assert "rooms.db: by scripted:analyst" in built.stdout
    assert "of 6 trajectories in 2 new batches" in built.stdout
    again = json.loads(run("build", *COMMON, "--games", "6", "--json").stdout)
    assert (again["there"], again["tuples"]) == (6, 0)
    shop = ("--preset", "paper-shop", *COMMON[:3], "shop.db")
    run("build", *shop, "--games", "60")
    with open_memory("rooms.db") as two_tuples, open_memory("shop.db") as other:
        assert two_tuples.batches() == (1, 2)
        assert any(one.subgoals for one in two_tuples.tuples())
        assert other.batches() == (1,)
        assert not any(one.subgoals for one in other.tuples())
    elsewhere = ("--set", "rooms.usual=0.3", "--set", "rooms.steps=6", "--depth", "7")
    result = run("refine", *COMMON, "--games", "3", *elsewhere, "--json")
    report = json.loads(result.stdout)
    assert [one["source"] for one in report["goals"]] == [f"rooms {100_000 + n}" for n in range(3)]
    assert [one["batch"] for one in report["goals"]] == [1, 2, 1]
    lines = run("refine", *COMMON, "--games", "3", *elsewhere)
    assert " of 3 games" in lines.stdout
    assert " for exploring" in lines.stdout
    assert lines.stderr.count("rooms 10000") == 3
    run("refine", *shop, "--games", "8", *elsewhere)
    with open_memory("shop.db") as other:
        assert other.sources("refinement")
        assert not any(one.subgoals for one in other.tuples())


def test_a_program_of_the_world_plays_by_default(tmp_path: Path) -> None:
    """Also in a world without an expert."""
    memory = str(tmp_path / "memory.db")
    for world in ("shop", "company"):
        run("build", "--world", world, "--games", "1", "--memory", memory)
    with open_memory(memory) as found:
        assert found.batches() == (1, 2)


@pytest.mark.usefixtures("rooms")
def test_nothing_is_played_without_a_location_for_the_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A missing folder, another file, or two sources are errors before any game."""

    def never(*_: object, **__: object) -> Iterable[Trajectory]:
        raise AssertionError

    monkeypatch.setattr(building, "expert_trajectories", never)
    (tmp_path / "notes.db").write_text("not a database, but some notes\n" * 99)
    for location in ("nowhere/rooms.db", "notes.db"):
        with pytest.raises(DqaError):
            run("build", "--world", "rooms", "--games", "6", "--memory", location)
    assert not (tmp_path / "nowhere").exists()
    for wrong in (
        ("build", "--memory", "m.db"),
        ("build", *COMMON),
        ("refine", *COMMON, "--games", "2", "--paths", "65"),
        ("refine", *COMMON, "--games", "2", "--depth", "1001"),
        ("refine", *COMMON, "--games", "2", "--retrieved", "101"),
    ):
        result = CliRunner().invoke(app, wrong)
        assert result.exit_code == 2
        assert wrong[-2] in result.output or "Missing option" in result.output
