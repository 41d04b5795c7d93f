"""The compose file on a real engine: every server starts, and its data survive its container."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest

from dqa import plugins
from dqa.loaders.readback import read_situation
from dqa.testing.containers import SERVERS, wait_until_ready, why_no_container
from tests.databases.conftest import small_situation

FILE = Path(__file__).parents[2] / "docker" / "compose.yaml"
URLS = {
    "mysql": "mysql+pymysql://dqa:dqa-sample@127.0.0.1:{port}/dqa",
    "postgres": "postgresql+psycopg://dqa:dqa-sample@127.0.0.1:{port}/dqa",
    "neo4j": "bolt://neo4j:dqa-sample@127.0.0.1:{port}",
}
PASSWORDS = ("DQA_MYSQL_PASSWORD", "DQA_POSTGRES_PASSWORD", "DQA_NEO4J_PASSWORD")
SECONDS = 300.0

pytestmark = [pytest.mark.integration, pytest.mark.deep]


def free_port() -> int:
    """Return a free port of loopback."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def compose_command() -> list[str] | None:
    """Return the command of compose: a subcommand of docker, or a program."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(command[0])
            and not subprocess.run(
                [*command, "version"], capture_output=True, check=False
            ).returncode
        ):
            return command
    return None


@dataclass(frozen=True)
class Project:
    """The servers of the compose file, with their own project name and ports."""

    command: list[str]
    environment: dict[str, str]
    urls: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Run compose and return its output."""
        done = subprocess.run(
            [*self.command, "--file", str(FILE), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def up(self) -> None:
        """Start everything and wait until each server is ready."""
        self.run("up", "--detach")
        for name, url in self.urls.items():
            wait_until_ready(name, url, seconds=SECONDS)

    def health(self, name: str) -> str:
        """Return the engine's final health status of a service."""
        (container,) = self.run("ps", "--quiet", name).split()
        shown = ["docker", "inspect", "--format", "{{.State.Health.Status}}", container]
        deadline = monotonic() + SECONDS
        while monotonic() < deadline:
            asked = subprocess.run(shown, capture_output=True, text=True, check=True)
            if asked.stdout.strip() != "starting":
                return asked.stdout.strip()
            sleep(0.5)
        return "starting"


@pytest.fixture
def project() -> Iterator[Project]:
    """Start the servers; remove them and their data afterwards."""
    for name in SERVERS:
        why = why_no_container(name)
        if why is not None:
            pytest.skip(why)
    command = compose_command()
    if command is None:
        pytest.skip("compose is not installed; on Debian or Ubuntu: apt install docker-compose")
    ports = {name: free_port() for name in SERVERS}
    environment = {key: value for key, value in os.environ.items() if key not in PASSWORDS} | {
        "COMPOSE_PROJECT_NAME": f"dqa-test-{os.getpid()}",
        "DQA_NEO4J_HTTP_PORT": str(free_port()),
        **{f"DQA_{name.upper()}_PORT": str(port) for name, port in ports.items()},
    }
    urls = {name: URLS[name].format(port=port) for name, port in ports.items()}
    project = Project(command, environment, urls)
    try:
        project.up()
        yield project
    finally:
        project.run("down", "--volumes")


def test_data_survive_their_containers(project: Project) -> None:
    """New containers on the old volumes have the data."""
    situation = small_situation()
    for name, url in project.urls.items():
        plugins.backend(name).load(situation, url).close()
        assert project.health(name) == "healthy"
    project.run("down")
    project.up()
    for name, url in project.urls.items():
        backend = plugins.backend(name)
        (found,) = backend.loaded(url)
        assert found.content_hash == situation.content_hash
        database = backend.load(situation, url)  # finds the situation and writes nothing
        assert read_situation(database, situation.schema, situation.name) == situation
        database.close()
