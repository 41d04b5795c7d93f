"""The compose file on a real engine: every server starts, and its data survive its container."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from time import monotonic, sleep

import pytest

from dqa import plugins
from dqa.testing.containers import SERVERS, wait_until_ready, why_no_container
from tests.databases.engines import small_situation

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


def compose_command() -> list[str]:
    """Return the command of compose: a subcommand of docker, or a program. Skip without one."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and not subprocess.call([*command, "version"]):
            return command
    pytest.skip("compose is not installed; on Debian or Ubuntu: apt install docker-compose")


def wait_until_healthy(container: str) -> None:
    """Wait for the first result of the health check."""
    shown = ["docker", "inspect", "--format", "{{.State.Health.Status}}", container]
    deadline = monotonic() + SECONDS
    while (status := subprocess.check_output(shown, text=True).strip()) == "starting":
        assert monotonic() < deadline
        sleep(0.5)
    assert status == "healthy"


def test_data_survive_their_containers() -> None:
    """New containers on the old volumes have the data, and the health checks succeed."""
    if why := why_no_container():
        pytest.skip(why)
    command, situation = [*compose_command(), "--file", str(FILE)], small_situation()
    ports = {name: free_port() for name in SERVERS}
    environment = {key: value for key, value in os.environ.items() if key not in PASSWORDS} | {
        "COMPOSE_PROJECT_NAME": f"dqa-test-{os.getpid()}",
        "DQA_NEO4J_HTTP_PORT": str(free_port()),
        **{f"DQA_{name.upper()}_PORT": str(port) for name, port in ports.items()},
    }
    urls = {name: URLS[name].format(port=port) for name, port in ports.items()}

    def compose(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        return done.stdout

    def start() -> None:
        compose("up", "--detach")
        for name, url in urls.items():
            wait_until_ready(name, url, seconds=SECONDS)

    try:
        start()
        for name, url in urls.items():
            plugins.backend(name).load(situation, url).close()
        compose("down")
        start()
        for name, url in urls.items():
            (found,) = plugins.backend(name).loaded(url)
            assert found.content_hash == situation.content_hash
            (container,) = compose("ps", "--quiet", name).split()
            wait_until_healthy(container)
    finally:
        compose("down", "--volumes")
