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
settings.register_profile(
    "patient", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

NO_SKIP = os.environ.get("DQA_NO_SKIP") == "1"
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep players and decision records out of the user's folders."""
    os.environ["DQA_DECISIONS"] = str(tmp_path_factory.mktemp("decisions"))
    os.environ["DQA_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give workers time to start: tests on all cores must not make a server look stopped."""
    monkeypatch.setattr("dqa.databases.worker_pool._ENDING", 10.0)


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


DATA = ("release_dir", "dellma_release_dir")
LONGEST = (
    "integration/test_ray.py",
    "integration/test_own_servers.py",
    "test_documented_commands.py",
    "test_safe_path.py",
    "integration/test_hostile.py",
    "integration/test_neo4j.py",
    "docker/test_compose_up.py",
    "integration/test_relational.py",
    "evaluation/test_processes.py",
    "evaluation/test_kills.py",
    "planrag/test_variants.py",
)
"""Files that take longest."""
REASONS = {
    "released": "that read the released data (DQA_RELEASE_DIR, DQA_DELLMA_DIR)",
    "integration": "that need a server (docker/README.md)",
    "needs": "that need more packages (python3 start.py check)",
    "slow": "that are slow (python3 start.py check)",
    "deep": "that take minutes (python3 start.py check --deep)",
    "": "skipped for reasons that -rs lists",
}
"""Why a test is not run, by its marker or its skip."""
DESELECTED = pytest.StashKey[Counter[str]]()
"""How many tests were deselected, by reason."""


def pytest_configure(config: pytest.Config) -> None:
    """Start all counts at zero."""
    config.stash[DESELECTED] = Counter()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that read the released data; move the longest files to the front.

    Otherwise one of several workers would still run them when the others are done.
    """
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))
    for item in items:
        if set(DATA) & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.released)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what -m leaves out.

    Tests that -k names, and the deep tests alone, are chosen: the others are not left out.
    """
    for item in items:
        option = item.config.option
        markers = [
            name for name in ("deep", "integration", "slow") if item.get_closest_marker(name)
        ]
        if markers and not option.keyword and option.markexpr != "deep":
            item.config.stash[DESELECTED][markers[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that left out anything but deep tests, if ``DQA_NO_SKIP=1`` forbids it."""
    config = session.config
    if hasattr(config, "workeroutput"):  # what a worker of pytest-xdist reports
        counts = config.stash[DESELECTED]
        config.workeroutput["deselected"] = dict(counts)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if NO_SKIP and reporter is not None and set(_not_run(reporter)) - {"deep"}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the counts of a worker of pytest-xdist; every worker collects all tests."""
    counts: Counter[str] = node.config.stash[DESELECTED]
    counts |= Counter(getattr(node, "workeroutput", {}).get("deselected"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print in one line which tests were not run, and why."""
    yield
    counts = _not_run(terminalreporter)
    if counts:
        texts = (f"{counts[why]:,} {text}" for why, text in REASONS.items() if counts[why])
        terminalreporter.write_line(f"Not run: {', '.join(texts)}.")


def _not_run(reporter: pytest.TerminalReporter) -> Counter[str]:
    """Return how many tests were not run for each reason."""
    counts = reporter.config.stash[DESELECTED].copy()
    for report in reporter.stats.get("skipped", ()):
        # The report of a module that is skipped at collection has no keywords.
        keywords = getattr(report, "keywords", ())
        known = [why for why in ("released", "integration") if why in keywords]
        if "could not import" in str(report.longrepr):
            known = ["needs"]
        counts[known[0] if known else ""] += 1
    return counts
