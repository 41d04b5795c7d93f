"""The compose file, read without a Docker engine."""

from __future__ import annotations

from pathlib import Path

import yaml

DOCKER = Path(__file__).parents[2] / "docker"


def test_services_are_local_limited_and_documented() -> None:
    """Each has the image of the test containers, a port on loopback only, limits, and a health
    check. The check logs in with the password of the container's environment. Every variable has a
    default and is in the README.
    """
    compose = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    assert {name: service["image"] for name, service in compose["services"].items()} == {
        "mysql": "${DQA_MYSQL_IMAGE:-mysql:8.4}",
        "postgres": "${DQA_POSTGRES_IMAGE:-postgres:17}",
        "neo4j": "${DQA_NEO4J_IMAGE:-neo4j:5-community}",
    }
    for service in compose["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert {"mem_limit", "cpus", "pids_limit"} <= service.keys()
        check = str(service["healthcheck"]["test"])
        assert "SELECT 1" in check or "RETURN 1" in check
        assert "--password" not in check
        assert "sample" not in check
    readme = (DOCKER / "README.md").read_text(encoding="utf-8")
    variables = [part.split("}")[0] for part in str(compose).split("${")[1:] if part[0] == "D"]
    for variable in variables:
        name, _, default = variable.partition(":-")
        assert default, name
        assert f"`{name}`" in readme
