"""The pytest plug-in: options, markers, fixtures, and the report of decisions in tests that fail.

It is loaded in every test run wherever this package is installed, so it imports nothing but pytest;
the class behind a fixture is imported when a test uses the fixture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace
    from dqa.testing.databases import DatabaseMaker, ServerStarter
    from dqa.testing.decisions import Asker, QuestionMaker
    from dqa.testing.models import ModelRecorder, ModelScripter

CONTAINERS = ("require", "auto", "skip")
RECORDING = ("none", "missing", "all")
SERVERS = frozenset({"mysql", "postgres", "neo4j"})
MARKER = "dqa_container"
_SHOWN = 3
"""The last decisions of a failed test that its report shows."""


@dataclass(frozen=True)
class Options:
    """The options and ini settings; see docs/testing.md."""

    engine: str
    containers: str
    record: str
    cassettes: str


@dataclass
class TestRecord:
    """The last decisions of a test, their number, and whether the test passed."""

    __test__ = False

    traces: deque[Trace]
    decisions: int = 0
    passed: bool = False

    def add(self, trace: Trace) -> None:
        """Add a decision."""
        self.traces.append(trace)
        self.decisions += 1


OPTIONS = pytest.StashKey[Options]()
RECORD = pytest.StashKey[TestRecord]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, in a group of their own, and the settings."""
    group = parser.getgroup("dqa", "decisions (dqa)")
    group.addoption(
        "--dqa-engine",
        metavar="NAME",
        help="engine of temporary databases: sqlite (default), duckdb, ladybug, mysql, ...",
    )
    group.addoption(
        "--dqa-containers",
        choices=CONTAINERS,
        help="tests that need a server in a container: fail where none can run (require, the "
        "default), are skipped there (auto), or always (skip)",
    )
    group.addoption(
        "--dqa-record",
        choices=RECORDING,
        default="none",
        help="ask recorded models for real and write cassettes: never (none, the default), those "
        "that are missing, or all",
    )
    parser.addini("dqa_engine", "as --dqa-engine", type="string", default="sqlite")
    parser.addini("dqa_containers", "as --dqa-containers", type="string", default="require")
    parser.addini(
        "dqa_cassettes",
        "folder of cassettes, next to each test module",
        type="string",
        default="cassettes",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read options and settings, and register the marker."""
    containers = config.getoption("--dqa-containers") or config.getini("dqa_containers")
    if containers not in CONTAINERS:
        raise pytest.UsageError(
            f"dqa_containers is '{containers}' in {config.inipath}: write one of "
            f"{', '.join(CONTAINERS)}."
        )
    config.stash[OPTIONS] = Options(
        engine=config.getoption("--dqa-engine") or config.getini("dqa_engine"),
        containers=containers,
        record=config.getoption("--dqa-record"),
        cassettes=config.getini("dqa_cassettes"),
    )
    config.addinivalue_line(
        "markers",
        f"{MARKER}: needs a database server in a container; set by itself where a test uses "
        "dqa_server, or dqa_database with the name of a server as a parameter or as --dqa-engine",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that need a server, as far as that can be seen before they run."""
    by_default = config.stash[OPTIONS].engine in SERVERS
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
        named = any(isinstance(value, str) and value in SERVERS for value in parameters)
        if "dqa_server" in fixtures or ("dqa_database" in fixtures and (by_default or named)):
            item.add_marker(MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Observe the decisions that a test makes, by whatever code."""
    from dqa.evaluation.observers import observe_decisions

    record = TestRecord(deque(maxlen=_SHOWN))
    item.stash[RECORD] = record
    try:
        with observe_decisions(record.add):
            return (yield)
    finally:
        del item.stash[RECORD]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the decisions of a test that fails, once."""
    report = yield
    record = item.stash.get(RECORD, None)
    if record is None:
        return report
    if call.when == "call":
        record.passed = report.passed
    if report.failed and record.traces:
        from dqa.testing.decisions import describe_decisions

        title = f"dqa: {record.decisions} decision{'s' * (record.decisions != 1)}"
        report.sections.append((title, describe_decisions(record.traces, record.decisions)))
        record.traces.clear()
    return report


@pytest.fixture
def dqa_ask() -> Asker:
    """Ask a question about a database: `dqa.ask`, with rules and candidates in the same call."""
    from dqa.testing.decisions import ask_in_test

    return ask_in_test


@pytest.fixture
def dqa_database(request: pytest.FixtureRequest) -> Iterator[DatabaseMaker]:
    """Make guarded, read-only databases of tables, scripts, files or situations."""
    from dqa.testing.databases import DatabaseMaker

    engine = request.config.stash[OPTIONS].engine
    with DatabaseMaker(engine, request.path.parent, request.getfixturevalue) as maker:
        yield maker


@pytest.fixture(scope="session")
def dqa_server(request: pytest.FixtureRequest) -> Iterator[ServerStarter]:
    """Start database servers in throw-away containers; each once a session."""
    from dqa.testing.databases import ServerStarter

    with ServerStarter(request.config.stash[OPTIONS].containers) as starter:
        yield starter


@pytest.fixture
def dqa_scripted(request: pytest.FixtureRequest) -> Iterator[ModelScripter]:
    """Make chat models with scripted replies, which store their requests."""
    from dqa.testing.models import ModelScripter

    scripter = ModelScripter()
    yield scripter
    if request.node.stash[RECORD].passed:
        scripter.check_all_used()


@pytest.fixture
def dqa_recorded(request: pytest.FixtureRequest) -> Iterator[ModelRecorder]:
    """Make chat models that play a cassette of the test; --dqa-record writes it."""
    from dqa.testing.models import ModelRecorder

    options = request.config.stash[OPTIONS]
    folder = request.path.parent / options.cassettes / request.path.stem
    recorder = ModelRecorder(folder, request.node.nodeid.partition("::")[2], options.record)
    yield recorder
    recorder.close(keep=request.node.stash[RECORD].passed)


@pytest.fixture(scope="session")
def dqa_questions() -> QuestionMaker:
    """Generate questions with their databases and answers; the same ones once a session."""
    from dqa.testing.decisions import make_questions

    return make_questions
