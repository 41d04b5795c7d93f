"""One line lists the tests that were not run; `DQA_NO_SKIP=1` makes them a failure."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.programs import run_python

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
INI = """
[pytest]
addopts = --strict-markers --import-mode=importlib
markers =
    deep: as here
    integration: as here
    released: as here
    slow: as here
"""
TESTS = """
import pytest

@pytest.fixture(autouse=True)
def _scenarios_of_a_test():
    pass  # this one would import dqa

def test_quick():
    pass

@pytest.mark.slow
@pytest.mark.parametrize("number", range(1200))
def test_slow(number):
    pass

@pytest.mark.deep
def test_deep():
    pass

@pytest.mark.integration
def test_with_server():
    pytest.skip("no server")

def test_with_package():
    pytest.importorskip("package_of_the_future")

def test_with_release(release_dir):
    pass
"""

NEEDY = 'import pytest\n\npytest.importorskip("package_of_the_future")\n'
"""A module that is skipped when it is collected."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a folder with one test of each kind and this project's conftest."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "tests" / "test_all.py").write_text(TESTS)
    (tmp_path / "tests" / "test_needy.py").write_text(NEEDY)
    shutil.copy(HERE / "conftest.py", tmp_path / "tests")
    return tmp_path


def run_tests(checkout: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    """Run the tests of a folder; return the exit code and the last line but one."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DQA_")}
    env = {**inherited, **variables, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = run_python("-m", "pytest", "-p", "xdist", *arguments, cwd=checkout, env=env)
    return done.returncode, done.stdout.splitlines()[-2]


def test_one_line_counts_the_tests_that_were_not_run(checkout: Path) -> None:
    """Each test counts once, even if two processes collect it."""
    code, line = run_tests(checkout, "-m", "not slow and not deep", "-n", "2")
    assert code == 0
    counts = dict(re.findall(r"([\d,]+) that (read|need a server|need more|are slow|take)", line))
    assert counts == {"1": "take", "2": "need more", "1,200": "are slow"}
    assert "1 that read" in line
    assert "1 that need a server" in line


def test_no_skip_allows_only_deep_tests_to_be_left_out(checkout: Path) -> None:
    """A skip fails the run, and so does a slow test that -m deselects."""
    strict = {"DQA_NO_SKIP": "1", "DQA_RELEASE_DIR": str(checkout)}
    for chosen in (("-k", "quick or release"), ("-m", "deep")):
        assert run_tests(checkout, "tests/test_all.py", *chosen, **strict)[0] == 0
    assert run_tests(checkout, "-k", "quick or release", DQA_NO_SKIP="1")[0] == 1
    assert run_tests(checkout, "-k", "package", **strict)[0] == 1
    code, line = run_tests(checkout, "-m", "not slow and not deep and not integration", **strict)
    assert code == 1
    assert "1 that need a server" in line
