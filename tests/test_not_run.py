"""What a run of the tests leaves out is said in one line, and is no pass where nothing may be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INI = """
[pytest]
addopts = --strict-markers --import-mode=importlib
markers =
    integration: as here
    released: as here
    slow: as here
"""
TESTS = """
import pytest

def test_that_runs():
    pass

@pytest.mark.slow
@pytest.mark.parametrize("number", range(1200))
def test_that_is_slow(number):
    pass

@pytest.mark.integration
def test_that_needs_a_server():
    pytest.skip("no server")

def test_that_reads_a_release(release_dir):
    pass
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with tests of every sort, under these tests' own conftest."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "tests" / "test_all.py").write_text(TESTS)
    shutil.copy(HERE / "conftest.py", tmp_path / "tests")
    return tmp_path


def ran(checkout: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run the tests of a folder; return the exit code and the line before the last."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DQA_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=checkout,
        env={**inherited, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()[-2]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_one_line_says_what_was_not_run_and_why(checkout: Path, workers: str) -> None:
    """Counted once, however many processes collect."""
    code, line = ran(checkout, "-m", "not slow", "-n", workers)
    assert code == 0
    assert line == (
        "Not run: 1 that read the released data (DQA_RELEASE_DIR, DQA_DELLMA_DIR), 1 that need a "
        "server (docker/README.md), 1,200 that take long (python3 start.py check)."
    )


def test_where_nothing_may_be_left_out_each_sort_fails(checkout: Path) -> None:
    """A skip, and a test that is only slow."""
    nothing_left_out = {"DQA_NO_SKIP": "1", "DQA_RELEASE_DIR": str(checkout)}
    few = ("-k", "runs or release")
    assert ran(checkout, *few, **nothing_left_out)[0] == 0
    assert ran(checkout, *few, DQA_NO_SKIP="1")[0] == 1
    code, line = ran(checkout, "-k", "server", **nothing_left_out)
    assert (code, line) == (1, "Not run: 1 that need a server (docker/README.md).")
    code, line = ran(checkout, "-m", "not slow and not integration", **nothing_left_out)
    assert (code, line) == (1, "Not run: 1,200 that take long (python3 start.py check).")
