"""Database servers in throw-away containers, for tests.

Any image will do that understands the environment variables of the official ones. A server counts
as ready when `dqa` itself can examine it over the network: logs, and restarts during
initialisation, differ from image to image.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
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
_ENGINE_SECONDS = 30
_SOCKET = "unix:///var/run/docker.sock"
_PULL_SECONDS = 600
_PAUSE_SECONDS = 0.25
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


def why_no_container(name: str | None = None, image: str | None = None) -> str | None:
    """Return why no container can run, with the fix; None if one can.

    Parameters
    ----------
    name
        One of `SERVERS`: its image is looked for, too, and pulled if need be.
    image
        The image; else as `run_container`.
    """
    if find_spec("testcontainers") is None:
        return f"The package 'testcontainers' is not installed: {install_command('testing')}."
    from docker.errors import DockerException
    from testcontainers.core.docker_client import DockerClient, get_docker_host

    try:
        _knock(get_docker_host() or _SOCKET)
        DockerClient(timeout=_ENGINE_SECONDS).client.close()
    except (OSError, DockerException) as error:
        return (
            f"No Docker engine answers ({error}). Start one, or name where it is in the variable "
            "DOCKER_HOST."
        )
    if name is None or (why := _why_no_image(_image(name, image))) is None:
        return None
    return (
        f"The image '{_image(name, image)}' is not there and cannot be pulled ({why}). Build it, "
        f"or name another in the variable {_SERVERS[name].variable}."
    )


@contextmanager
def run_container(name: str, image: str | None = None) -> Iterator[str]:
    """Run a server in a container until the block ends, and discard its data.

    Parameters
    ----------
    name
        One of `SERVERS`.
    image
        The image; by default that of ``DQA_MYSQL_IMAGE``, ``DQA_POSTGRES_IMAGE`` or
        ``DQA_NEO4J_IMAGE``, else the official one.

    Yields
    ------
    str
        The URL of the server, which is ready; the user in it may do everything there.

    Raises
    ------
    UnknownNameError
        There is no such kind of server.
    MissingKeyError
        The server's driver is not installed.
    DatabaseUnavailableError
        No engine answers, the package testcontainers or the image is missing, or the server ends or
        is not ready in two minutes; the message has the end of its log.
    """
    if name not in _SERVERS:
        raise UnknownNameError("kind of container", name, _SERVERS)
    why = why_no_container(name, image)
    if why is not None:
        raise DatabaseUnavailableError(why)
    server, chosen, password = _SERVERS[name], _image(name, image), secrets.token_hex(12)
    container = _container(server, chosen, password)
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
        Returns why waiting is useless; None while it is not.

    Raises
    ------
    MissingKeyError
        The driver is not installed.
    DatabaseUnavailableError
        The server was not ready in time, or ended.
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


def _image(name: str, image: str | None) -> str:
    return image or os.environ.get(_SERVERS[name].variable) or _SERVERS[name].image


def _container(server: _Server, image: str, password: str) -> DockerContainer:
    from testcontainers.core.container import DockerContainer

    _settle_reaper()
    settings = {key: text.format(password=password) for key, text in server.environment.items()}
    return DockerContainer(image).with_envs(**settings).with_exposed_ports(server.port)


def _start(container: DockerContainer, server: _Server, image: str) -> str:
    """Start a container and return the host and the port of its server."""
    from docker.errors import DockerException

    try:
        container.start()
        return f"{container.get_container_host_ip()}:{container.get_exposed_port(server.port)}"
    except DockerException as error:
        raise DatabaseUnavailableError(
            f"The engine cannot start a container of the image '{image}': {error}"
        ) from error
    except (ConnectionError, TimeoutError) as error:  # it has no port: it does not run
        why = _end_of(container, image) or f"The container of '{image}' does not start: {error}"
        raise DatabaseUnavailableError(why) from error


def _end_of(container: DockerContainer, image: str) -> str | None:
    """Return the end of the log of a container that has ended; None while it runs."""
    container.reload()
    if container.status in {"created", "running"}:
        return None
    log = b"".join(container.get_logs()).decode("utf-8", "replace").splitlines()
    end = "\n".join(f"  {line}" for line in log[-_LOG_LINES:])
    return f"The container of '{image}' ended before its server was ready:\n{end}"


def _knock(host: str) -> None:
    """Connect to an engine's local socket once; `OSError` without an answer.

    The engine's client leaves its own attempt open, which fails tests that forbid warnings.
    """
    kind, _, path = host.partition("://")
    if kind == "unix":
        with socket.socket(socket.AF_UNIX) as attempt:
            attempt.settimeout(_ENGINE_SECONDS)
            attempt.connect(path)


def _why_no_image(image: str) -> str | None:
    """Pull a missing image; return why that failed."""
    from docker.errors import DockerException, ImageNotFound
    from testcontainers.core.docker_client import DockerClient

    client = DockerClient(timeout=_PULL_SECONDS).client
    try:
        with suppress(ImageNotFound):
            client.images.get(image)
            return None
        client.images.pull(image)
    except DockerException as error:
        return str(error)
    finally:
        client.close()
    return None


@cache
def _settle_reaper() -> None:
    """Turn testcontainers' reaper off if its image is not available.

    The reaper is a container that removes the others when this process is killed. Tests must not
    fail without it.
    """
    from testcontainers.core.config import testcontainers_config as config

    if not config.ryuk_disabled and _why_no_image(config.ryuk_image) is not None:
        config.ryuk_disabled = True
