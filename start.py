#!/usr/bin/env python3
"""Install dqa into .venv and run it. Only Python 3.11, 3.12 or 3.13 is required.

    python3 start.py eval [OPTIONS]       evaluate four agents on generated questions
    python3 start.py test [ARGS]          run the quick tests
    python3 start.py lint                 check style and types
    python3 start.py install              install everything for development
    python3 start.py check [ARGS]         run lint and all tests except the deep tests
    python3 start.py check --deep [ARGS]  run only the deep tests
    python3 start.py dqa ARGS             run any dqa command

OPTIONS are options of 'dqa eval'; the tests accept the arguments of pytest as ARGS. The commands
check, lint and install need a C++ compiler and make. If uv is installed, it installs the packages;
otherwise pip does.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "dqa.stamp"  # exists only while .venv is complete
EXTRAS = ["openai", "test", "dev"]  # each extra includes the previous one
SOURCES = {"--generate", "--generated", "--questions", "--release", "--resume", "--spec"}
LINT = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
# All tests of a file run on one worker, which starts the servers of its fixtures only once.
PYTEST = ["pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
QUICK = [*PYTEST, "-m", "not slow and not deep and not integration", "-r", "fEX"]


def main(words: list[str]) -> int:
    """Run a command, and return its exit code."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return fail("dqa needs Python 3.11, 3.12 or 3.13. Run start.py with one of these.")
    command, rest = (words[0], words[1:]) if words else ("help", [])
    if command == "check" and "--deep" in rest:
        command, rest = "check --deep", [word for word in rest if word != "--deep"]
    commands = {
        "eval": ("openai", [["dqa", "eval", *add_defaults(rest)]]),
        "test": ("test", [[*QUICK, *rest]]),
        "lint": ("dev", LINT),
        "install": ("dev", []),
        "check": ("dev", [*LINT, [*PYTEST, "-m", "not deep", *rest]]),
        "check --deep": ("dev", [[*PYTEST, "-m", "deep", *rest]]),
        "dqa": ("openai", [["dqa", *rest]]),
    }
    if command in ("help", "-h", "--help"):
        print(__doc__)
        return 0
    if command not in commands:
        return fail(f"There is no command {command!r}. 'python3 start.py help' lists them.", 2)
    extra, programs = commands[command]
    folder: Path | None = ROOT
    if extra == "openai":
        # Messages of dqa suggest commands that start with DQA_COMMAND. The user's folder remains
        # the current folder, because paths in ARGS are relative to it.
        os.environ["DQA_COMMAND"] = f"python3 {shlex.quote(sys.argv[0])} dqa"
        folder = None
    return set_up(extra) or run(programs, folder)


def add_defaults(words: list[str]) -> list[str]:
    """Add defaults to the options of `eval`: generated questions and a new folder."""
    named = {word.partition("=")[0] for word in words}
    if not SOURCES & named:
        words = ["--generate", "25", "--seed", "1", *words]
    if not {"--out", "--resume", "--help", "-h"} & named:
        number = 1
        while Path("runs", f"eval-{number}").exists():
            number += 1
        words = [*words, "--out", str(Path("runs", f"eval-{number}"))]
    return words


def set_up(extra: str) -> int:
    """Install the project with an extra if it is not installed yet. Return an exit code."""
    state = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    done = STAMP.read_text().split() if STAMP.is_file() else ["", extra]
    if done[0] == state and EXTRAS.index(done[1]) >= EXTRAS.index(extra):
        return 0
    try:
        code = install(extra)
    except KeyboardInterrupt:
        return fail("Interrupted: .venv is incomplete. The next start creates it again.", 130)
    if code == 0:
        STAMP.write_text(f"{state} {extra}\n")
    return code


def install(extra: str) -> int:
    """Create .venv if necessary, and install the project with an extra. Return an exit code."""
    missing = [tool for tool in ("g++", "make") if extra == "dev" and not shutil.which(tool)]
    if missing:
        return fail(
            f"Missing: {' and '.join(missing)}. The planner of the text worlds must be compiled. "
            "Install g++ and make (on Debian or Ubuntu: apt install g++ make) and start again."
        )
    python = str(BIN / "python")
    if not STAMP.is_file() or not shutil.which(python):
        say("Creating .venv")
        shutil.rmtree(VENV, ignore_errors=True)  # an interrupted start may have created a part
        if subprocess.call([sys.executable, "-P", "-m", "venv", str(VENV)]):
            return fail(
                "The virtual environment could not be created. If Python's venv module is "
                "missing, install it (on Debian or Ubuntu: apt install python3-venv)."
            )
    STAMP.unlink(missing_ok=True)
    say("Installing packages into .venv; this takes a few minutes")
    pip = [python, "-P", "-m", "pip", "install", "--no-input", "--quiet"]
    uv = ["uv", "pip", "install", "--python", python, "--quiet"]
    wanted = [] if extra == "dev" else ["--only-binary", ":all:"]
    wanted += ["--editable", f"{ROOT}[{extra}]"]
    # Some packages call 'python' during their build; .venv contains it.
    paths = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    # uv ignores the settings of pip, so try pip if uv fails.
    for installer in [uv, pip] if shutil.which("uv") else [pip]:
        if subprocess.call(installer + wanted, env=paths, stdout=sys.stderr) == 0:
            return 0
    return fail("The packages could not be installed. The reason is above.")


def run(commands: list[list[str]], folder: Path | None) -> int:
    """Run programs of .venv until one fails. Return its exit code, or 0 if none fails."""
    # The programs start many processes. Without cached bytecode, each compiles every module again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name, *words in commands:
        process = subprocess.Popen([str(BIN / name), *words], cwd=folder)
        while process.returncode is None:
            try:
                process.wait()
            except KeyboardInterrupt:  # the program received the signal too, and will end
                continue
        if process.returncode:
            return process.returncode
    return 0


def say(text: str) -> None:
    """Print to standard error."""
    print(text, file=sys.stderr, flush=True)


def fail(message: str, code: int = 1) -> int:
    """Print an error message, and return an exit code."""
    say(f"error: {message}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
