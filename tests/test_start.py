"""The installations, the commands and the errors of start.py.

The tests call a copy with a fake `uv`, which installs programs that only log their options.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.programs import run_python, start_python

pytestmark = pytest.mark.slow

START = Path(__file__).parents[1] / "start.py"
PYTEST = "pytest -n auto --dist loadfile --no-loadscope-reorder"
QUICK = f"{PYTEST} -m not slow and not deep and not integration -r fEX"
LINT = ["ruff check .", "ruff format --check .", "mypy "]
UV = '/bin/echo "${0##*/} $*" >>"$LOG"; eval "$UV"'
INSTALL = """
cd "$(/usr/bin/dirname "$4")"
for name in dqa pytest ruff mypy; do
    echo '#!/bin/sh\necho "${0##*/} $*" >>"$LOG"' >$name; /bin/chmod +x $name
done
"""


class Checkout:
    """A folder with start.py, its tools, and a user's folder with conflicting modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = folder / "user"
        self.tools = folder / "tools"
        for path in (self.user, self.tools):
            path.mkdir()
        for name in ("venv.py", "ensurepip.py", "json.py"):
            (self.user / name).write_text("raise SystemExit('code of the current directory')")
        shutil.copy(START, folder)
        (folder / "pyproject.toml").touch()
        for name in ("uv", "g++", "make"):
            (self.tools / name).write_text(f"#!/bin/sh\n{UV}\n")
            (self.tools / name).chmod(0o755)

    def start(self, *words: str, uv: str = INSTALL) -> subprocess.Popen[str]:
        """Start start.py with a `uv` that runs these lines of shell."""
        (self.folder / "log").write_text("")
        return start_python(
            "../start.py",
            *words,
            cwd=self.user,
            env={
                "PATH": str(self.tools),
                "LOG": str(self.folder / "log"),
                "UV": uv,
                "PIP_NO_INDEX": "1",  # pip is called after uv has failed
            },
        )

    def run(self, *words: str, uv: str = INSTALL) -> tuple[int, str, list[str]]:
        """Run start.py; return its exit code, its messages and the programs that it called."""
        process = self.start(*words, uv=uv)
        _, messages = process.communicate()
        return process.returncode, messages, (self.folder / "log").read_text().splitlines()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Create a folder in which `test` was called once."""
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    code, messages, ran = made.run("test", "-x")
    assert (code, messages.count("\n")) == (0, 2), messages
    assert "--only-binary :all:" in ran[0]
    assert ran[0].endswith(f"{made.folder}[test]")
    assert ran[1:] == [f"{QUICK} -x"]
    return made


def test_packages_are_installed_once(checkout: Checkout) -> None:
    """Again only for a command that needs more, or after a change of the project."""
    assert checkout.run("test")[1:] == ("", [QUICK])
    assert checkout.run("dqa", "list", "--json")[1:] == ("", ["dqa list --json"])
    _, _, ran = checkout.run("lint")
    assert ran[0].endswith("[dev]")
    assert "--only-binary" not in ran[0]
    assert ran[1:] == LINT
    assert checkout.run("test")[1:] == ("", [QUICK])
    (checkout.folder / "pyproject.toml").write_text("changed")
    assert checkout.run("test")[2][0].endswith("[test]")


def test_eval_adds_questions_and_a_new_folder_unless_they_are_named(checkout: Checkout) -> None:
    """A setting of a decider is not a source of questions."""
    demo = "--generate 25 --seed 1 "
    expected = {
        "": f"{demo}--out runs/eval-3",
        "--json": f"{demo}--json --out runs/eval-3",
        "--set dellma.samples=16": f"{demo}--set dellma.samples=16 --out runs/eval-3",
        "--set=dellma.samples=16": f"{demo}--set=dellma.samples=16 --out runs/eval-3",
        "--generated hard-1": "--generated hard-1 --out runs/eval-3",
        "--release=x": "--release=x --out runs/eval-3",
        "--spec mine.yaml": "--spec mine.yaml --out runs/eval-3",
        "--questions mine.jsonl --out=mine": "--questions mine.jsonl --out=mine",
        "--resume runs/eval-1": "--resume runs/eval-1",
    }
    for number in (1, 2):
        (checkout.user / "runs" / f"eval-{number}").mkdir(parents=True)
    found = {words: checkout.run("eval", *words.split())[2][-1] for words in expected}
    assert found == {words: f"dqa eval {options}" for words, options in expected.items()}


def test_check_runs_lint_and_all_tests_but_the_deep_ones(checkout: Checkout) -> None:
    """A failing gate ends the run with its exit code."""
    assert checkout.run("check", "-x")[2][-4:] == [*LINT, f"{PYTEST} -m not deep -x"]
    bin_folder = checkout.folder / ".venv" / "bin"
    (bin_folder / "pytest").write_text('#!/bin/sh\necho "pytest $*" >>"$LOG"; exit 5')
    code, _, ran = checkout.run("check", "--deep")
    assert (code, ran) == (5, [f"{PYTEST} -m deep"])


def test_a_missing_compiler_is_reported_before_any_installation(tmp_path: Path) -> None:
    """Only the text worlds need it, and only `check` and `lint` install them."""
    checkout = Checkout(tmp_path)
    (checkout.tools / "g++").unlink()
    code, messages, ran = checkout.run("check")
    assert (code, ran) == (1, [])
    assert "Missing: g++." in messages
    assert "apt install g++ make" in messages


def test_wrong_calls_end_with_one_line(checkout: Checkout) -> None:
    """An unknown command, and an unsupported Python."""
    code, messages, ran = checkout.run("evla")
    assert (code, messages.count("\n"), ran) == (2, 1, [])
    future = "sys.version_info = (3, 14); runpy.run_path(sys.argv[1], {}, '__main__')"
    done = run_python("-c", f"import runpy, sys; {future}", str(START))
    assert done.returncode == 1
    assert done.stderr.startswith("error: dqa needs Python 3.11, 3.12 or 3.13")


def test_a_failed_or_interrupted_installation_begins_again(
    checkout: Checkout, tmp_path: Path
) -> None:
    """Otherwise partly installed packages would count as installed."""
    failing = Checkout(tmp_path)
    part = tmp_path / ".venv" / "part"
    part.parent.mkdir()
    part.touch()  # an earlier start was interrupted
    code, messages, ran = failing.run("test", uv=f"[ -e {part} ] && exit; echo disk full; exit 1")
    assert (code, len(ran)) == (1, 1)
    assert "disk full" in messages
    assert "error: The packages could not be installed." in messages
    (checkout.folder / "pyproject.toml").write_text("interrupted")
    with checkout.start("test", uv="exec /bin/sleep 9") as process:
        assert process.stderr is not None
        while "Installing" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert "error: Interrupted" in process.stderr.read()
        assert process.wait() == 130
    for folder in (tmp_path, checkout.folder):
        assert not (folder / ".venv" / "dqa.stamp").exists()
