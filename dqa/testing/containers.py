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
from dqa.core.errors import DatabaseUnavailableError, DqaError, MissingKeyError, UnknownNameError

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
"""The kinds of servers that containers can run. Each kind is also the name of a backend."""


def why_no_container() -> str | None:
    """Return the reason why containers cannot run, with a fix; None if they can."""
    if find_spec("testcontainers") is None:
        return f"The package 'testcontainers' is not installed: {install_command('testing')}."
    from docker.errors import DockerException
    from testcontainers.core.docker_client import DockerClient, get_docker_host

    try:
        kind, _, path = (get_docker_host() or _SOCKET).partition("://")
        if kind == "unix":
            Path(path).stat()  # the client does not close a failed connection
        DockerClient().client.close()
    except (OSError, DockerException) as error:
        return f"No Docker engine answers ({error}). Start Docker, or set DOCKER_HOST."
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
        set, the official image is used.

    Yields
    ------
    str
        The URL of the ready server. The user in the URL is an administrator.

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
    why = why_no_container()
    if why is not None:
        raise DatabaseUnavailableError(why)
    from docker.errors import DockerException
    from testcontainers.core.container import DockerContainer

    _settle_reaper()
    server, password, variable = _SERVERS[name], secrets.token_hex(12), f"DQA_{name.upper()}_IMAGE"
    chosen = image or os.environ.get(variable) or server.image
    container = DockerContainer(chosen, docker_client_kw={"timeout": _ENGINE_SECONDS})
    settings = server.environment.format(password=password).split()
    container.with_exposed_ports(server.port)
    container.with_envs(**dict(one.split("=", 1) for one in settings))
    try:
        try:
            container.start()  # pulls a missing image
            port = container.get_exposed_port(server.port)
        except (ConnectionError, TimeoutError) as error:  # a container without a port has ended
            raise DatabaseUnavailableError(_end_of(container, chosen) or str(error)) from error
        except (DockerException, OSError) as error:
            raise DatabaseUnavailableError(
                f"No container of the image '{chosen}' can start: {error}. Pull or build the "
                f"image, or set the variable {variable} to another image."
            ) from error
        where = f"{container.get_container_host_ip()}:{port}"
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


@cache
def _settle_reaper() -> None:
    """Disable the reaper of testcontainers if its image is not available.

    The reaper is a container that removes the other containers if this process is killed. Tests
    also work without a reaper.
    """
    from docker.errors import DockerException, ImageNotFound
    from testcontainers.core.config import testcontainers_config as config
    from testcontainers.core.docker_client import DockerClient

    with closing(DockerClient(timeout=_ENGINE_SECONDS).client) as client:
        try:
            client.images.get(config.ryuk_image)
        except ImageNotFound:
            try:
                client.images.pull(config.ryuk_image)
            except DockerException:
                config.ryuk_disabled = True
