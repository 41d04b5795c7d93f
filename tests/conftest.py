"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from dqa.core.question_set import QuestionSet

# Tests already use every core, so threads of the linear algebra would only wait. NumPy reads this
# variable at its import.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Interpreters of tests import nothing from the current directory. `test_safe_path` shows that the
# product's own processes are safe without this variable.
os.environ["PYTHONSAFEPATH"] = "1"

# A shell without job control starts background processes with SIGINT ignored, and processes of
# tests would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine must not fail a test.
settings.register_profile(
    "patient", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")

NO_SKIP = os.environ.get("DQA_NO_SKIP") == "1"
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Store players and decision records outside the user's folders."""
    os.environ["DQA_DECISIONS"] = str(tmp_path_factory.mktemp("decisions"))
    os.environ["DQA_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give workers time to start on a machine that runs tests on all cores."""
    monkeypatch.setattr("dqa.databases.worker_pool._ENDING", 10.0)


@pytest.fixture(autouse=True)
def _scenarios_of_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the scenarios that a test registered, because names are process-wide."""
    from dqa.scenarios import catalogue

    monkeypatch.setattr(catalogue, "_registered", dict(catalogue._registered))


def _data_folder(variable: str, name: str) -> Path:
    """Return the folder that an environment variable names, or the shared copy."""
    folder = Path(os.environ.get(variable, ROOT.parent / "shared" / "data" / name))
    if not folder.is_dir():
        pytest.skip(f"no {name} at {folder}; set {variable}")
    return folder


@pytest.fixture(scope="session")
def release_dir() -> Path:
    """Return the folder of the DQA release: ``DQA_RELEASE_DIR``, or the shared copy."""
    return _data_folder("DQA_RELEASE_DIR", "dqa-release")


@pytest.fixture(scope="session")
def release(release_dir: Path) -> QuestionSet:
    """Read the DQA release once, because that takes seconds."""
    from dqa.loaders.release import read_release

    return read_release(release_dir)


@pytest.fixture(scope="session")
def dellma_release_dir() -> Path:
    """Return the folder of the DeLLMa release: ``DQA_DELLMA_DIR``, or the shared copy."""
    return _data_folder("DQA_DELLMA_DIR", "dellma-release")


DATA = ("release_dir", "dellma_release_dir")
LONGEST = (
    "integration/test_ray.py",
    "integration/test_own_servers.py",
    "integration/test_contract.py",
    "test_documented_commands.py",
    "evaluation/test_run_stores.py",
    "test_safe_path.py",
    "integration/test_hostile.py",
    "databases/test_contract.py",
    "evaluation/test_processes.py",
    "docker/test_compose_up.py",
    "test_start.py",
    "test_testing_page.py",
    "worlds/test_household.py",
    "worlds/company/test_methods.py",
)
"""The slowest files, and slow ones that would be among the last."""
REASONS = {
    "released": "that read the released data (DQA_RELEASE_DIR, DQA_DELLMA_DIR)",
    "integration": "that need a server (docker/README.md)",
    "needs": "that need more packages (python3 start.py check)",
    "slow": "that are slow (python3 start.py check)",
    "deep": "that take minutes (python3 start.py check --deep)",
    "": "skipped for reasons that -rs lists",
}
"""Reasons for not running a test, by its marker or skip."""
DESELECTED = pytest.StashKey[Counter[str]]()
"""The number of deselected tests by reason."""


def pytest_configure(config: pytest.Config) -> None:
    """Set all counts to zero."""
    config.stash[DESELECTED] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while tests are collected, and never among the modules that stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that read the released data; move the slowest files to the front.

    Otherwise one worker would still run them when the others are done.
    """
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))
    for item in items:
        if set(DATA) & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.released)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count tests that -m deselects, unless -k names tests or only deep ones run."""
    for item in items:
        option = item.config.option
        markers = [
            name for name in ("deep", "integration", "slow") if item.get_closest_marker(name)
        ]
        if markers and not option.keyword and option.markexpr != "deep":
            item.config.stash[DESELECTED][markers[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that omitted tests other than deep ones, if ``DQA_NO_SKIP=1``."""
    config = session.config
    if hasattr(config, "workeroutput"):  # the report of a pytest-xdist worker
        counts = config.stash[DESELECTED]
        config.workeroutput["deselected"] = dict(counts)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if NO_SKIP and reporter is not None and set(_not_run(reporter)) - {"deep"}:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the counts of a worker of pytest-xdist; every worker collects all tests."""
    counts: Counter[str] = node.config.stash[DESELECTED]
    counts |= Counter(getattr(node, "workeroutput", {}).get("deselected"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print one line with the tests that were not run, and the reasons."""
    yield
    counts = _not_run(terminalreporter)
    if counts:
        texts = (f"{counts[why]:,} {text}" for why, text in REASONS.items() if counts[why])
        terminalreporter.write_line(f"Not run: {', '.join(texts)}.")


def _not_run(reporter: pytest.TerminalReporter) -> Counter[str]:
    """Return the number of tests that were not run for each reason."""
    counts = reporter.config.stash[DESELECTED].copy()
    for report in reporter.stats.get("skipped", ()):
        # A module that is skipped at collection has no keywords.
        keywords = getattr(report, "keywords", ())
        known = [why for why in ("released", "integration") if why in keywords]
        if "could not import" in str(report.longrepr):
            known = ["needs"]
        counts[known[0] if known else ""] += 1
    return counts
