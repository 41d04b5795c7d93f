"""``dqa memory show|search|undo|export``: read a memory, and correct it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa_ldm2 import Origin, open_memory
from tests.cli.conftest import Command
from tests.ldm2.memory_contract import form, make_tuple, trajectories


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Return a memory of two batches, refined once."""
    file = tmp_path / "memory.db"
    with open_memory(file, create=True) as opened:
        form(opened, trajectories(4), batch_size=2)
        opened.add(
            [make_tuple("a [red]lamp[/red]\x1b[31m", "look")], Origin("refinement", "r", "m"), 1
        )
    return file


def test_a_memory_is_shown(dqa: Command, memory: Path) -> None:
    """Versions and batches, the types of one, those of a goal type; as tables and as JSON."""
    shown = dqa("memory", "show", memory)
    assert shown.code == 0
    assert "9 tuples in 2 batches, 3 versions" in shown.out
    assert "refinement" in shown.out
    told = json.loads(dqa("memory", "show", memory, "--json").out)
    assert [each["tuples"] for each in told["batches"]] == [5, 4]
    assert told["versions"][2]["model"] == "m"
    types = json.loads(dqa("memory", "show", memory, "--batch", "1", "--json").out)
    assert sum(each["size"] for each in types) == 5
    of_batch = dqa("memory", "show", memory, "--batch", 1).out
    assert ", batch 1: 5 tuples in " in of_batch.splitlines()[0]
    seen = dqa("memory", "show", memory, "--batch", 1, "--goal-type", "put")
    assert ", batch 1, goal type 'put': " in seen.out.splitlines()[0]
    assert "[red]lamp[/red]" in seen.out
    assert "\x1b" not in seen.out
    nothing = dqa("memory", "show", memory, "--batch", 1, "--goal-type", "x")
    assert (nothing.code, "no goal type 'x'. There are: " in nothing.err) == (2, True)
    wrong = dqa("memory", "show", memory, "--goal-type", "put")
    assert (wrong.code, "--batch" in wrong.err) == (2, True)
    assert dqa("memory", "show", memory, "--batch", 9).code == 2
    missing = dqa("memory", "show", memory.with_name("none.db"))
    assert (missing.code, "dqa memory build" in missing.err) == (2, True)


def test_tuples_are_searched(dqa: Command, memory: Path) -> None:
    """By words, the most like first."""
    (first, *_) = json.loads(dqa("memory", "search", memory, "a red lamp", "--json").out)
    assert (first["action"], first["source"]) == ("look", "home 1")
    assert "look" in dqa("memory", "search", memory, "lamp", "--most", 1).out
    assert "No tuple" in dqa("memory", "search", memory, "zebra").out


def test_an_addition_is_undone_once(dqa: Command, memory: Path) -> None:
    """A version that is undone, or that does not exist, is refused."""
    assert "is undone" in dqa("memory", "undo", memory, 3).out
    again = dqa("memory", "undo", memory, 3)
    assert (again.code, "already" in again.err) == (2, True)
    assert "no version 9" in dqa("memory", "undo", memory, 9).err
    assert ", undone" in dqa("memory", "show", memory).out


def test_a_memory_is_exported(dqa: Command, memory: Path, tmp_path: Path) -> None:
    """Whole, or as it was at a version."""
    file = tmp_path / "all.jsonl"
    assert "9 tuples" in dqa("memory", "export", memory, file).out
    assert file.read_text("utf-8").count("look") > 0
    part = dqa("memory", "export", memory, tmp_path / "part.jsonl", "--version", 1, "--json")
    assert json.loads(part.out)["tuples"] == 4
