"""Database servers in throw-away containers, for tests.

Any image will do that understands the environment variables of the official ones. A server counts
as ready when `dqa` itself can examine it over the network: what an image logs, and how often its
server restarts while it initialises, differs from image to image.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from time import monotonic, sleep
from typing import TYPE_CHECKING

from dqa import plugins
from dqa.core.distribution import install_command
from dqa.core.errors import (
    DatabaseUnavailableError,
    DqaError,
    MissingKeyError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_READY_SECONDS = 120.0
_PAUSE_SECONDS = 0.25
_ENGINE_SECONDS = 60
_LOG_LINES = 15


@dataclass(frozen=True)
class _Server:
    """How a kind of server is started and reached; the user may do everything on it."""

    image: str
    variable: str
    port: int
    environment: dict[str, str]
    url: str


_SERVERS = {
    "mysql": _Server(
        image="mysql:8.4",
        variable="DQA_MYSQL_IMAGE",
        port=3306,
        environment={"MYSQL_ROOT_PASSWORD": "{password}", "MYSQL_DATABASE": "dqa"},
        url="mysql+pymysql://root:{password}@{where}/dqa",
    ),
    "postgres": _Server(
        image="postgres:17",
        variable="DQA_POSTGRES_IMAGE",
        port=5432,
        environment={
            "POSTGRES_USER": "dqa",
            "POSTGRES_PASSWORD": "{password}",
            "POSTGRES_DB": "dqa",
        },
        url="postgresql+psycopg://dqa:{password}@{where}/dqa",
    ),
    "neo4j": _Server(
        image="neo4j:5-community",
        variable="DQA_NEO4J_IMAGE",
        port=7687,
        environment={
            "NEO4J_AUTH": "neo4j/{password}",
            "NEO4J_server_memory_heap_initial__size": "256m",
            "NEO4J_server_memory_heap_max__size": "512m",
            "NEO4J_server_memory_pagecache_size": "64m",
            "NEO4J_dbms_usage__report_enabled": "false",
        },
        url="bolt://neo4j:{password}@{where}",
    ),
}
SERVERS = tuple(_SERVERS)
"""The kinds of servers there are containers for; each is also the name of its backend."""


def engine_answers() -> bool:
    """Whether containers can be run: testcontainers is installed and a Docker engine answers."""
    return why_no_container() is None


def why_no_container() -> str | None:
    """Return what is missing for containers and how to mend it; None if nothing is."""
    if find_spec("testcontainers") is None:
        return f"The package 'testcontainers' is not installed: {install_command('testing')}."
    from docker.errors import DockerException
    from testcontainers.core.docker_client import DockerClient

    try:
        DockerClient(timeout=_ENGINE_SECONDS).client.close()
    except DockerException as error:
        return (
            f"No Docker engine answers ({error}). Start one, or name where it is in the variable "
            "DOCKER_HOST."
        )
    return None


@contextmanager
def run_container(name: str, image: str | None = None) -> Iterator[str]:
    """Run a server in a container of its own until the block ends; its data go with it.

    Parameters
    ----------
    name
        One of `SERVERS`.
    image
        The image; else what the variable ``DQA_MYSQL_IMAGE``, ``DQA_POSTGRES_IMAGE`` or
        ``DQA_NEO4J_IMAGE`` names, else the official one.

    Yields
    ------
    str
        The URL of the server, which is ready; the user in it may do everything there.

    Raises
    ------
    UnknownNameError
        There is no such kind of server.
    MissingKeyError
        The package testcontainers, or the server's driver, is not installed.
    DatabaseUnavailableError
        No engine answers, the image cannot be had, or the server ends or is not ready in two
        minutes; the message has the end of its log.
    """
    if name not in _SERVERS:
        raise UnknownNameError("kind of container", name, SERVERS)
    if find_spec("testcontainers") is None:
        raise MissingKeyError(str(why_no_container()))
    missing = why_no_container()
    if missing is not None:
        raise DatabaseUnavailableError(missing)
    server = _SERVERS[name]
    chosen = image or os.environ.get(server.variable) or server.image
    password = secrets.token_hex(12)
    container = _container(server, chosen, password)
    try:
        _start(container, server, chosen)
        where = f"{container.get_container_host_ip()}:{container.get_exposed_port(server.port)}"
        url = server.url.format(password=password, where=where)
        wait_until_ready(name, url, ended=lambda: _end_of(container, chosen))
        yield url
    finally:
        container.stop()


def wait_until_ready(
    name: str,
    url: str,
    *,
    seconds: float = _READY_SECONDS,
    ended: Callable[[], str | None] = lambda: None,
) -> None:
    """Wait until a backend can examine a server: one that listens may still be initialising.

    Parameters
    ----------
    name
        The backend's name.
    url
        Where the server is.
    seconds
        How long it may take.
    ended
        Returns why there is nothing to wait for any more, if so.

    Raises
    ------
    MissingKeyError
        The driver is not installed.
    DatabaseUnavailableError
        The server was not ready in time, or ended.
    """
    backend = plugins.backend(name)
    deadline = monotonic() + seconds
    while True:
        try:
            backend.examine(url)
        except MissingKeyError:
            raise
        except DqaError as error:
            why = ended()
            if why is not None:
                raise DatabaseUnavailableError(why) from error
            if monotonic() > deadline:
                raise DatabaseUnavailableError(
                    f"The {name} server was not ready within {seconds:.0f} s: {error}"
                ) from error
            sleep(_PAUSE_SECONDS)
        else:
            return


def _container(server: _Server, image: str, password: str) -> DockerContainer:
    from testcontainers.core.container import DockerContainer

    _settle_reaper()
    settings = {key: text.format(password=password) for key, text in server.environment.items()}
    return DockerContainer(image).with_envs(**settings).with_exposed_ports(server.port)


def _start(container: DockerContainer, server: _Server, image: str) -> None:
    from docker.errors import DockerException

    try:
        container.start()
    except DockerException as error:
        raise DatabaseUnavailableError(
            f"The image '{image}' could not be started as a container: {error}. Pull or build it "
            f"first, or name another in the variable {server.variable}."
        ) from error


def _end_of(container: DockerContainer, image: str) -> str | None:
    """Return the end of the log of a container that runs no more; None while it runs."""
    container.reload()
    if container.status in {"created", "running"}:
        return None
    log = b"".join(container.get_logs()).decode("utf-8", "replace").splitlines()
    kept = "\n".join(f"  {line}" for line in log[-_LOG_LINES:])
    return f"The container of '{image}' ended before its server was ready:\n{kept}"


@cache
def _settle_reaper() -> None:
    """Turn testcontainers' reaper off where its image is not there and cannot be pulled.

    The reaper is a container that removes the others when this process is killed. It is a comfort:
    tests must not fail where no registry can be reached.
    """
    from docker.errors import DockerException, ImageNotFound
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.docker_client import DockerClient

    if testcontainers_config.ryuk_disabled:
        return
    image = testcontainers_config.ryuk_image
    client = DockerClient(timeout=_ENGINE_SECONDS).client
    try:
        with suppress(ImageNotFound):
            client.images.get(image)
            return
        client.images.pull(image)
    except DockerException:
        testcontainers_config.ryuk_disabled = True
    finally:
        client.close()
