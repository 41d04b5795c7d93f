"""Servers in containers: the reasons why they cannot run, and their removal."""

from __future__ import annotations

from typing import Any

import pytest

from dqa import plugins
from dqa.core.errors import DatabaseUnavailableError, UnknownNameError
from dqa.testing import containers
from dqa.testing.containers import run_container, wait_until_ready, why_no_container


@pytest.fixture
def engine() -> Any:
    """Return the client of a Docker engine."""
    why = why_no_container()
    if why is not None:
        pytest.skip(why)
    from testcontainers.core.docker_client import DockerClient

    client = DockerClient().client
    yield client
    client.close()


def test_why_a_container_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason contains the fix; starting a container raises it."""
    with pytest.raises(UnknownNameError, match="There are: mysql, neo4j, postgres"):
        run_container("oracle").__enter__()
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    why = why_no_container()
    assert why is not None
    assert "DOCKER_HOST" in why
    with pytest.raises(DatabaseUnavailableError, match="No Docker engine answers"):
        run_container("mysql").__enter__()
    monkeypatch.setattr(containers, "find_spec", lambda name: None)
    with pytest.raises(DatabaseUnavailableError, match=r'\[testing\]"'):
        run_container("mysql").__enter__()


def test_a_server_that_never_answers_is_not_waited_for_forever() -> None:
    """The message contains the time and the last error."""
    url = "postgresql+psycopg://dqa:secret@127.0.0.1:1/dqa"
    with pytest.raises(
        DatabaseUnavailableError, match=r"postgres .* not ready within 0 s"
    ) as caught:
        wait_until_ready("postgres", url, seconds=0.0)
    assert "secret" not in str(caught.value)


@pytest.mark.integration
@pytest.mark.slow
def test_nothing_of_a_container_stays(engine: Any) -> None:
    """The container and its volume are removed, and the URL does not answer."""
    why = why_no_container()
    if why is not None:
        pytest.skip(why)
    volumes = {volume.id for volume in engine.volumes.list()}
    with run_container("mysql") as url:
        port = url.partition("@")[2].partition(":")[2].partition("/")[0]
        running = [each for each in engine.containers.list() if port in str(each.ports)]
        assert len(running) == 1
        mounted = {mount["Name"] for mount in running[0].attrs["Mounts"]}
        plugins.backend("mysql").examine(url)
    assert running[0].id not in {each.id for each in engine.containers.list(all=True)}
    assert mounted - volumes
    assert not mounted & {volume.id for volume in engine.volumes.list()}
    with pytest.raises(DatabaseUnavailableError):
        plugins.backend("mysql").examine(url)
