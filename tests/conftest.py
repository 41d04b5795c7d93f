"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Tests run on every core already: threads of the linear algebra would only wait for each other. It
# is read when NumPy is imported, which is after this.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Interpreters that tests start import nothing from the current directory. What the product starts
# is safe without this, which `test_safe_path` shows.
os.environ["PYTHONSAFEPATH"] = "1"

# A shell without job control starts what is in its background with SIGINT ignored; so would be
# whatever tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that is busy with something else is no finding.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

NO_SKIP = os.environ.get("DQA_NO_SKIP") == "1"
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep trained players out of the user's cache, and those of the user out of the tests."""
    os.environ["DQA_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _scenarios_of_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget, after each test, the folders that it registered: names are of the whole process."""
    from dqa.scenarios import catalogue

    monkeypatch.setattr(catalogue, "_registered", dict(catalogue._registered))


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


SLOW = pytest.StashKey[int]()
"""How many slow tests are left out."""
DATA = ("release_dir", "dellma_release_dir")


def pytest_configure(config: pytest.Config) -> None:
    """Count from nothing."""
    config.stash[SLOW] = 0


LONGEST = frozenset({"test_documented_commands.py", "test_killed.py", "test_variants.py"})
"""Files with the tests that take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what reads the released data, and let what takes minutes begin first.

    Else one worker of several would be left with it at the end.
    """
    items.sort(key=lambda item: item.path.name not in LONGEST)
    for item in items:
        if set(DATA) & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.released)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the slow tests that are left out; who names tests by -k leaves out none."""
    for item in items:
        named = bool(item.config.option.keyword)
        item.config.stash[SLOW] += not named and item.get_closest_marker("slow") is not None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left anything out where ``DQA_NO_SKIP=1`` allows no skip."""
    config = session.config
    if hasattr(config, "workeroutput"):  # pytest-xdist's: what a worker tells who started it
        config.workeroutput["slow"] = config.stash[SLOW]
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if NO_SKIP and reporter is not None and _not_run(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist counted; every worker collects all tests."""
    counted = getattr(node, "workeroutput", {}).get("slow", 0)
    node.config.stash[SLOW] = max(counted, node.config.stash[SLOW])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say in one line, below everything else, what was not run and why."""
    yield
    not_run = _not_run(terminalreporter)
    if not_run:
        terminalreporter.write_line(f"Not run: {', '.join(not_run)}.")


def _not_run(reporter: pytest.TerminalReporter) -> list[str]:
    """Return how many tests were not run for each reason."""
    whys = {
        "released": "that read the released data (DQA_RELEASE_DIR, DQA_DELLMA_DIR)",
        "integration": "that need a server (docker/README.md)",
        "slow": "that take long (python3 start.py check)",
        "": "skipped for reasons that -rs lists",
    }
    counted = Counter(slow=reporter.config.stash[SLOW])
    for report in reporter.stats.get("skipped", ()):
        # The report of a module that is skipped at collection has no keywords.
        keywords = getattr(report, "keywords", ())
        known = (why for why in ("integration", "released") if why in keywords)
        counted[next(known, "")] += 1
    return [f"{counted[why]:,} {told}" for why, told in whys.items() if counted[why]]
