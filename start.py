#!/usr/bin/env python3
"""Set dqa up in a folder of its own and run it. Needs Python 3.11 to 3.13 and nothing else.

    python3 start.py eval            evaluate the four agents on generated questions
    python3 start.py test [ARGS]     run the tests
    python3 start.py check           run every gate: lint, types, tests
    python3 start.py dqa ARGS        run any dqa command

The environment is .venv beside this file; it is made once and renewed when pyproject.toml changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
DEMO = ["--generate", "25", "--seed", "1"]
SOURCES = ("--generate", "--generated", "--release")
VERSIONS = (11, 12, 13)


def main(arguments):
    """Run one of the commands above; return its exit code."""
    if sys.version_info[:2] not in [(3, minor) for minor in VERSIONS]:
        return with_another_python(arguments)
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "-h", "--help"):
        print(__doc__)
        return 0
    runs = {
        "eval": [["dqa", "eval", *([] if names_questions(rest) else DEMO)]],
        "dqa": [["dqa"]],
        "test": [["pytest", "-n", "auto"]],
        "lint": [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    }
    runs["check"] = runs["lint"] + runs["test"]
    if command not in runs:
        return fail("There is no command '%s'. There are: %s." % (command, ", ".join(sorted(runs))))
    code = set_up("dev" if command in ("test", "lint", "check") else "")
    # Questions may be about files beside the user; tests and gates belong to this folder.
    folder = None if command in ("dqa", "eval") else ROOT
    for run in runs[command]:
        code = code or call([str(BIN / run[0]), *run[1:], *rest], folder)
    return code


def names_questions(words):
    """Whether options say where questions come from; --set NAME=VALUE is a setting and does not."""
    if any(word.split("=")[0] in SOURCES for word in words):
        return True
    after = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "--set"]
    joined = [word.split("=", 1)[1] for word in words if word.startswith("--set=")]
    return any("=" not in given for given in after + joined)


def with_another_python(arguments):
    """Run this again with a Python that is recent enough and not too recent."""
    for minor in reversed(VERSIONS):
        other = shutil.which("python3.%d" % minor)
        if other:
            return call([other, str(Path(__file__).resolve()), *arguments])
    given = "%d.%d" % sys.version_info[:2]
    return fail("dqa needs Python 3.%d to 3.%d, this is %s." % (VERSIONS[0], VERSIONS[-1], given))


def set_up(extra):
    """Make or renew the environment; return 0, or the exit code of what failed."""
    stamp = VENV / ("dqa-%s.stamp" % (extra or "base"))
    state = hashlib.sha256(
        (ROOT / "pyproject.toml").read_bytes() + sys.version.encode()
    ).hexdigest()
    if stamp.is_file() and stamp.read_text() == state:
        return 0
    print("Setting up %s (once; a minute or two) ..." % VENV.name, file=sys.stderr)
    if not PYTHON.is_file() and make_venv():
        return fail(
            "No virtual environment could be made. Install Python's venv module (on Debian or "
            "Ubuntu: apt install python3-venv) and run this again."
        )
    target = "%s[%s]" % (ROOT, extra) if extra else str(ROOT)
    install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--editable",
        target,
    ]
    code = call([str(PYTHON), *install])
    if code:
        return fail("The packages could not be installed; the lines above say why.")
    stamp.write_text(state)
    return 0


def make_venv():
    """Make .venv with whatever this Python offers; return 0 or an exit code."""
    for module in ("venv", "virtualenv"):
        done = subprocess.run(
            [sys.executable, "-m", module, str(VENV)], capture_output=True, check=False
        )
        if done.returncode == 0:
            return 0
        shutil.rmtree(VENV, ignore_errors=True)
    return 1


def call(command, folder=None):
    """Run a command, in this folder or the user's; return its exit code."""
    with subprocess.Popen(command, cwd=folder) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                # The command was interrupted too: it says what it has kept, and ends by itself.
                continue


def fail(message):
    """Print one line on standard error; return 1."""
    print("error: " + message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
