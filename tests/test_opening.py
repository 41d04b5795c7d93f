"""`open_database`: any database by its location alone, under a policy and an audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dqa import open_database
from dqa.core.database import Limits
from dqa.core.errors import RefusedStatementError, UsageError
from tests.databases.conftest import BACKENDS, small_situation


@pytest.fixture(params=sorted(BACKENDS))
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a file of each embedded backend in turn."""
    file = tmp_path / f"world.{request.param}"
    BACKENDS[request.param].load(small_situation(), str(file)).close()
    return str(file)


def test_a_location_is_enough(location: str) -> None:
    """The backend is found by what is there."""
    database = open_database(Path(location))
    statement = "SELECT 1" if database.kind == "relational" else "RETURN 1"
    assert database.query(statement).rows == ((1,),)
    database.close()


def test_limits_policy_and_audit_hold_for_every_statement(location: str, tmp_path: Path) -> None:
    """Policy and audit may be files, as commands take them."""
    policy, audit = tmp_path / "policy.json", tmp_path / "audit.jsonl"
    policy.write_text('{"tables": ["flow"], "labels": ["Country"]}', "utf-8")
    database = open_database(location, limits=Limits(rows=1), policy=policy, audit=audit)
    is_graph = database.kind == "graph"
    allowed = "MATCH (c:Country) RETURN c.name" if is_graph else "SELECT source FROM flow"
    refused = "MATCH (t:Trade_node) RETURN t" if is_graph else "SELECT * FROM country"
    assert database.query(allowed).cut == "rows"
    with pytest.raises(RefusedStatementError):
        database.query(refused)
    database.close()
    entries = [json.loads(line) for line in audit.read_text("utf-8").splitlines()]
    assert [(entry["statement"], entry["allowed"]) for entry in entries] == [
        (allowed, True),
        (refused, False),
    ]


def test_what_cannot_be_opened_is_named(tmp_path: Path) -> None:
    """A location nobody knows, and files that are not there."""
    with pytest.raises(UsageError, match="does not exist, and its name does not say"):
        open_database("nonsense")
    with pytest.raises(UsageError, match="There is no database file"):
        open_database(tmp_path / "missing.db")
    with pytest.raises(UsageError, match=r"missing\.json"):
        open_database(tmp_path / "missing.db", policy=tmp_path / "missing.json")
