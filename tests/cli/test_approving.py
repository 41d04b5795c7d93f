"""`dqa ask --approve`: a person at a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.models.model_server import answering
from tests.sqlite_files import WAREHOUSES, run_script

LOOK = (
    "Plan:\n1. Find the dearest\n2. Decide\nThought: \x1b[31mlook\nAction: query_database\n"
    "Action Input: SELECT name FROM warehouse"
)
AGAIN = "Thought: look\nAction: query_database\nAction Input: SELECT cost FROM warehouse"
SOUTH, NORTH = "Thought: done\nFinal Answer: South", "Thought: done\nFinal Answer: North"
_AT_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal on standard input the one whose keys send signals."""
_PATIENCE = 90.0
INTERRUPT = "\x03"
CHOICES, MORE, WHY = "[q]uit: ", "> ", "no reason): "


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Two warehouses."""
    return run_script(tmp_path / "sales.db", WAREHOUSES)


def at_terminal(
    sales: Path, replies: Sequence[str], typed: Sequence[tuple[str, str]], *options: object
) -> tuple[int, str]:
    """Run the real command at a terminal: after what it prompts, what a person types."""
    with answering(*replies) as server:
        words = [
            *(sys.executable, "-m", "dqa", "ask", "--database", str(sales), "--decider", "planrag"),
            *("--question", "Which closes?", "--candidates", "SELECT name FROM warehouse"),
            *("--model", "openai:x", "--base-url", server.url, *map(str, options)),
        ]
        terminal, inner = pty.openpty()
        given = {"TERM": "dumb", "OPENAI_API_KEY": "k", "COLUMNS": "100"}
        process = subprocess.Popen(
            [sys.executable, "-c", _AT_TERMINAL, *words],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env=os.environ | given,
            start_new_session=True,
        )
        os.close(inner)
        with os.fdopen(terminal, "rb+", buffering=0) as screen, process:
            try:
                shown = _talk(screen, list(typed))
            except BaseException:
                process.kill()
                raise
    return process.returncode, shown


def _talk(screen: Any, typed: list[tuple[str, str]]) -> str:
    shown, seen = "", 0
    while True:
        if not select.select([screen], [], [], _PATIENCE)[0]:
            pytest.fail(f"It waits for what nobody types, behind:\n{shown}")
        try:
            came = screen.read(4096)
        except OSError:  # the other end is closed: the command has ended
            return shown
        if not came:
            return shown
        shown += came.decode().replace("\r\n", "\n")
        if typed and shown[seen:].endswith(typed[0][0]):
            seen, (_, keys) = len(shown), typed.pop(0)
            if keys == INTERRUPT:
                time.sleep(0.5)  # an interrupt between a prompt and its read would be lost
            screen.write(keys.encode())


@pytest.mark.slow
def test_a_person_edits_rejects_and_approves(sales: Path, tmp_path: Path) -> None:
    """Line by line; the record has who, what and why."""
    trace = tmp_path / "trace.json"
    typed = [
        *((CHOICES, "abort\n"), (CHOICES, "e\n"), (MORE, "Find the cost\n"), (MORE, "Decide\n")),
        *((MORE, "\n"), (CHOICES, "a\n"), (CHOICES, "r\n"), (WHY, "South is cheap\n")),
        (CHOICES, "a\n"),
    ]
    options = ("--approve", "plan,statement,decision", "--approved-by", "ada", "--trace", trace)
    code, shown = at_terminal(sales, (LOOK, AGAIN, SOUTH, NORTH), typed, *options)
    assert (code, "Choice: North" in shown) == (0, True)
    assert (
        "Reviewed by ada: 1 plan corrected, 1 statement approved, 1 decision refused, "
        "1 decision approved"
    ) in shown
    assert "Step 1: plan\nThought: \\x1b[31mlook\n1. Find the dearest\n2. Decide\n" in shown
    assert "SELECT cost FROM warehouse\nThe guard allows the statement" in shown
    record = json.loads(trace.read_text("utf-8"))
    assert record["plans"] == ["1. Find the cost\n2. Decide"]
    reviews = [event for event in record["trace"] if event["kind"] == "review"]
    assert [(one["about"], one["action"], one["by"], one["reason"]) for one in reviews] == [
        ("plan", "correct", "ada", ""),
        ("statement", "approve", "ada", ""),
        ("decision", "refuse", "ada", "South is cheap"),
        ("decision", "approve", "ada", ""),
    ]


@pytest.mark.slow
def test_ctrl_c_keeps_the_trace(sales: Path, tmp_path: Path) -> None:
    """The end is an interrupt's, 130; what was asked and answered so far is kept."""
    trace = tmp_path / "trace.json"
    typed = [(CHOICES, "a\n"), (CHOICES, INTERRUPT)]
    options = ("--approve", "plan,statement", "--trace", trace)
    code, shown = at_terminal(sales, (LOOK, AGAIN, NORTH), typed, *options)
    assert code == 128 + signal.SIGINT
    assert "Answer:" not in shown
    record = json.loads(trace.read_text("utf-8"))
    assert record["ending"] == "stopped"
    assert record["plans"] == ["1. Find the dearest\n2. Decide"]
    assert record["error"].endswith("in the review of a statement: interrupted.")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--approve", "plan"), "needs a terminal"),
        (("--approve", "plans"), "Did you mean 'plan'?"),
        (("--approved-by", "ada"), "needs --approve"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is(
    dqa: Command, sales: Path, options: tuple[str, ...], words: str
) -> None:
    """Exit code 2, and no word from a model."""
    with answering(LOOK) as server:
        ran = dqa(
            *("ask", "--database", sales, "--question", "?", "--decider", "planrag"),
            *("--model", "openai:x", "--base-url", server.url, *options),
        )
    assert (ran.code, words in ran.err) == (2, True)
    assert server.requests == []
