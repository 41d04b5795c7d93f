"""The pytest plug-in: options, markers, fixtures, and the report of decisions in failed tests.

Pytest loads the plug-in in every test run if this package is installed. The plug-in therefore
imports only pytest at first. It imports the class of a fixture when a test uses the fixture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace
    from dqa.testing.databases import DatabaseCreator, ServerStarter
    from dqa.testing.decisions import Asker, QuestionMaker
    from dqa.testing.models import ModelScripter

SERVERS = frozenset({"mysql", "postgres", "neo4j"})
MARKER = "dqa_container"
_SHOWN = 3
"""Maximum number of decisions that the report of a failed test shows."""


@dataclass
class TestRecord:
    """The last decisions of a test, and whether the test passed."""

    __test__ = False

    traces: deque[Trace] = field(default_factory=lambda: deque(maxlen=_SHOWN))
    passed: bool = False


RECORD = pytest.StashKey[TestRecord]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and the ini settings of this plug-in."""
    group = parser.getgroup("dqa", "decisions (dqa)")
    group.addoption(
        "--dqa-engine",
        metavar="NAME",
        help="engine of temporary databases: sqlite (default), duckdb, ladybug, mysql, ...",
    )
    group.addoption(
        "--dqa-containers",
        choices=("require", "auto", "skip"),
        help="tests with a server: 'require' fails them if no container can run (the default), "
        "'auto' skips them in this case, 'skip' always skips them",
    )
    parser.addini("dqa_engine", "default of --dqa-engine", type="string", default="sqlite")
    parser.addini("dqa_containers", "default of --dqa-containers", type="string", default="require")


def _setting(config: pytest.Config, name: str) -> str:
    """Return the value of a command-line option, or its ini setting."""
    value: str = config.getoption(f"--dqa-{name}") or config.getini(f"dqa_{name}")
    return value


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", f"{MARKER}: needs a server in a container; set automatically if fixtures show it"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests whose fixtures and parameters require a server."""
    by_default = _setting(config, "engine") in SERVERS
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
        named = any(isinstance(value, str) and value in SERVERS for value in parameters)
        if "dqa_server" in fixtures or ("dqa_database" in fixtures and (by_default or named)):
            item.add_marker(MARKER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record the decisions that any code makes during a test."""
    from dqa.evaluation.observers import observe_decisions

    item.stash[RECORD] = record = TestRecord()
    try:
        with observe_decisions(record.traces.append):
            return (yield)
    finally:
        del item.stash[RECORD]  # pytest stores items until the end of the session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the decisions of a failed test to its report, at most once."""
    report = yield
    record = item.stash.get(RECORD, None)
    if record is not None and call.when == "call":
        record.passed = report.passed
    if record is not None and report.failed and record.traces:
        from dqa.testing.decisions import describe_decisions

        report.sections.append(("dqa: last decisions", describe_decisions(record.traces)))
        record.traces.clear()
    return report


@pytest.fixture
def dqa_ask() -> Asker:
    """Ask a question about a database, as `dqa.ask` does, with rules and candidates."""
    from dqa.testing.decisions import ask_in_test

    return ask_in_test


@pytest.fixture
def dqa_database(request: pytest.FixtureRequest) -> Iterator[DatabaseCreator]:
    """Create guarded, read-only databases from tables, scripts, files or situations."""
    from dqa.testing.databases import DatabaseCreator

    engine = _setting(request.config, "engine")
    with DatabaseCreator(engine, request.path.parent, request.getfixturevalue) as maker:
        yield maker


@pytest.fixture(scope="session")
def dqa_server(request: pytest.FixtureRequest) -> Iterator[ServerStarter]:
    """Start database servers in temporary containers, each once per session."""
    from dqa.testing.databases import ServerStarter

    with ServerStarter(_setting(request.config, "containers")) as starter:
        yield starter


@pytest.fixture
def dqa_scripted(request: pytest.FixtureRequest) -> Iterator[ModelScripter]:
    """Create chat models with scripted replies. They record their requests."""
    from dqa.testing.models import ModelScripter

    scripter = ModelScripter()
    yield scripter
    if request.node.stash[RECORD].passed:
        scripter.check_all_used()


@pytest.fixture(scope="session")
def dqa_questions() -> QuestionMaker:
    """Generate questions with their databases and answers, each set once per session."""
    from dqa.testing.decisions import make_questions

    return make_questions
