"""Memories of LDM2 in real servers: the same as in a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest
from sqlalchemy import text

import dqa
from dqa.core.errors import DatabaseUnavailableError, RefusedStatementError, UsageError
from dqa.core.run_stores import MEMORY_LABELS
from dqa.databases.neo4j.server import Address, Server
from dqa.databases.servers import DRIVERS, parse_url
from dqa.databases.store_locations import StoreLocation, open_store, write
from dqa.guard import Policy
from dqa_ldm2 import open_memory
from dqa_ldm2.memory.tables import METADATA
from tests.ldm2.memory_contract import FORMED, MemoryContract, placed, state


def kept(location: str) -> StoreLocation:
    """Return a server's database, for what the tests themselves write."""
    url = parse_url(location)
    if "+" not in url.drivername:
        url = url.set(drivername=DRIVERS[url.drivername])
    return StoreLocation(url.render_as_string(hide_password=False), None, "memory", "")


@pytest.mark.parametrize("server", ["mysql", "postgres"])
class TestRelationalServers(MemoryContract):
    """PostgreSQL, and MariaDB or MySQL."""

    @pytest.fixture
    def location(self, server: str, request: pytest.FixtureRequest) -> Iterator[str]:
        """Return the URL of a database, from which the memory is dropped at the end."""
        url: str = request.getfixturevalue(f"{server}_url")
        yield url
        engine = open_store(kept(url), writing=True)
        with write(engine) as connection:
            METADATA.drop_all(connection)
        engine.dispose()

    def test_a_password_is_not_shown(self, location: str) -> None:
        """Nor is a database with other tables made a memory."""
        password = str(parse_url(location).password)
        with open_memory(location, create=True) as memory:
            assert password not in memory.location
            memory.add([placed("a")], FORMED)
            recall = memory.recall(1, "put", "see", state("a"), 1)
            assert password not in f"{recall} {memory!r}"
        wrong = location.replace(password, "wrong-word")
        with pytest.raises((DatabaseUnavailableError, UsageError)) as caught:
            open_memory(wrong)
        assert "wrong-word" not in str(caught.value)

    def test_a_database_with_tables_of_its_own_is_refused(self, location: str) -> None:
        """It may be the one that is asked."""
        engine = open_store(kept(location), writing=True)
        with write(engine) as connection:
            connection.execute(text("CREATE TABLE orders_of_a_shop (id INTEGER)"))
        try:
            with pytest.raises(UsageError, match="tables of its own"):
                open_memory(location, create=True)
        finally:
            with write(engine) as connection:
                connection.execute(text("DROP TABLE orders_of_a_shop"))
            engine.dispose()


class TestNeo4j(MemoryContract):
    """Neo4j."""

    @pytest.fixture
    def location(self, neo4j_url: str) -> Iterator[str]:
        """Return a memory of its own in the server."""
        name = f"test-{uuid4().hex[:8]}"
        yield f"{neo4j_url}?namespace={name}"
        server = Server(Address.parse(neo4j_url))
        with server.writing() as session:
            session.run(
                "MATCH (n) WHERE n.memory = $name OR (n:dqa_memory AND n.name = $name) "
                "DETACH DELETE n",
                {"name": name},
            ).consume()
        server.close()

    def test_a_memory_is_a_graph(self, location: str, neo4j_url: str) -> None:
        """Batches have goal types, these observation types, and these hold tuples."""
        with open_memory(location, create=True) as memory:
            memory.add([placed("a"), placed("b", kinds=("put", "other"))], FORMED)
        server = Server(Address.parse(neo4j_url))
        rows = server.rows(
            "MATCH (b:MemoryBatch {memory: $name})-[:HAS]->(g:GoalType)-[:HAS]->"
            "(o:ObservationType)-[:HOLDS]->(t:StateAction) "
            "RETURN b.number AS batch, g.name AS goal, o.name AS seen, t.observation AS text "
            "ORDER BY text",
            name=location.rpartition("=")[2],
        )
        server.close()
        assert [tuple(row.values()) for row in rows] == [
            (1, "put", "see", "a"),
            (1, "put", "other", "b"),
        ]

    def test_agents_of_the_same_database_are_not_shown_it(
        self, location: str, neo4j_url: str
    ) -> None:
        """Neither by its labels, nor where a node has none; a policy may name them."""
        with open_memory(location, create=True) as memory:
            memory.add([placed("a")], FORMED)
        own = f"Customer{uuid4().hex[:8]}"
        server = Server(Address.parse(neo4j_url))
        with server.writing() as session:
            session.run(f"CREATE (:{own} {{name: 'Ada'}})").consume()
        try:
            with closing(dqa.open_database(neo4j_url)) as database:
                shown = {node.label for node in database.schema().nodes}
                assert own in shown
                assert not shown & MEMORY_LABELS
                assert database.query(f"MATCH (c:{own}) RETURN c.name").rows == (("Ada",),)
                with server.writing() as session:  # behind the back of who opened it
                    session.run(f"CREATE (:{own}Later {{name: 'Eva'}})").consume()
                later = database.query(f"MATCH (c:{own}Later) RETURN c.name")
                assert later.rows == (("Eva",),)
                for statement in (
                    "MATCH (t:StateAction) RETURN t.action",
                    f"MATCH (c:{own}) RETURN EXISTS {{ (:StateAction) }}",
                    "CALL db.labels() YIELD label RETURN label",
                ):
                    with pytest.raises(RefusedStatementError):
                        database.query(statement)
                seen = database.query("MATCH (n) WHERE n.action IS NOT NULL RETURN n.action")
                assert seen.rows == ()
            named = Policy(labels=frozenset({"StateAction"}))
            with closing(dqa.open_database(neo4j_url, policy=named)) as database:
                assert database.query("MATCH (t:StateAction) RETURN t.action LIMIT 1").rows
        finally:
            with server.writing() as session:
                session.run(f"MATCH (n:{own}|{own}Later) DELETE n").consume()
            server.close()

    def test_another_name_or_version_is_refused(self, location: str, neo4j_url: str) -> None:
        """By name, as of a file; the password is not shown."""
        with pytest.raises(UsageError, match="holds no memory") as caught:
            open_memory(location)
        assert neo4j_url.split(":")[2].split("@", maxsplit=1)[0] not in str(caught.value)
        with pytest.raises(UsageError, match="names no memory"):
            open_memory(f"{location}'x", create=True)
        open_memory(location, create=True).close()
        server = Server(Address.parse(neo4j_url))
        with server.writing() as session:
            session.run(
                "MATCH (m:dqa_memory {name: $name}) SET m.schema_version = 7, m.written_by = '9.9'",
                {"name": location.rpartition("=")[2]},
            ).consume()
        server.close()
        with pytest.raises(UsageError, match=r"version 7, written by dqa 9\.9"):
            open_memory(location)
