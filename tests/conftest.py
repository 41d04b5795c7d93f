"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Tests run on every core already: threads of the linear algebra would only wait for each other. It
# is read when NumPy is imported, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NO_SKIP = os.environ.get("DQA_NO_SKIP") == "1"
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def release_dir() -> Path:
    """Folder of the DQA release: ``DQA_RELEASE_DIR``, or the shared copy beside the checkout."""
    folder = Path(
        os.environ.get("DQA_RELEASE_DIR", ROOT.parent / "shared" / "data" / "dqa-release")
    )
    if not folder.is_dir():
        pytest.skip(f"no DQA release at {folder}; set DQA_RELEASE_DIR")
    return folder


@pytest.fixture(scope="session")
def dellma_release_dir() -> Path:
    """Folder of the DeLLMa release: ``DQA_DELLMA_DIR``, or the shared copy beside the checkout."""
    folder = Path(
        os.environ.get("DQA_DELLMA_DIR", ROOT.parent / "shared" / "data" / "dellma-release")
    )
    if not folder.is_dir():
        pytest.skip(f"no DeLLMa release at {folder}; set DQA_DELLMA_DIR")
    return folder


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that skipped anything where ``DQA_NO_SKIP=1`` allows no skip."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if NO_SKIP and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
