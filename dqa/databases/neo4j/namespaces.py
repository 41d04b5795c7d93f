"""Neo4j's namespaces: labels of nodes, with a node as the tag of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from dqa.core.cypher import quote_name
from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.namespaces import (
    ForeignContent,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
)
from dqa.databases.neo4j.server import FAILURES, Address, Server
from dqa.databases.neo4j.session import Neo4jSession
from dqa.databases.neo4j.writer import TAG, drop, prepare, write


class Neo4jNamespaces(Namespaces):
    """The loaded situations of a database.

    Parameters
    ----------
    server
        The open server.
    """

    def __init__(self, server: Server) -> None:
        self.location = server.address.name
        self._server = server
        self._has_session = False

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Connect to a database; errors of the driver become errors of this project."""
        namespaces = cls(Server(Address.parse(location)))
        try:
            yield namespaces
        except FAILURES as error:
            raise namespaces._server.failure(error) from error
        finally:
            if not namespaces._has_session:
                namespaces._server.close()

    def names(self) -> Iterable[str]:
        """Return the labels of loaded situations."""
        return [situation.namespace for situation in self.situations()]

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield the situations that tags describe."""
        tags = self._server.rows(
            f"MATCH (t:{TAG}) WHERE t.state = 'loaded' RETURN properties(t) AS tag ORDER BY t.place"
        )
        return (_loaded(row["tag"]) for row in tags)

    def read(self, namespace: str) -> NamespaceContent:
        """Return the content of a label; an unfinished load is None, as it is written anew."""
        (found,) = self._server.rows(
            "CALL db.labels() YIELD label WITH collect(label) AS labels "
            f"OPTIONAL MATCH (t:{TAG} {{place: $namespace}}) "
            "RETURN properties(t) AS tag, $namespace IN labels AS is_known",
            namespace=namespace,
        )
        if found["tag"] is not None:
            return _loaded(found["tag"]) if found["tag"]["state"] == "loaded" else None
        # A label stays known when its last node is deleted.
        nodes = f"MATCH (n:{quote_name(namespace)}) RETURN 1 LIMIT 1"
        if found["is_known"] and self._server.rows(nodes):
            return ForeignContent("nodes that are not of this project")
        return None

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write the nodes, and the tag last."""
        prepared = prepare(situation, tag.namespace)
        write(prepared, self._server.driver, self._server.address.database)

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Drop the content only if the situation can be written as a graph."""
        prepare(situation, tag.namespace)
        super().replace(situation, tag)

    def drop(self, namespace: str) -> None:
        """Drop a label's nodes, its tag, constraints and indexes."""
        drop(namespace, self._server.driver, self._server.address.database)

    def select(self) -> str | None:
        """Return the label of ``?namespace=``, which must be loaded."""
        name = self._server.address.namespace
        if name is not None and not isinstance(self.read(name), LoadedSituation):
            raise UsageError(f"'{name}' in {self.location} holds no situation; load it first.")
        return name

    def open(self, namespace: str | None) -> Neo4jSession:
        """Return a situation, or the whole database; the server belongs to it from now on."""
        if namespace is None:
            (found,) = self._server.rows("CALL db.info() YIELD name RETURN name")
            session = Neo4jSession(self._server)
            session.search_path = (found["name"],)
        else:
            tag = f"MATCH (t:{TAG} {{place: $namespace}}) RETURN properties(t) AS tag"
            (found,) = self._server.rows(tag, namespace=namespace)
            session = Neo4jSession(self._server, found["tag"])
        self._has_session = True
        return session


def _loaded(tag: dict[str, Any]) -> LoadedSituation:
    return LoadedSituation(
        tag["place"], tag["scenario"], tag["name"], tag["content_hash"], tag["rows"]
    )
