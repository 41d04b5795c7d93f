"""Neo4j's namespaces: labels of nodes, with a node as the tag of each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from neo4j.exceptions import DriverError, Neo4jError

from dqa.core.cypher import quote_name
from dqa.core.errors import UsageError
from dqa.core.situation import Situation
from dqa.databases.namespaces import (
    ForeignContent,
    LoadedSituation,
    NamespaceContent,
    Namespaces,
)
from dqa.databases.neo4j.server import Address, Server
from dqa.databases.neo4j.session import GraphNamespace, Neo4jSession
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
        self.is_handed_over = False
        self._server = server
        self._tags: dict[str, dict[str, Any]] = {}

    @classmethod
    @contextmanager
    def connect(cls, location: str) -> Iterator[Self]:
        """Give the labels of a database; the driver's errors come out as this project's."""
        server = Server(Address.parse(location))
        is_handed_over = False
        try:
            namespaces = cls(server)
            yield namespaces
            is_handed_over = namespaces.is_handed_over
        except (Neo4jError, DriverError, OSError) as error:
            raise server.failure(error) from error
        finally:
            if not is_handed_over:
                server.close()

    def names(self) -> Iterable[str]:
        """Return the labels of loaded situations."""
        return [situation.namespace for situation in self.situations()]

    def situations(self) -> Iterator[LoadedSituation]:
        """Yield what the tags say, which are read at once."""
        tags = self._server.rows(
            f"MATCH (t:{TAG}) WHERE t.state = 'loaded' RETURN properties(t) AS tag ORDER BY t.place"
        )
        return (_loaded(row["tag"]) for row in tags)

    def read(self, namespace: str) -> NamespaceContent:
        """Return what a label has; a load that was never finished is none: it is written anew."""
        tag = self._tags[namespace] = self._tag(namespace)
        if tag["state"] == "loaded":
            return _loaded(tag)
        # A label that was once there is known for ever.
        if tag["state"] == "known" and self._server.rows(
            f"MATCH (n:{quote_name(namespace)}) RETURN 1 LIMIT 1"
        ):
            return ForeignContent("nodes that are not of this project")
        return None

    def create(self, situation: Situation, tag: LoadedSituation) -> None:
        """Write the nodes, and the tag last."""
        prepared = prepare(situation, tag.namespace)
        self._tags.pop(tag.namespace, None)
        write(prepared, self._server.driver, self._server.address.database)

    def replace(self, situation: Situation, tag: LoadedSituation) -> None:
        """Drop what is there only when the situation is known to be a graph."""
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
        opened = None
        if namespace is None:
            self._server.rows("RETURN 1")
        else:
            tag = self._tags.get(namespace) or self._tag(namespace)
            opened = GraphNamespace(tag["place"], json.loads(tag["schema"]))
        self.is_handed_over = True
        return Neo4jSession(self._server, opened)

    def _tag(self, namespace: str) -> dict[str, Any]:
        """Return what a label's tag says; a state alone where there is no tag."""
        found = self._server.rows(
            "CALL db.labels() YIELD label WITH collect(label) AS labels "
            f"OPTIONAL MATCH (t:{TAG} {{place: $namespace}}) "
            "RETURN coalesce(properties(t), {state: CASE WHEN $namespace IN labels "
            "THEN 'known' ELSE 'free' END}) AS tag",
            namespace=namespace,
        )
        tag: dict[str, Any] = found[0]["tag"]
        return tag


def _loaded(tag: dict[str, Any]) -> LoadedSituation:
    return LoadedSituation(
        tag["place"], tag["scenario"], tag["name"], tag["content_hash"], tag["rows"]
    )
