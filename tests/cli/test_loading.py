"""Loading situations into databases, listing them, dropping them, and looking at databases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


@pytest.mark.parametrize("suffix", ["db", "duckdb", "lbug"])
def test_a_file_is_loaded_once_listed_and_dropped(
    dqa: Command, generated: Path, tmp_path: Path, suffix: str
) -> None:
    """Loading again finds what is there; unloading leaves nothing behind."""
    file = tmp_path / f"world.{suffix}"
    load = ("load", "--generated", generated, "--question", "locating/1", "--database", file)
    first, second = (json.loads(dqa(*load, "--json").out) for _ in range(2))
    assert [entry["done"] for entry in (*first, *second)] == ["loaded", "was there"]
    (held,) = json.loads(dqa("list", "--database", file, "--json").out)
    assert held["content_hash"] == first[0]["content_hash"]
    assert held["rows"] == first[0]["rows"]
    gone = dqa("load", "--drop", held["namespace"], "--database", file)
    assert gone.code == 0
    assert "unloaded" in gone.out


def test_a_file_of_somebody_elses_is_left_alone(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """Whatever is there stays, byte for byte."""
    file = tmp_path / "mine.db"
    file.write_bytes(b"my own notes")
    load = ("load", "--generated", generated, "--question", "locating/1", "--database", file)
    assert dqa(*load).code != 0
    assert file.read_bytes() == b"my own notes"


def test_the_doctor_sees_what_works_and_what_does_not(
    dqa: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is broken is told from what nobody set up; no password is shown."""
    for name in ("MYSQL", "POSTGRES", "NEO4J", "SQLALCHEMY"):
        monkeypatch.delenv(f"DQA_{name}_URL", raising=False)
    healthy = dqa("doctor", "--json")
    assert healthy.code == 0
    found = {entry["database"]: entry for entry in json.loads(healthy.out)}
    assert {"sqlite", "ladybug", "duckdb"} <= set(found)
    for name in ("sqlite", "ladybug", "duckdb"):
        assert (found[name]["state"], found[name]["problem"]) == ("works", None)
    for name in ("mysql", "postgres", "neo4j"):
        assert found[name]["state"] == "not configured"
        assert f"DQA_{name.upper()}_URL" in found[name]["problem"]
    monkeypatch.setenv("DQA_MYSQL_URL", "mysql+pymysql://me:hush-hush@127.0.0.1:1/x")
    ill = dqa("doctor")
    assert ill.code == 1
    assert "broken          mysql at" in ill.out
    assert "Is the server running there?" in ill.out
    assert "hush-hush" not in ill.out + ill.err


def test_a_driver_that_nothing_needs_is_no_fault(
    dqa: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is one as soon as a URL asks for it; either way the command that installs it is named."""
    monkeypatch.delenv("DQA_MYSQL_URL", raising=False)
    monkeypatch.setattr("dqa.databases.base.find_spec", lambda name: None)
    lacking = dqa("doctor", "--json")
    found = {entry["database"]: entry for entry in json.loads(lacking.out)}
    assert lacking.code == 0
    assert found["mysql"]["state"] == found["duckdb"]["state"] == "not installed"
    assert '[mysql]"' in found["mysql"]["problem"]
    assert "DQA_MYSQL_URL" in found["mysql"]["problem"]
    monkeypatch.setenv("DQA_MYSQL_URL", "mysql://me:x@127.0.0.1:1/x")
    needed = dqa("doctor", "--json")
    found = {entry["database"]: entry for entry in json.loads(needed.out)}
    assert (needed.code, found["mysql"]["state"]) == (2, "broken")
    assert '[mysql]"' in found["mysql"]["problem"]
