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
    gone = dqa("unload", held["namespace"], "--database", file)
    assert gone.code == 0
    assert "unloaded" in gone.out


def test_a_file_that_holds_one_situation_is_not_given_two(
    dqa: Command, generated: Path, tmp_path: Path
) -> None:
    """The message names the option that picks one."""
    ran = dqa("load", "--generated", generated, "--database", tmp_path / "all.db")
    assert ran.code == 2
    assert "--question" in ran.err
    assert not (tmp_path / "all.db").exists()


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
    """Embedded databases work, a server that is away is told from them, no password is shown."""
    for name in ("MYSQL", "POSTGRES", "NEO4J"):
        monkeypatch.delenv(f"DQA_{name}_URL", raising=False)
    healthy = dqa("doctor", "--json")
    assert healthy.code == 0
    found = {entry["database"]: entry for entry in json.loads(healthy.out)}
    assert {"sqlite", "ladybug", "duckdb"} <= set(found)
    assert not any(entry["problem"] for entry in found.values())
    monkeypatch.setenv("DQA_MYSQL_URL", "mysql+pymysql://me:hush-hush@127.0.0.1:1/x")
    ill = dqa("doctor")
    assert ill.code == 1
    assert "FAILED  mysql" in ill.out
    assert "hush-hush" not in ill.out + ill.err


def test_a_server_without_a_url_names_the_variable(
    dqa: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says where its URL belongs."""
    monkeypatch.delenv("DQA_POSTGRES_URL", raising=False)
    ran = dqa("eval", "--generate", "1", "--databases", "postgres")
    assert ran.code == 2
    assert "DQA_POSTGRES_URL" in ran.err


def test_a_run_that_could_judge_nothing_fails_and_says_why(
    dqa: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that never answers is neither a score nor a success."""
    monkeypatch.setenv("DQA_MYSQL_URL", "mysql+pymysql://me:hush-hush@127.0.0.1:1/x")
    ran = dqa(
        *("eval", "--generate", "1", "--databases", "mysql", "--deciders", "first"),
        *("--patience", "0"),
    )
    assert ran.code == 1
    assert "failed: 2 runs:" in ran.err
    assert "hush-hush" not in ran.out + ran.err
