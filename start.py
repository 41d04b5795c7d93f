#!/usr/bin/env python3
"""Set dqa up in a folder of its own and run it. Needs Python 3.11 to 3.13 and nothing else.

    python3 start.py eval [OPTIONS]  evaluate the four agents on generated questions; keeps the run
    python3 start.py test [ARGS]     run the tests, without those that take long
    python3 start.py check [ARGS]    run every gate: lint, types, all tests
    python3 start.py lint            run lint and types alone
    python3 start.py fuzz [ARGS]     call everything that the engines list, 200,000 times
    python3 start.py dqa ARGS        run any dqa command

The environment is .venv beside this file; it is made once and renewed when pyproject.toml changes.
"""

# Any Python 2.7 or 3 can read this file, so that each can say which Python is needed.

import collections
import difflib
import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
BIN = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(BIN, "python.exe" if os.name == "nt" else "python")
UNFINISHED = os.path.join(VENV, "unfinished")  # is there while files are being written
DEMO = ["--generate", "25", "--seed", "1"]
SOURCES = ("--generate", "--generated", "--questions", "--release", "--resume")
VERSIONS = (11, 12, 13)
INTERRUPTED = 130
QUICK = ["pytest", "-n", "auto", "-m", "not slow", "-r", "fEX"]
LINT = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
FUZZ = ["python", "-m", "tests.hostile.fuzz", "--count", "200000", "--keep"]
GATES = {"fuzz": [FUZZ], "test": [QUICK], "lint": LINT, "check": LINT + [["pytest", "-n", "auto"]]}


def main(arguments):
    """Run one of the commands above; return its exit code."""
    if sys.version_info[:2] not in [(3, minor) for minor in VERSIONS]:
        return with_another_python(arguments)
    command, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if command in ("help", "-h", "--help"):
        print(__doc__)
        return 0
    if command in GATES:
        # The gates belong to this folder, and what is said to them to the last of them.
        runs = GATES[command][:-1] + [GATES[command][-1] + rest]
        return set_up("dev") or first_failure(runs, ROOT)
    if command not in ("dqa", "eval"):
        return fail(unknown(command))
    # Hints name commands as this user can type them.
    os.environ["DQA_COMMAND"] = "%s %s dqa" % (
        "python" if os.name == "nt" else "python3",
        quoted(sys.argv[0]),
    )
    words = rest if command == "dqa" else ["eval"] + questions(rest) + rest + folder(rest)
    # Questions may be about files beside the user, so this runs where the user is.
    return set_up("openai") or first_failure([["dqa"] + words], None)


def unknown(command):
    """Return what is said of a command that is none of these."""
    known = sorted(list(GATES) + ["dqa", "eval"])
    close = difflib.get_close_matches(command, known, 1)
    said = "There is no command '%s'. There are: %s." % (command, ", ".join(known))
    ours = "'%s', or " % close[0] if close else ""
    return "%s Did you mean %sdqa's own 'dqa %s'?" % (said, ours, command)


def first_failure(runs, where):
    """Run programs of the environment until one fails; return its exit code, else 0."""
    code = 0
    for run in runs:
        code = code or call([os.path.join(BIN, run[0])] + run[1:], where)
    return code


def questions(words):
    """Return the demonstration's questions, unless options say where others come from.

    --set NAME=VALUE is a setting, and names no questions; --resume RUN has those of its run.
    """
    if any(word.split("=")[0] in SOURCES for word in words):
        return []
    after = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "--set"]
    joined = [word.split("=", 1)[1] for word in words if word.startswith("--set=")]
    return [] if any("=" not in given for given in after + joined) else DEMO


def folder(words):
    """Return the option that keeps a run in a new folder, unless options say where it goes."""
    if any(word.split("=")[0] in ("--out", "--resume", "--help", "-h") for word in words):
        return []
    number = 1
    while os.path.exists(os.path.join("runs", "eval-%d" % number)):
        number += 1
    return ["--out", os.path.join("runs", "eval-%d" % number)]


def quoted(path):
    """Return a path as a shell takes it."""
    if os.name == "nt":
        return '"%s"' % path if " " in path else path
    import shlex

    return shlex.quote(path)


def with_another_python(arguments):
    """Run this again with a Python that is recent enough and not too recent."""
    names = ["python3.%d" % minor for minor in reversed(VERSIONS)]
    for name in names:
        if answers(name):
            return call([name, os.path.abspath(__file__)] + arguments)
    return fail(
        "dqa needs Python 3.%d to 3.%d, this is %d.%d, and none of %s is here. Install one (from "
        "your system's packages or python.org) and run this again."
        % (VERSIONS[0], VERSIONS[-1], sys.version_info[0], sys.version_info[1], ", ".join(names))
    )


def answers(program):
    """Whether a Python of this name runs: one may be found that only says how to install it."""
    try:
        with open(os.devnull, "w") as nowhere:
            return subprocess.call([program, "-c", ""], stdout=nowhere, stderr=nowhere) == 0
    except OSError:
        return False


def set_up(extra):
    """Make or renew the environment; return 0, or the exit code of what failed."""
    try:
        return renew(extra)
    except KeyboardInterrupt:
        fail("Interrupted: .venv is not complete yet. The same command begins again.")
        return INTERRUPTED
    except OSError as error:
        return fail("The environment %s could not be written: %s." % (VENV, error.strerror))


def renew(extra):
    """Install what is not there or not up to date; return 0 or an exit code."""
    target = "%s[%s]" % (ROOT, extra)
    stamp = os.path.join(VENV, "dqa-%s.stamp" % extra)
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as project:
        read = project.read() + sys.version.encode() + target.encode()
        state = hashlib.sha256(read).hexdigest()
        if is_done(stamp, state):
            return 0
        with Steps() as steps:
            wait_for_others(project, steps)
            if is_done(stamp, state):
                return 0
            if os.path.exists(UNFINISHED):
                # Packages that stand there in part would count as installed.
                shutil.rmtree(VENV)
            code = 0 if os.path.isfile(PYTHON) else make_venv(steps)
            code = code or install(target, steps)
        if code == 0:
            with open(stamp, "w") as kept:
                kept.write(state)
    return code


def is_done(stamp, state):
    """Whether the environment is whole and has what this state of the project needs."""
    if os.path.exists(UNFINISHED) or not os.path.isfile(stamp):
        return False
    with open(stamp) as kept:
        return kept.read() == state


def wait_for_others(project, steps):
    """Keep an open file locked, so that one start at a time changes the environment."""
    try:
        import fcntl
    except ImportError:  # on Windows
        return
    waits = False
    while True:
        try:
            fcntl.flock(project, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not waits:
                steps.begin("waiting for another start that is at it")
            waits = True
            steps.tick()
            time.sleep(0.2)
        except OSError:  # a file system without locks
            return
        else:
            return


def make_venv(steps):
    """Make .venv with whatever this Python offers; return 0 or an exit code."""
    steps.begin("making the environment")
    said = []
    for module in ("venv", "virtualenv"):
        os.makedirs(VENV, exist_ok=True)
        mark(UNFINISHED)
        if steps.run([sys.executable, "-m", module, VENV]) == 0:
            os.remove(UNFINISHED)
            return 0
        said.extend(steps.last)
        shutil.rmtree(VENV, ignore_errors=True)
    steps.end()
    return fail(
        "No virtual environment could be made. Install Python's venv module (on Debian or "
        "Ubuntu: apt install python3-venv) if that is missing, and run this again.",
        said,
    )


def install(target, steps):
    """Let pip install this folder and what it needs; return 0 or an exit code."""
    steps.begin("collecting packages")
    pip = [PYTHON, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]

    def heard(line):
        if line.startswith("Installing collected packages"):
            mark(UNFINISHED)
            steps.begin("installing packages (%d)" % (line.count(",") + 1))

    code = steps.run(pip + ["--progress-bar", "off", "--editable", target], heard)
    if code == 0:
        if os.path.exists(UNFINISHED):
            os.remove(UNFINISHED)
        steps.begin("done")
        return 0
    steps.end()
    return fail(
        "The packages could not be installed. Mend what pip says, e.g. a full disk or a missing "
        "network, and run this again; it said at last:",
        steps.last,
    )


def mark(path):
    """Make an empty file."""
    with open(path, "w"):
        pass


class Steps:
    """What is being set up, on standard error: one live line on a terminal, else a line a step.

    Attributes
    ----------
    last
        The last lines that a program wrote.
    """

    def __init__(self):
        self.last = collections.deque(maxlen=10)
        self._terminal = sys.stderr.isatty()
        self._started = time.time()
        self._step = ""
        self._shown = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def begin(self, step):
        """Say what comes now."""
        self._step = step
        text = "%3d s  Setting up .venv: %s" % (time.time() - self._started, step)
        if not self._terminal:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def end(self):
        """Leave the live line."""
        if self._terminal:
            self._draw("")

    def run(self, command, heard=None):
        """Run a program and show what it says; return its exit code."""
        self.last.clear()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        # A daemon: what a killed program started may hold the pipe for a while yet.
        reader = threading.Thread(target=self._read, args=(process.stdout, heard), daemon=True)
        reader.start()
        try:
            while reader.is_alive():
                self.tick()
                reader.join(0.2)
            return process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            self.end()

    def _read(self, lines, heard):
        for line in lines:
            if line.strip():
                self.last.append(line.rstrip())
                if heard is not None:
                    heard(line)
        lines.close()

    def tick(self):
        """Draw the live line anew."""
        if self._terminal:
            now = self.last[-1].strip().split(" (from ")[0] if self.last else ""
            if now.startswith("Installing collected packages"):
                now = ""  # the step says how many; all their names are longer than the line
            seconds = time.time() - self._started
            self._draw("%3d s  Setting up .venv: %s  %s" % (seconds, self._step, now))

    def _draw(self, text):
        room = shutil.get_terminal_size().columns - 1
        text = text[:room]
        sys.stderr.write("\r" + text.ljust(min(self._shown, room)) + ("" if text else "\r"))
        sys.stderr.flush()
        self._shown = len(text)


def call(command, where=None):
    """Run a command, in this folder or the user's; return its exit code."""
    process = subprocess.Popen(command, cwd=where)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The command was interrupted too: it says what it has kept, and ends by itself.
            continue


def fail(message, said=()):
    """Print one line on standard error, and below it what a program said; return 1."""
    lines = ["error: " + message] + ["    " + line for line in said]
    sys.stderr.write("\n".join(lines) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
