"""The one file that sets everything up."""

from __future__ import annotations

import os
import pty
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

START = Path(__file__).parents[1] / "start.py"
DEMO = ["dqa", "eval", "--generate", "25", "--seed", "1"]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """The file's functions, with an environment that is there and commands that only report."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DQA_COMMAND", "")  # so that what is set is taken back
    return runpy.run_path(str(START), run_name="start")


def commands(start: dict[str, Any], *arguments: str) -> list[tuple[list[str], str | None]]:
    """What a call of the file would run, and where."""
    ran: list[tuple[list[str], str | None]] = []
    scope = start["main"].__globals__
    scope["set_up"] = lambda extra: 0

    def call(command: list[str], folder: str | None = None) -> int:
        ran.append((command, folder))
        return 0

    scope["call"] = call
    assert start["main"](list(arguments)) == 0
    return [([Path(command[0]).name, *command[1:]], folder) for command, folder in ran]


def test_eval_brings_its_own_questions_unless_some_are_named(start: dict[str, Any]) -> None:
    """Any other option goes with the demonstration's questions."""
    kept = ["--out", "runs/eval-1"]
    assert commands(start, "eval") == [([*DEMO, *kept], None)]
    assert commands(start, "eval", "--json") == [([*DEMO, "--json", *kept], None)]
    for named in (
        ["--release=x"],
        ["--questions", "mine.jsonl"],
        ["--set", "hard-1"],
        ["--set=hard-1"],
    ):
        assert commands(start, "eval", *named) == [(["dqa", "eval", *named, *kept], None)]
    setting = ["--set", "dellma.samples=16"]
    assert commands(start, "eval", *setting) == [([*DEMO, *setting, *kept], None)]


def test_eval_keeps_its_run_in_a_folder_that_is_not_there_yet(start: dict[str, Any]) -> None:
    """Nothing is overwritten, and a folder that the user names is the only one."""
    for number in (1, 2):
        Path("runs", f"eval-{number}").mkdir(parents=True)
    assert commands(start, "eval") == [([*DEMO, "--out", "runs/eval-3"], None)]
    for named in (["--out", "mine"], ["--out=mine"], ["--help"]):
        assert commands(start, "eval", *named) == [([*DEMO, *named], None)]
    resumed = ["--resume", "runs/eval-1"]
    assert commands(start, "eval", *resumed) == [(["dqa", "eval", *resumed], None)]


def test_tests_run_in_the_checkout_and_commands_where_the_user_is(start: dict[str, Any]) -> None:
    """A relative path in a command is the user's."""
    (ran,) = commands(start, "test", "-x")
    quick = ["pytest", "-n", "auto", "-m", "not slow", "-r", "fEX"]
    assert ran == ([*quick, "-x"], str(START.parent))
    assert commands(start, "dqa", "list") == [(["dqa", "list"], None)]


def test_every_gate_runs_before_the_tests(start: dict[str, Any]) -> None:
    """Lint, format, types, and every test; what is said is said to the tests."""
    ran = [command for command, _ in commands(start, "check", "-x")]
    assert [command[0] for command in ran] == ["ruff", "ruff", "mypy", "pytest"]
    assert ran[-1] == ["pytest", "-n", "auto", "-x"]
    assert "-x" not in ran[0] + ran[1] + ran[2]


def test_hints_name_commands_as_they_were_started(
    start: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What dqa prints can be pasted, from a folder with a blank, too."""
    monkeypatch.setattr(sys, "argv", ["a b/start.py"])
    commands(start, "eval")
    assert os.environ["DQA_COMMAND"] == "python3 'a b/start.py' dqa"


def test_an_unknown_command_lists_what_there_is() -> None:
    """One line, exit code 1, nothing set up."""
    done = subprocess.run(
        [sys.executable, str(START), "evla"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: There is no command 'evla'. There are: check, dqa,")
    assert "Did you mean 'eval', or dqa's own 'dqa evla'?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_python_that_will_not_do_hands_over_to_one_that_will(
    start: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A name that stands for nothing, as version managers leave them, is passed over."""
    start["main"].__globals__["VERSIONS"] = (97, 98, 99)
    for name, text in {"python3.99": "exit 127", "python3.98": 'echo "$@"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert start["main"](["eval", "--limit", "1"]) == 0
    assert capfd.readouterr().out == f"{START} eval --limit 1\n"
    (tmp_path / "python3.98").unlink()
    assert start["main"](["eval"]) == 1
    err = capfd.readouterr().err
    assert err.startswith("error: dqa needs Python 3.97 to 3.99, this is 3.")
    assert "python3.99, python3.98, python3.97" in err
    assert err.count("\n") == 1


PIP = """
import sys, time
print("Collecting numpy>=2.1 (from decision-qa==1)", flush=True)
{collected}
print("Installing collected packages: numpy, scipy", flush=True)
{installed}
"""
SET_UP = """
import os, pathlib, runpy, sys
scope = runpy.run_path({start!r}, run_name="start")["main"].__globals__
venv = pathlib.Path({venv!r})
python = venv / "bin" / "python"
scope.update(VENV=str(venv), BIN=str(python.parent), PYTHON=str(python))
scope["UNFINISHED"] = str(venv / "unfinished")
def make(steps):
    steps.begin("making the environment")
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\\nexec " + sys.executable + " " + {pip!r} + "\\n")
    python.chmod(0o755)
    return 0
scope["make_venv"] = make
sys.exit(scope["set_up"]("dev"))
"""


def set_up(folder: Path, collected: str = "", installed: str = "") -> list[str]:
    """Return the command that sets a folder up, with a pip that does this at its two stages."""
    pip = folder / "pip.py"
    pip.write_text(PIP.format(collected=collected, installed=installed))
    text = SET_UP.format(start=str(START), venv=str(folder / "venv"), pip=str(pip))
    return [sys.executable, "-c", text]


def said(command: list[str]) -> tuple[int, list[str]]:
    """Run the command; return its exit code and its lines without the seconds."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return done.returncode, [line.partition(" s  ")[2] or line for line in done.stderr.splitlines()]


STEPS = [
    "Setting up .venv: making the environment",
    "Setting up .venv: collecting packages",
    "Setting up .venv: installing packages (2)",
    "Setting up .venv: done",
]


def test_setting_up_says_each_step_once_and_is_done_once(tmp_path: Path) -> None:
    """In a pipe a line a step; nothing where all is there; again where the project changed."""
    assert said(set_up(tmp_path)) == (0, STEPS)
    assert said(set_up(tmp_path)) == (0, [])
    (tmp_path / "venv" / "dqa-dev.stamp").write_text("of another pyproject.toml")
    assert said(set_up(tmp_path)) == (0, STEPS[1:])


def test_a_terminal_shows_what_pip_is_at(tmp_path: Path) -> None:
    """One line that is written over and over, and nothing that stays."""
    theirs, ours = pty.openpty()
    waiting = "import pathlib\nwhile not pathlib.Path({!r}).exists(): time.sleep(0.05)"
    go_on = tmp_path / "go-on"
    command = set_up(tmp_path, waiting.format(str(go_on)))
    with subprocess.Popen(command, stderr=ours, stdin=subprocess.DEVNULL) as process:
        os.close(ours)
        shown = b""
        while b"collecting packages  Collecting numpy>=2.1" not in shown:
            shown += os.read(theirs, 1024)
        go_on.touch()
        assert process.wait() == 0
    os.close(theirs)
    assert b"(from" not in shown
    assert b"\n" not in shown


def test_what_pip_says_at_last_is_the_error(tmp_path: Path) -> None:
    """No network, a full disk: pip's own words below one line, and the next start goes on."""
    failing = 'sys.exit("ERROR: [Errno 28] No space left on device")'
    code, lines = said(set_up(tmp_path, collected=failing))
    assert code == 1
    assert lines[:2] == STEPS[:2]
    assert lines[2].startswith("error: The packages could not be installed.")
    assert lines[3:] == [
        "    Collecting numpy>=2.1 (from decision-qa==1)",
        "    ERROR: [Errno 28] No space left on device",
    ]
    assert said(set_up(tmp_path)) == (0, STEPS[1:])


def test_packages_that_are_there_in_part_are_installed_anew(tmp_path: Path) -> None:
    """Pip would take them for installed: the next start begins with an empty folder."""
    code, _ = said(set_up(tmp_path, installed='sys.exit("ERROR: killed")'))
    assert code == 1
    rest = tmp_path / "venv" / "half-a-package"
    rest.touch()
    assert said(set_up(tmp_path)) == (0, STEPS)
    assert not rest.exists()


def test_an_interrupt_ends_with_one_line_and_the_next_start_recovers(tmp_path: Path) -> None:
    """While packages are being installed; pip is not left behind."""
    command = set_up(tmp_path, installed="print('here', flush=True); time.sleep(300)")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "installing" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()  # ends when nobody holds the pipe any more, pip included
        assert process.wait() == 130
    assert rest == (
        "error: Interrupted: .venv is not complete yet. The same command begins again.\n"
    )
    assert said(set_up(tmp_path)) == (0, STEPS)


def test_of_two_starts_at_once_the_second_waits_for_the_first(tmp_path: Path) -> None:
    """It would otherwise take the folder away that the first is filling."""
    go_on = tmp_path / "go-on"
    waiting = f"import pathlib\nwhile not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.05)"
    command = set_up(tmp_path, installed=waiting)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        while "installing" not in first.stderr.readline():
            assert first.poll() is None
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as second:
            assert second.stderr is not None
            assert "waiting for another start" in second.stderr.readline()
            go_on.touch()
            assert second.wait() == 0
            assert second.stderr.read() == ""
        assert first.wait() == 0


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A read-only checkout or a full disk, before pip is asked."""
    (tmp_path / "venv").mkdir()
    command = set_up(tmp_path)
    (tmp_path / "venv" / "bin").touch()
    code, (step, line) = said(command)
    assert (code, step) == (1, STEPS[0])
    assert line.startswith("error: The environment ")
    assert line.endswith("could not be written: File exists.")
