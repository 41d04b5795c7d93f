"""What files, databases and models say never acts on a terminal, whichever command prints it."""

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
from tests.models.model_server import ModelServer

ACTS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066\r\x08\x7f\u2028\u200b"
"""Clears, names a window, colours, turns the direction of text, goes back, and hides."""
NAME = f"Bell{ACTS}"


def acting(text: str) -> set[str]:
    """Return the characters of a text that do something unseen."""
    return {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} and c != "\n"}


def require_quiet(ran: Ran, *, shows: bool = True) -> Ran:
    """Check that a command said something about the name, and that nothing of it acts."""
    said = ran.out + ran.err
    assert not acting(said), repr(said)
    assert "Traceback" not in said
    if shows:
        assert "\\x1b[2J" in said or "\\u001b[2J" in said, said
    return ran


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database whose table, columns and cells are named so."""
    path = tmp_path / "shop.db"
    table, column = f'"supplier{ACTS}"', f'"name{ACTS}"'
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {table} ({column} TEXT PRIMARY KEY, price REAL)")
        connection.execute(
            f"INSERT INTO {table} VALUES (?, 1.0), ('Castle', 2.0), (?, 3)",
            (NAME, "a\x00b"),
        )
        connection.execute(f"CREATE TABLE wild AS SELECT * FROM {table}")
        connection.execute("CREATE TABLE plain (name TEXT)")
        connection.execute("INSERT INTO plain VALUES (?)", (NAME,))
        connection.commit()
    return path


@pytest.fixture
def own(shop: Path) -> Path:
    """Questions whose every word is hostile."""
    line = {
        "id": f"1{ACTS}",
        "question": f"Which supplier {ACTS}?\nIt should be cheap.",
        "rules": f"Be brief.{ACTS}",
        "candidates": [NAME, "Castle"],
        "answer": NAME,
        "tags": [f"price{ACTS}"],
    }
    file = shop.with_name("buying.jsonl")
    file.write_text(json.dumps(line) + "\n", "utf-8")
    return file


def test_tables_and_cells_are_spelt_out(dqa: Command, shop: Path) -> None:
    """In tables, in JSON and in the schema."""
    for more in ((), ("--json",)):
        assert require_quiet(dqa("query", shop, "SELECT * FROM wild", *more)).code == 0
    cells = json.loads(dqa("query", shop, "SELECT name FROM plain", "--json").out)["rows"]
    assert cells == [[NAME]], "JSON says what is there, in its own way"
    for command in (
        ("schema", shop),
        ("schema", shop, "--samples", 2),
        ("list", "--database", shop),
    ):
        require_quiet(dqa(*command), shows=command[0] == "schema")
    missing = dqa("query", shop, "SELECT nothing FROM plain")
    require_quiet(missing, shows=False)
    require_quiet(dqa("query", shop, f'SELECT "x{ACTS}y"."z" FROM plain'), shows=False)
    require_quiet(dqa("query", shop, 'SELECT "x\x1b[2J" FROM wild'))


def test_a_pipe_has_csv_as_it_is_and_a_terminal_has_not(
    dqa: Command, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program reads exact data; a terminal is not driven by it."""
    statement = ("query", shop, "SELECT *, 'a\nb' FROM wild", "--csv")
    header, first, *_ = csv.reader(io.StringIO(dqa(*statement).out, newline=""))
    assert (header[0], first[0], first[2]) == (f"name{ACTS}", NAME, "a\nb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    shown = require_quiet(dqa(*statement)).out
    assert "a\nb" in shown


def test_questions_are_spelt_out(dqa: Command, own: Path, tmp_path: Path) -> None:
    """Shown, decided, listed and traced."""
    about = ("--questions", own, "--database", own.with_name("shop.db"))
    key = f"buying/1{ACTS}"
    require_quiet(dqa("show", key, *about))
    require_quiet(dqa("annotate", *about), shows=False)
    run = tmp_path / "run"
    ended = require_quiet(dqa("eval", *about, "--deciders", "first,random", "--out", run))
    assert ended.code == 0, ended.err
    for command in (
        ("results", run),
        ("results", run, "--question", key),
        ("trace", run),
        ("trace", run, key),
        ("trace", run, key, "--decider", "first"),
        ("analyse", run),
        ("runs", tmp_path),
        ("show", f"buying/{ACTS}", *about),
        ("trace", run, f"no{ACTS}"),
    ):
        require_quiet(dqa(*command), shows=command[0] not in {"runs", "analyse"})


def test_models_and_their_servers_are_spelt_out(dqa: Command, shop: Path, tmp_path: Path) -> None:
    """Replies, refusals, and what went wrong."""
    asked: tuple[object, ...] = (
        "ask",
        "--database",
        shop,
        "--question",
        f"Whom{ACTS}?",
        "--candidate",
        NAME,
    )
    asked = (*asked, "--candidate", "Castle", "--model", "openai:m", "--retries", 0)
    said = f"Plan:\n1. Look. {ACTS}\nThought: {ACTS}\nAction: query_database\n"
    said += f"Action Input: SELECT {ACTS}"
    with ModelServer(lambda _: said) as served:
        told = dqa(*asked, "--base-url", served.url, "--max-steps", 2, "--trace", tmp_path / "t")
        require_quiet(told)
        require_quiet(dqa("trace", tmp_path / "t", "--full"))
    with ModelServer(lambda _: f"Final Answer: {NAME}") as served:
        require_quiet(dqa(*asked, "--base-url", served.url, "--decider", "iterrag"))
    require_quiet(dqa(*asked, "--base-url", f"http://127.0.0.1:1/{ACTS}"), shows=False)
