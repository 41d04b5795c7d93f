"""Real servers for the integration tests: where they are, or why there are none.

URLs come from the environment; else from containers, where a Docker engine answers; else the tests
are skipped with the reason. `test_own_servers.py` kills servers of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

from dqa import plugins
from dqa.databases.base import Backend
from dqa.databases.servers import DRIVERS
from dqa.testing.containers import run_container, why_no_container
from tests.databases.engines import Target
from tests.programs import run_python

SERVERS = Path(__file__).parents[2] / "docker" / "local" / "servers.py"
VARIABLES = {
    "mysql": "DQA_TEST_MYSQL_URL",
    "postgres": "DQA_TEST_POSTGRES_URL",
    "neo4j": "DQA_TEST_NEO4J_URL",
}
PROGRAMS = {"mariadb": ("mariadbd", "/usr/sbin"), "postgres": ("postgres", "/usr/lib/postgresql")}
# Each test of such a server starts it again, and Neo4j takes half a minute to start.
NEO4J = pytest.param("neo4j", marks=pytest.mark.deep)
BACKENDS = {"mariadb": "mysql", "postgres": "postgres", "neo4j": "neo4j"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder; what may have to start a container first is slow."""
    here = Path(__file__).parent
    may_start = not all(os.environ.get(variable) for variable in VARIABLES.values())
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.integration)
            if may_start or "container" in item.name:
                item.add_marker(pytest.mark.slow)


def _server_url(name: str) -> Iterator[str]:
    given = os.environ.get(VARIABLES[name])
    if given:
        yield given
    else:
        yield from contained(name, f"set {VARIABLES[name]} to use another server")


def contained(name: str, otherwise: str = "") -> Iterator[str]:
    """Give the URL of a server in a container; skip, with the reason, where there can be none."""
    why = why_no_container()
    if why is not None:
        pytest.skip(f"no {name} in a container: {why} {otherwise}".rstrip())
    with run_container(name) as url:
        yield url


@pytest.fixture(scope="session")
def mysql_url() -> Iterator[str]:
    """Give the URL of a MySQL or MariaDB server whose user may do everything."""
    yield from _server_url("mysql")


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Give the URL of a PostgreSQL server whose user may do everything."""
    yield from _server_url("postgres")


@pytest.fixture(scope="session")
def neo4j_url() -> Iterator[str]:
    """Give the URL of a Neo4j server whose user may do everything."""
    yield from _server_url("neo4j")


def targeted(name: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Target]:
    """Yield a server, or a folder for files of an embedded engine; clean it afterwards."""
    backend = plugins.backend(name)
    url = str(folder) if backend.embedded else request.getfixturevalue(f"{name}_url")
    target = Target(backend, url)
    yield target
    target.clean()


@pytest.fixture(scope="module", params=["mariadb", "postgres", NEO4J])
def own(request: pytest.FixtureRequest) -> Iterator[OwnServer]:
    """Give each kind of server in turn, started for the tests of one module."""
    with started(request.param) as server:
        yield server
        server.kill()  # what still runs there, and cannot be ended, would keep it from stopping


@pytest.fixture(params=["mysql", "postgres"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    """Return each relational server."""
    yield from targeted(request.param, request, tmp_path)


@contextmanager
def scratch(backend: str, url: str, script: str) -> Iterator[str]:
    """Run a script in a new database of a server; yield its URL, and drop it afterwards."""
    namespaces = plugins.backend(backend).start()
    with namespaces.connect(url) as connected, connected.scratch(script) as place:
        yield place


@pytest.fixture(params=["mysql", "postgres"])
def own_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the URL of an empty database of each relational server, for one test."""
    url = sa.make_url(request.getfixturevalue(f"{request.param}_url"))
    name = f"own_{uuid4().hex[:12]}"
    driver = DRIVERS.get(url.drivername, url.drivername)
    force = "WITH (FORCE)" if request.param == "postgres" else ""  # killed clients stay connected
    engine = sa.create_engine(url.set(drivername=driver), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        yield url.set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {name} {force}")
    engine.dispose()


@dataclass
class OwnServer:
    """A throw-away server that a test may kill."""

    name: str
    backend: Backend
    state: str

    @property
    def url(self) -> str:
        """Where it is."""
        return self._run("env", self.name).strip().partition("=")[2]

    def kill(self) -> None:
        """Kill it as a crash would."""
        self._run("kill", self.name)

    def restart(self) -> None:
        """Start it again with the same data, port and password."""
        self._run("restart", self.name)

    def _run(self, *arguments: str) -> str:
        variables = {**os.environ, "PYTHONSAFEPATH": ""}  # it imports modules of its own folder
        done = run_python(
            str(SERVERS), *arguments, "--state", self.state, env=variables, timeout=180
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _is_here(name: str) -> bool:
    if name == "neo4j":  # nothing installed, but jars that were fetched once, and Java
        fetched = any(Path(tempfile.gettempdir()).glob("dqa-neo4j-*"))
        return fetched and shutil.which("java") is not None
    program, folder = PROGRAMS[name]
    return shutil.which(program) is not None or any(Path(folder).glob(f"**/{program}"))


@contextmanager
def started(name: str) -> Iterator[OwnServer]:
    """Start a server of a test's own; nothing is installed for it."""
    if not _is_here(name):
        pytest.skip(f"no {name} on this machine: python {SERVERS.name} start {name} installs it")
    # Not pytest's own folder: the server runs as a user who may not enter that.
    state = tempfile.mkdtemp(prefix="dqa-own-")
    Path(state).chmod(0o755)
    own = OwnServer(name, plugins.backend(BACKENDS[name]), state)
    try:
        own._run("start", name, "--timeout", "120")
        yield own
    finally:
        own._run("stop", name)
        shutil.rmtree(state, ignore_errors=True)
