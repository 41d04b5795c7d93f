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
    """Versions and batches, as lines and as JSON."""
    shown = dqa("memory", "show", memory)
    assert shown.code == 0
    assert "9 tuples in 2 batches, 3 versions" in shown.out
    assert "refinement" in shown.out
    told = json.loads(dqa("memory", "show", memory, "--json").out)
    assert [each["tuples"] for each in told["batches"]] == [5, 4]
    assert told["versions"][2]["model"] == "m"
    missing = dqa("memory", "show", memory.with_name("none.db"))
    assert (missing.code, "dqa memory build" in missing.err) == (2, True)


def test_tuples_are_searched(dqa: Command, memory: Path) -> None:
    """By words, the most like first."""
    (first, *_) = json.loads(dqa("memory", "search", memory, "a red lamp", "--json").out)
    assert (first["action"], first["source"]) == ("look", "home 1")
    found = dqa("memory", "search", memory, "lamp", "--most", 1).out
    assert "look" in found
    assert "[red]lamp[/red]" in found
    assert "\x1b" not in found
    assert "No tuple" in dqa("memory", "search", memory, "zebra").out


def test_an_addition_is_undone_once(dqa: Command, memory: Path) -> None:
    """A version that is undone, or that does not exist, is refused."""
    assert "is undone" in dqa("memory", "undo", memory, 3).out
    again = dqa("memory", "undo", memory, 3)
    assert (again.code, "already" in again.err) == (2, True)
    assert "no version 9" in dqa("memory", "undo", memory, 9).err
    assert ", undone" in dqa("memory", "show", memory).out


def test_a_memory_is_exported(dqa: Command, memory: Path, tmp_path: Path) -> None:
    """Into a new file."""
    file = tmp_path / "all.jsonl"
    assert "9 tuples" in dqa("memory", "export", memory, file).out
    assert file.read_text("utf-8").count("look") > 0
    again = dqa("memory", "export", memory, tmp_path / "again.jsonl", "--json")
    assert json.loads(again.out)["tuples"] == 9
