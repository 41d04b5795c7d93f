"""The command line as a whole: help, versions, errors and exit codes."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import pytest
from typer.main import get_command

from dqa.cli import main
from dqa.cli.help import GROUPS, RARE
from tests.cli.conftest import Command


def commands() -> dict[str, Any]:
    """Return every command by name."""
    return dict(get_command(main.app).commands)  # type: ignore[attr-defined]


def every_command() -> dict[str, Any]:
    """Return every command and every command of a command, by what is typed."""
    found: dict[str, Any] = {}
    for name, command in commands().items():
        inner = getattr(command, "commands", {})
        found |= {f"{name} {below}": one for below, one in inner.items()} or {name: command}
    return found


def test_every_command_and_every_option_has_help_and_a_group() -> None:
    """Groups are few, and the same everywhere."""
    lacking = []
    for name, command in every_command().items():
        lacking += [name] if not command.help else []
        for option in command.params:
            has_group = option.param_type_name != "option" or (
                option.rich_help_panel in GROUPS and (option.is_flag or option.metavar)
            )
            lacking += [] if option.help and has_group else [f"{name}: {option.name}"]
    assert lacking == []


def test_help_fits_and_cuts_no_word(dqa: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain text at 80 columns; no type of Python leaks, and each word is in one piece."""
    monkeypatch.setenv("COLUMNS", "80")
    wrong = []
    for name, command in {"": None, "dellma": None, **every_command()}.items():
        ran = dqa(*name.split(), "--help" if command is None else "--help-all")
        words = " ".join(ran.out.split())
        told = [" ".join(one.help.split()) for one in getattr(command, "params", ())]
        if (
            ran.code
            or not ran.out.startswith("Usage: ")
            or "\x1b" in ran.out
            or max(map(len, ran.out.splitlines())) > 80
            or re.search(r"<\w+>|\[\[|\[default|x>=", ran.out)
            or not all(text in words for text in told)
        ):
            wrong.append(name)
    assert wrong == []


def test_help_is_short_and_names_what_lists_the_rest(dqa: Command) -> None:
    """Few options of a run are needed often."""
    short, long = (dqa("eval", option).out for option in ("--help", "--help-all"))
    assert short.count("\n  --") <= 25 < long.count("\n  --")
    assert "--help-all lists all options." in short
    assert "--help-all" not in long
    text = " ".join(dqa("--help").out.split())
    groups = [one for one in commands().values() if hasattr(one, "commands")]
    assert all(" ".join(one.help.split()) in text for one in groups)
    assert {option.name for one in every_command().values() for option in one.params} >= RARE


def test_the_version_is_the_packages(dqa: Command) -> None:
    """One line, for bug reports."""
    assert dqa("--version").out == f"dqa {version('decision-qa')}\n"


def test_a_missing_key_names_the_variable(dqa: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is read or asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = dqa("eval", "--generate", "1", "--model", "openai:some-model")
    assert (ran.code, ran.out) == (2, "")
    assert "OPENAI_API_KEY" in ran.err


def test_a_bug_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only errors of the project's own tree become a line."""

    def broken(**_settings: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main, "app", broken)
    with pytest.raises(ZeroDivisionError):
        main.run()
    assert capsys.readouterr().err == ""
