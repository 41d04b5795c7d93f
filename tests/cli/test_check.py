"""`dqa check` says of every statement whether it may run."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Command


def _verdicts(out: str) -> list[bool]:
    return [json.loads(line)["allowed"] for line in out.splitlines()]


def test_plain_text_is_one_statement_a_line(dqa: Command, tmp_path: Path) -> None:
    """Every line gets a line, an empty one too."""
    file = tmp_path / "statements.sql"
    file.write_bytes(b"SELECT 1\n\nDROP TABLE t\r\nSELECT '\xff'")
    ran = dqa("check", "--dialect", "postgres", file)
    assert ran.code == 0
    assert _verdicts(ran.out) == [True, False, False, False]
    assert all(json.loads(line)["reason"] for line in ran.out.splitlines()[1:])


def test_json_lines_have_a_statement_each(dqa: Command, tmp_path: Path) -> None:
    """What is no such line is answered too, and in its place."""
    lines = [
        "",
        json.dumps({"statement": "SELECT 1\nFROM t", "class": "x"}),
        json.dumps({"statement": "DELETE FROM t"}),
        "{",
        json.dumps({"query": "SELECT 1"}),
        json.dumps(["SELECT 1"]),
        json.dumps({"statement": 5}),
        json.dumps({"statement": "SELECT '\ud800'"}),
        "[" * 100_000,
    ]
    file = tmp_path / "statements.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    ran = dqa("check", "--dialect", "sqlite", file)
    assert ran.code == 0
    assert _verdicts(ran.out) == [False, True, *[False] * 7]


def test_standard_input_is_read_where_no_file_is_named(
    dqa: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the whole of it can be one statement."""
    source = b"SELECT a\nFROM t\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(source)))
    assert _verdicts(dqa("check", "--dialect", "sqlite", "--whole").out) == [True]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(source)))
    assert _verdicts(dqa("check", "--dialect", "sqlite").out) == [True, False]


def test_a_policy_can_be_named(dqa: Command, tmp_path: Path) -> None:
    """It opens what it names and closes the rest."""
    policy = tmp_path / "policy.json"
    policy.write_text('{"tables": ["t"], "functions": ["score"]}', "utf-8")
    file = tmp_path / "statements.sql"
    file.write_text("SELECT score(a) FROM t\nSELECT a FROM u\n", "utf-8")
    ran = dqa("check", "--dialect", "mysql", "--policy", policy, file)
    assert _verdicts(ran.out) == [True, False]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--dialect", "oracle"], "There is no dialect 'oracle'"),
        (["--dialect", "mysql", "missing.sql"], "missing.sql cannot be read"),
        (["--dialect", "mysql", "--policy", "missing.json"], "missing.json cannot be read"),
    ],
)
def test_what_cannot_be_checked_is_said(dqa: Command, arguments: list[str], problem: str) -> None:
    """Exit code 2, and no verdict."""
    ran = dqa("check", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert problem in ran.err
