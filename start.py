#!/usr/bin/env python3
"""Set dqa up in a folder of its own and run it. Needs Python 3.11 or newer and nothing else.

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
DEMO = ["eval", "--generate", "25", "--seed", "1"]


def main(arguments):
    """Run one of the commands above; return its exit code."""
    if sys.version_info < (3, 11):
        return fail("dqa needs Python 3.11 or newer, this is %d.%d." % sys.version_info[:2])
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "-h", "--help"):
        print(__doc__)
        return 0
    runs = {
        "eval": [["dqa", *(DEMO if not rest else ["eval"])]],
        "dqa": [["dqa"]],
        "test": [["pytest", "-n", "auto"]],
        "lint": [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    }
    runs["check"] = runs["lint"] + runs["test"]
    if command not in runs:
        return fail("There is no command '%s'. There are: %s." % (command, ", ".join(sorted(runs))))
    code = set_up("dev" if command in ("test", "lint", "check") else "")
    for run in runs[command]:
        code = code or call([str(BIN / run[0]), *run[1:], *rest])
    return code


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


def call(command):
    """Run a command in this folder; return its exit code, 130 where it was interrupted."""
    try:
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    except KeyboardInterrupt:
        return 130


def fail(message):
    """Print one line on standard error; return 1."""
    print("error: " + message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
