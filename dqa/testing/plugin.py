"""The pytest plug-in: options, fixtures, and the report of decisions in failed tests.

Pytest loads the plug-in in every test run if this package is installed. The plug-in therefore
imports only pytest at first. It imports the class of a fixture when a test uses the fixture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dqa.evaluation.traces import Trace
    from dqa.testing.databases import DatabaseCreator, ServerStarter
    from dqa.testing.decisions import Asker, QuestionMaker
    from dqa.testing.models import PreparedReplies

_SHOWN = 3
"""Maximum number of decisions that the report of a failed test shows."""

_TRACES = pytest.StashKey["deque[Trace]"]()
"""The last decisions of a test."""


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Record the decisions that any code makes during a test."""
    from dqa.evaluation.observers import observe_decisions

    traces: deque[Trace] = deque(maxlen=_SHOWN)
    item.stash[_TRACES] = traces
    try:
        with observe_decisions(traces.append):
            return (yield)
    finally:
        del item.stash[_TRACES]  # pytest stores items until the end of the session


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the decisions of a failed test to its report, at most once."""
    report = yield
    traces = item.stash.get(_TRACES, None)
    if report.failed and traces:
        from dqa.testing.decisions import describe_decisions

        text = describe_decisions(traces, full=item.config.option.verbose > 1)
        report.sections.append(("dqa: last decisions", text))
        traces.clear()
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
def dqa_scripted() -> type[PreparedReplies]:
    """Create chat models with scripted replies. They record their requests."""
    from dqa.testing.models import PreparedReplies

    return PreparedReplies


@pytest.fixture(scope="session")
def dqa_questions() -> QuestionMaker:
    """Generate questions with their databases and answers, each set once per session."""
    from dqa.testing.decisions import make_questions

    return make_questions
