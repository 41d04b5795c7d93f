"""Texts of files, databases and models never act on a terminal, whichever command prints them."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import sys
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Ran
from tests.models.model_server import answering

ACTS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066\r\x08\x7f\u2028\u200b"
"""Clears, names a window, colours, turns the direction of text, goes back, and hides."""
NAME = f"Bell{ACTS}"
KEY = f"buying/1{ACTS}"


def acting(ran: Ran) -> set[str]:
    """Return the printed characters that do something unseen."""
    kinds = {"Cc", "Cf", "Zl", "Zp"}
    return {c for c in ran.out + ran.err if unicodedata.category(c) in kinds and c != "\n"}


def spells(ran: Ran) -> bool:
    """Whether a command printed the hostile text, escaped."""
    return "\\x1b[2J" in ran.out + ran.err or "\\u001b[2J" in ran.out + ran.err


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database whose table, columns and cells have hostile names."""
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f'CREATE TABLE "wild{ACTS}" ("name{ACTS}" TEXT, price REAL)')
        connection.execute(f'INSERT INTO "wild{ACTS}" VALUES (?, 1.0), (?, 3)', (NAME, "a\x00b"))
        connection.execute(f'CREATE TABLE wild AS SELECT * FROM "wild{ACTS}"')
    return path


@pytest.fixture
def run(dqa: Command, shop: Path, tmp_path: Path) -> Path:
    """A run on a question whose every word is hostile."""
    line = {"id": f"1{ACTS}", "question": f"Which supplier {ACTS}?", "rules": f"Brief.{ACTS}"}
    line |= {"candidates": [NAME, "Castle"], "answer": NAME, "tags": [f"price{ACTS}"]}  # type: ignore[dict-item]
    (tmp_path / "buying.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    about = ("--questions", tmp_path / "buying.jsonl", "--database", shop)
    ran = dqa("eval", *about, "--deciders", "first,random", "--out", tmp_path / "run")
    assert (ran.code, acting(ran), spells(ran)) == (0, set(), True)
    shown = dqa("data", "question", KEY, *about)
    assert (shown.code, acting(shown), spells(shown)) == (0, set(), True)
    return tmp_path / "run"


@pytest.mark.parametrize(
    "words",
    [
        ("query", "SELECT * FROM wild"),
        ("query", "SELECT * FROM wild", "--json"),
        ("query", 'SELECT "x\x1b[2J" FROM wild'),
        ("schema", "--samples", "2"),
    ],
)
def test_tables_and_cells_are_spelt_out(dqa: Command, shop: Path, words: tuple[str, ...]) -> None:
    """In tables, in JSON, in the text of a statement and in the schema."""
    ran = dqa(words[0], shop, *words[1:])
    assert (ran.code, acting(ran), spells(ran)) == (0, set(), True)
    if "--json" in words:
        assert json.loads(ran.out)["rows"][0][0] == NAME


def test_a_pipe_has_csv_as_it_is_and_a_terminal_has_not(
    dqa: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program reads exact data; a terminal is not driven by it."""
    statement = ("query", shop, "SELECT *, 'a\nb' FROM wild", "--csv")
    header, first, *_ = csv.reader(io.StringIO(dqa(*statement).out, newline=""))
    assert (header[0], first[0], first[2]) == (f"name{ACTS}", NAME, "a\nb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    shown = dqa(*statement)
    assert (acting(shown), spells(shown), "a\nb" in shown.out) == (set(), True, True)


def test_runs_are_spelt_out(dqa: Command, run: Path) -> None:
    """Results, traces, and errors about them."""
    for words in (
        ("show", run),
        ("show", run, KEY),
        ("show", run, KEY, "--decider", "first"),
        ("show", run, f"no{ACTS}"),
    ):
        ran = dqa(*words)
        assert (acting(ran), spells(ran)) == (set(), True), words


def test_models_are_spelt_out(dqa: Command, shop: Path, tmp_path: Path) -> None:
    """Replies, and the errors of servers."""
    asked = ("ask", "--database", shop, "--question", f"Whom{ACTS}?", "--candidate-name", NAME)
    asked = (*asked, "--model", "openai:m", "--retries", 0, "--trace", tmp_path / "t")  # type: ignore[assignment]
    said = f"Plan:\n1. Look {ACTS}\nThought: {ACTS}\nAction: query_database\nAction Input: {ACTS}"
    with answering(said, said) as server:
        ran = dqa(*asked, "--base-url", server.url, "--max-steps", 2)
    traced = dqa("show", tmp_path / "t", "--full")
    gone = dqa(*asked[:-2], "--base-url", f"http://127.0.0.1:1/{ACTS}")
    assert [acting(one) for one in (ran, traced, gone)] == [set()] * 3
    assert spells(ran)
    assert spells(traced)
