"""The same scenario folder on real servers: the decisions of the embedded databases, in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from neo4j import GraphDatabase
from sqlalchemy import create_engine, make_url, text

from tests.scenarios.live_plants import (
    DAYS,
    GRAPH_SUM,
    LIVE,
    SUMMED,
    agents_decide_alike,
    cypher,
    folder_for,
    scores_are_those_of_the_database,
    statements,
)


@pytest.fixture
def name() -> str:
    """Return a name that no other test has."""
    return f"live_{uuid4().hex[:12]}"


@pytest.fixture
def on_postgres(postgres_url: str, name: str) -> Iterator[str]:
    """Make the warehouse in a schema of its own."""
    engine = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
        connection.execute(text(f"SET LOCAL search_path TO {name}"))
        for statement in statements("postgres"):
            connection.exec_driver_sql(statement)
    yield f"{postgres_url}{'&' if '?' in postgres_url else '?'}schema={name}"
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA {name} CASCADE"))
    engine.dispose()


@pytest.fixture
def on_mariadb(mysql_url: str, name: str) -> Iterator[str]:
    """Make the warehouse in a database of its own."""
    url = make_url(mysql_url).set(drivername="mysql+pymysql")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
        connection.execute(text(f"USE {name}"))
        for statement in statements("mariadb"):
            connection.exec_driver_sql(statement)
    yield url.set(database=name).render_as_string(hide_password=False)
    with engine.begin() as connection:
        connection.execute(text(f"DROP DATABASE {name}"))
    engine.dispose()


@pytest.mark.parametrize("server", ["on_postgres", "on_mariadb"])
def test_tables_on_a_server_are_decided_on(
    server: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Candidates, outcomes and agents are statements in its own language."""
    location: str = request.getfixturevalue(server)
    folder = LIVE if server == "on_postgres" else folder_for(tmp_path, '"', "`", "*.sql")
    assert scores_are_those_of_the_database(location, folder).counts.right == 1
    assert agents_decide_alike(location, folder, SUMMED).choice == DAYS[0]


def test_a_graph_on_a_server_is_decided_on(neo4j_url: str, name: str, tmp_path: Path) -> None:
    """The graph twin, under a label of its own."""
    label = name.replace("live_", "Live")
    url = make_url(neo4j_url)
    server = f"{url.drivername}://{url.host}:{url.port}"
    with GraphDatabase.driver(server, auth=(url.username or "", url.password or "")) as driver:
        for statement in cypher(label, typed=False):
            driver.execute_query(statement)
        try:
            folder = folder_for(tmp_path, "LivePlant", label)
            assert scores_are_those_of_the_database(neo4j_url, folder).counts.right == 1
            statement = GRAPH_SUM.replace("LivePlant", label)
            assert agents_decide_alike(neo4j_url, folder, statement).choice == DAYS[0]
        finally:
            driver.execute_query(f"MATCH (n:{label}) DELETE n")
