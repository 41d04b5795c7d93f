"""The one file that sets everything up."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

START = Path(__file__).parents[1] / "start.py"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The file's functions, with an environment that is there and commands that only report."""
    return runpy.run_path(str(START), run_name="start")


def commands(start: dict[str, Any], *arguments: str) -> list[tuple[list[str], Path | None]]:
    """What a call of the file would run, and where."""
    ran: list[tuple[list[str], Path | None]] = []
    scope = start["main"].__globals__
    scope["set_up"] = lambda extra: 0

    def call(command: list[str], folder: Path | None = None) -> int:
        ran.append((command, folder))
        return 0

    scope["call"] = call
    assert start["main"](list(arguments)) == 0
    return [([Path(command[0]).name, *command[1:]], folder) for command, folder in ran]


def test_eval_brings_its_own_questions_unless_some_are_named(start: dict[str, Any]) -> None:
    """Any other option goes with the demonstration's questions."""
    demo = ["dqa", "eval", "--generate", "25", "--seed", "1"]
    assert commands(start, "eval") == [(demo, None)]
    assert commands(start, "eval", "--json") == [([*demo, "--json"], None)]
    named = ["dqa", "eval", "--release=x"]
    assert commands(start, "eval", "--release=x") == [(named, None)]
    for named_set in (["--set", "hard-1"], ["--set=hard-1"]):
        assert commands(start, "eval", *named_set) == [(["dqa", "eval", *named_set], None)]
    setting = ["--set", "dellma.samples=16"]
    assert commands(start, "eval", *setting) == [([*demo, *setting], None)]


def test_tests_run_in_the_checkout_and_commands_where_the_user_is(start: dict[str, Any]) -> None:
    """A relative path in a command is the user's."""
    (ran,) = commands(start, "test", "-x")
    assert ran == (["pytest", "-n", "auto", "-x"], START.parent)
    assert commands(start, "dqa", "list") == [(["dqa", "list"], None)]


def test_every_gate_runs_before_the_tests(start: dict[str, Any]) -> None:
    """Lint, format, types, tests."""
    names = [command[0] for command, _ in commands(start, "check")]
    assert names == ["ruff", "ruff", "mypy", "pytest"]


def test_an_unknown_command_lists_what_there_is() -> None:
    """One line, exit code 1, nothing set up."""
    done = subprocess.run(
        [sys.executable, str(START), "evaluate"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: There is no command 'evaluate'. There are: check, dqa,")
    assert done.stderr.count("\n") == 1
