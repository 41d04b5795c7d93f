"""The compose file, read without a Docker engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

DOCKER = Path(__file__).parents[2] / "docker"
SERVICES = ("mysql", "postgres", "neo4j")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Parsed compose file; YAML comes with langchain-core."""
    yaml = pytest.importorskip("yaml")
    return dict(yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8")))


def test_services_are_those_that_containers_are_made_of(compose: dict[str, Any]) -> None:
    """The images that `dqa.testing.containers` runs, by the same variables, and nothing else."""
    images = {name: service["image"] for name, service in compose["services"].items()}
    assert images == {
        "mysql": "${DQA_MYSQL_IMAGE:-mysql:8.4}",
        "postgres": "${DQA_POSTGRES_IMAGE:-postgres:17}",
        "neo4j": "${DQA_NEO4J_IMAGE:-neo4j:5-community}",
    }


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_on_loopback_only(compose: dict[str, Any], name: str) -> None:
    """No port is reachable from another machine."""
    ports = compose["services"][name]["ports"]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.mark.parametrize("name", SERVICES)
def test_health_is_a_query_without_a_password_in_its_arguments(
    compose: dict[str, Any], name: str
) -> None:
    """Health is a query that logs in with a password from the container's environment."""
    check = compose["services"][name]["healthcheck"]["test"]
    assert "SELECT 1" in check or "RETURN 1" in check
    assert "--password" not in check
    assert "sample" not in check


@pytest.mark.parametrize("name", SERVICES)
def test_services_are_limited(compose: dict[str, Any], name: str) -> None:
    """Memory, processors and processes have limits."""
    assert {"mem_limit", "cpus", "pids_limit"} <= compose["services"][name].keys()


def test_every_variable_has_a_default_and_is_documented(compose: dict[str, Any]) -> None:
    """The file works without any variable set, and the README names them all."""
    readme = (DOCKER / "README.md").read_text(encoding="utf-8")
    variables = {part.split("}")[0] for part in str(compose).split("${")[1:] if part[0] == "D"}
    assert variables
    for variable in variables:
        name, separator, default = variable.partition(":-")
        assert separator, name
        assert default, name
        assert f"`{name}`" in readme
