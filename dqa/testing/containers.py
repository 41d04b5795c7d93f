"""Temporary database servers in containers, for tests.

An image must support the environment variables of the official image. A server is ready when dqa
can examine it over the network. The server's log is not used, because logs differ between images,
and some images restart the server during initialisation.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
_ENGINE_SECONDS = 600
_SOCKET = "unix:///var/run/docker.sock"
_PAUSE_SECONDS = 0.25
_LOG_LINES = 15


class _Server(NamedTuple):
    """The settings to start a kind of server, and to connect to it as its administrator."""

    image: str
    port: int
    url: str
    environment: str


_SERVERS = {
    "mysql": _Server(
        "mysql:8.4",
        3306,
        "mysql+pymysql://root:{password}@{where}/dqa",
        "MYSQL_ROOT_PASSWORD={password} MYSQL_DATABASE=dqa",
    ),
    "postgres": _Server(
        "postgres:17",
        5432,
        "postgresql+psycopg://dqa:{password}@{where}/dqa",
        "POSTGRES_USER=dqa POSTGRES_PASSWORD={password} POSTGRES_DB=dqa",
    ),
    "neo4j": _Server(
        "neo4j:5-community",
        7687,
        "bolt://neo4j:{password}@{where}",
        "NEO4J_AUTH=neo4j/{password} NEO4J_server_memory_heap_max__size=512m "
        "NEO4J_server_memory_pagecache_size=64m NEO4J_dbms_usage__report_enabled=false",
    ),
}
SERVERS = tuple(_SERVERS)
"""The kinds of servers that containers can run. Each is also the name of a backend."""


def why_no_container(name: str | None = None, image: str | None = None) -> str | None:
    """Return the reason why containers cannot run, with a fix; None if they can.

    Parameters
    ----------
    name
        One of `SERVERS`. If the server's image is missing, it is pulled.
    image
        The image to check. By default, it is the default image of `run_container`.
    """
    if find_spec("testcontainers") is None:
        return f"The package 'testcontainers' is not installed: {install_command('testing')}."
    from docker.errors import DockerException

    try:
        _prepare()
    except (OSError, DockerException) as error:
        return f"No Docker engine answers ({error}). Start one, or set DOCKER_HOST to its address."
    if name is not None:
        chosen = _image(name, image)
        try:
            _prepare(chosen)
        except DockerException as error:
            return (
                f"The image '{chosen}' is missing and cannot be pulled ({error}). Build it, or "
                f"set the variable {_variable(name)} to another image."
            )
    return None


@contextmanager
def run_container(name: str, image: str | None = None) -> Iterator[str]:
    """Run a server in a container until the block ends, then discard its data.

    Parameters
    ----------
    name
        One of `SERVERS`.
    image
        Image of the container. By default, the image in the environment variable
        ``DQA_MYSQL_IMAGE``, ``DQA_POSTGRES_IMAGE`` or ``DQA_NEO4J_IMAGE``. If this variable is not
        set, the official image.

    Yields
    ------
    str
        The URL of the ready server. Its user is an administrator.

    Raises
    ------
    UnknownNameError
        `name` is not one of `SERVERS`.
    MissingKeyError
        The server's driver is not installed.
    DatabaseUnavailableError
        No Docker engine answers, the package testcontainers is missing, the image is missing, the
        server ends, or it is not ready within two minutes. The message contains the end of the
        server's log.
    """
    if name not in _SERVERS:
        raise UnknownNameError("server", name, _SERVERS)
    why = why_no_container(name, image)
    if why is not None:
        raise DatabaseUnavailableError(why)
    from testcontainers.core.container import DockerContainer

    _settle_reaper()
    server, chosen, password = _SERVERS[name], _image(name, image), secrets.token_hex(12)
    settings = server.environment.format(password=password).split()
    container = DockerContainer(chosen).with_exposed_ports(server.port)
    container.with_envs(**dict(one.split("=", 1) for one in settings))
    try:
        where = _start(container, server, chosen)
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
    """Wait until a backend can examine a server.

    A connection is not sufficient, because a server may accept connections before its
    initialisation is complete.

    Parameters
    ----------
    name
        Name of the backend.
    url
        URL of the server.
    seconds
        Maximum time to wait.
    ended
        Function that returns None while the server runs, and otherwise the reason why it ended.

    Raises
    ------
    MissingKeyError
        The driver is not installed.
    DatabaseUnavailableError
        The server was not ready in time, or it ended.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            plugins.backend(name).examine(url)
        except MissingKeyError:
            raise
        except DqaError as error:
            why = ended()
            if why is None and time.monotonic() > until:
                why = f"The {name} server was not ready within {seconds:.0f} s: {error}"
            if why is not None:
                raise DatabaseUnavailableError(why) from error
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _variable(name: str) -> str:
    """Return the name of the environment variable that selects the image of a server."""
    return f"DQA_{name.upper()}_IMAGE"


def _image(name: str, image: str | None) -> str:
    return image or os.environ.get(_variable(name)) or _SERVERS[name].image


def _start(container: DockerContainer, server: _Server, image: str) -> str:
    """Start a container, and return ``host:port`` of its server."""
    from docker.errors import DockerException

    try:
        container.start()
        return f"{container.get_container_host_ip()}:{container.get_exposed_port(server.port)}"
    except DockerException as error:
        raise DatabaseUnavailableError(
            f"The engine cannot start a container of the image '{image}': {error}"
        ) from error
    except (ConnectionError, TimeoutError) as error:  # a container without a port has ended
        why = _end_of(container, image) or f"The container of '{image}' does not start: {error}"
        raise DatabaseUnavailableError(why) from error


def _end_of(container: DockerContainer, image: str) -> str | None:
    """Return None while the container runs.

    After the container has ended, return an error message with the last lines of its log.
    """
    container.reload()
    if container.status in {"created", "running"}:
        return None
    log = b"".join(container.get_logs()).decode("utf-8", "replace").splitlines()
    end = "\n".join(f"  {line}" for line in log[-_LOG_LINES:])
    return f"The container of '{image}' ended before its server was ready:\n{end}"


def _prepare(image: str | None = None) -> None:
    """Connect to the Docker engine, and pull an image if it is missing.

    Raise `OSError` or `docker.errors.DockerException` if this fails.
    """
    from docker.errors import ImageNotFound
    from testcontainers.core.docker_client import DockerClient, get_docker_host

    kind, _, path = (get_docker_host() or _SOCKET).partition("://")
    if kind == "unix":
        Path(path).stat()  # the client does not close a failed connection
    with closing(DockerClient(timeout=_ENGINE_SECONDS).client) as client:
        if image is None:
            return
        try:
            client.images.get(image)
        except ImageNotFound:
            client.images.pull(image)


@cache
def _settle_reaper() -> None:
    """Disable the reaper of testcontainers if its image is not available.

    The reaper is a container that removes the other containers if this process is killed. Tests
    also work without a reaper.
    """
    from docker.errors import DockerException
    from testcontainers.core.config import testcontainers_config as config

    try:
        _prepare(config.ryuk_image)
    except DockerException:
        config.ryuk_disabled = True
