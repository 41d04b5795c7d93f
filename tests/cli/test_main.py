"""The command line as a whole: help, versions, errors and exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from typer.main import get_command

from dqa.cli import main
from dqa.cli.help import GROUPS


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


@pytest.mark.parametrize("name", sorted(every_command()))
def test_every_command_and_every_option_has_help_and_a_group(name: str) -> None:
    """Whoever adds one without is told here; groups are few, and the same everywhere."""
    command = every_command()[name]
    assert command.help, name
    for parameter in command.params:
        assert parameter.help, f"{name}: {parameter.name}"
        if parameter.param_type_name == "option":
            assert parameter.rich_help_panel in GROUPS, f"{name}: {parameter.name}"
            assert parameter.is_flag or parameter.metavar, f"{name}: {parameter.name}"


@pytest.mark.parametrize("name", ["", "dellma", *sorted(every_command())])
def test_help_fits_and_cuts_no_word(
    dqa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """At 80 columns; no type of Python leaks, and each word is in one piece."""
    monkeypatch.setenv("COLUMNS", "80")
    out = dqa(*name.split(), "--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"<\w+>|\[\[|\[default|x>=", out)
    words = " ".join(out.split())
    for option in every_command()[name].params if name in every_command() else ():
        assert " ".join(option.help.split()) in words


def test_rules_are_a_file_and_a_rule_set_is_a_name() -> None:
    """One meaning each, in every command that has them."""
    options = [option for command in every_command().values() for option in command.params]
    given = {name: option.metavar for option in options for name in option.opts}
    assert (given["--rules"], given["--rule-set"]) == ("FILE", "NAME")
    for option in options:
        expected = {"--rules": "FILE", "--rule-set": "NAME"}.get(option.opts[0])
        assert expected in (None, option.metavar)


@pytest.mark.parametrize("name", ["", *sorted(commands())])
def test_help_is_printed_for_every_command(dqa: Callable[..., Any], name: str) -> None:
    """Help is plain text and no error."""
    ran = dqa(*([name] if name else []), "--help")
    assert ran.code == 0
    assert ran.out.startswith("Usage: ")
    assert "\x1b" not in ran.out


def test_the_version_is_the_packages(dqa: Callable[..., Any]) -> None:
    """One line, for bug reports."""
    assert dqa("--version").out == f"dqa {version('decision-qa')}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["evl"], 2, "eval"),
        (["eval", "--nothing"], 2, "--nothing"),
        (["eval", "--generate", "0"], 2, "--generate"),
        (["eval"], 2, "--release DIR"),
        (["eval", "--generate", "1", "--release", "x"], 2, "once"),
        (["eval", "--generate", "1", "--deciders", "planrug"], 2, "Did you mean 'planrag'?"),
        (["eval", "--generate", "1", "--databases", "oracle"], 2, "ladybug, mysql"),
        (["eval", "--generate", "1", "--scenarios", "cooking"], 2, "building, locating"),
        (["eval", "--generate", "1", "--scenarios", ","], 2, "--scenarios names nothing"),
        (["eval", "--generate", "1", "--model", "scripted:oracle"], 2, "analyst"),
        (["eval", "--generate", "1", "--model", "gpt"], 2, "provider:model"),
        (["eval", "--resume", "nowhere"], 2, "nowhere does not exist"),
        (["eval", "--generate", "1", "--rule-set", "fair"], 2, "paper, released"),
        (["eval", "--release", "no/such/folder"], 2, "no/such/folder"),
        (["show", "locating/99", "--generate", "1"], 2, "locating/1"),
        (["ask", "--database", "no.db", "--question", "?"], 2, "no.db"),
        (["ask", "--database", "no.db", "--question", "?", "--rules", "no.md"], 2, "no.md"),
        (["annotate", "--generate", "1", "--rule-set", "fair"], 2, "paper, released"),
        (["annotate", "--generate", "1", "--rule-set", "clean"], 2, "'building' called 'clean'"),
        (["eval", "--generate", "1", "--rule-set", "clean"], 2, "There are: paper, released"),
        (["audit", "--release", "no/such/folder"], 2, "no/such/folder"),
        (["schema", "no.such"], 2, "'no.such' does not exist, and its name does not say"),
    ],
)
def test_what_cannot_be_is_one_clear_line(
    dqa: Callable[..., Any], arguments: list[str], code: int, words: str
) -> None:
    """Exit code 2 for usage and 1 for failure, the reason on stderr, nothing on stdout."""
    ran = dqa(*arguments)
    assert ran.code == code
    assert ran.out == ""
    assert words in ran.err
    assert "Traceback" not in ran.err
    last = ran.err.splitlines()[-1]
    assert last.lower().startswith("error: ")


def test_a_wrong_value_is_told_under_the_usage_that_the_help_has(dqa: Callable[..., Any]) -> None:
    """Without the words of the library that found it out."""
    ran = dqa("eval", "--protocol", "reat")
    assert "Invalid value for '--protocol': 'reat' is not one of 'react', 'tools'." in ran.err
    usage, asked = dqa("results", "--nothing").err, dqa("results", "--help").out
    assert usage.splitlines()[0].endswith("dqa results [OPTIONS] RUN")
    assert asked.splitlines()[0].endswith("dqa results [OPTIONS] RUN")


def test_a_missing_key_names_the_variable(
    dqa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is read or asked."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = dqa("eval", "--generate", "1", "--model", "openai:some-model")
    assert (ran.code, ran.out) == (2, "")
    assert "OPENAI_API_KEY" in ran.err


def test_a_bug_keeps_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only errors of the project's own tree become a line."""

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main, "app", broken)
    with pytest.raises(ZeroDivisionError):
        main.run()
    assert capsys.readouterr().err == ""


def test_help_loads_nothing_heavy() -> None:
    """Whoever only asks for help does not wait for numerics, agents or databases."""
    heavy = "{'numpy', 'scipy', 'langchain_core', 'langgraph', 'sqlalchemy', 'ladybug', 'pyarrow'}"
    code = f"import sys, dqa.cli.main; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
